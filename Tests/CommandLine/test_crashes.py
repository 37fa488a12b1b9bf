"""A host that is killed at each write to its store while a run with tools is under way (T38)."""

import http.client
import json
import random
import sqlite3
import subprocess
from pathlib import Path

import pytest
from program import until
from test_agent import call, decide, script

PATCH = "*** Begin Patch\n*** Update File: log.txt\n@@\n begin\n+once\n*** End Patch"
ENOUGH = 400


@pytest.fixture(scope="module")
def killer(tmp_path_factory):
    """A library that is loaded in front of the C library and kills at a chosen write."""
    library = tmp_path_factory.mktemp("killer") / "killer.so"
    subprocess.run(
        ["clang", "-shared", "-fPIC", "-O1", "-o", library, Path(__file__).with_name("killed_at_write.c"), "-ldl"],
        check=True)
    return library


def run(host, session, text="Do it.", profile="agent"):
    """Drives a run to its end, or to the host's; answers what was seen and whether the host lived."""
    seen = []
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=60)
    try:
        connection.request(
            "POST", "/api/chat",
            json.dumps({
                "sessionId": session, "messages": [{"role": "user", "content": text}], "profile": profile}),
            {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200
        for line in answer:
            if not line.startswith(b"data: "):
                continue
            seen.append(json.loads(line[6:]))
            if "approval" in seen[-1] and "outcome" not in seen[-1]["approval"]:
                decide(host, seen[-1]["approval"], "allowed")
            if "done" in seen[-1]:
                return seen, True
    except (OSError, http.client.HTTPException, ValueError):
        pass
    return seen, False


def test_a_kill_at_any_write_repeats_nothing_and_loses_no_evidence(serve, killer, tmp_path, root):
    armed = tmp_path / "armed"
    step, kills = 1, 0
    while step < ENOUGH:
        armed.unlink(missing_ok=True)
        host = serve(
            "--port", 0, "--script",
            script(tmp_path, [call("apply_patch", patch=PATCH)], [call("read_file", path="log.txt")], [{"text": "Done."}]),
            env={"LD_PRELOAD": str(killer), "CRASH_WRITE": str(step), "CRASH_ARMED": str(armed)}).wait()
        host.wait_for_model()
        session = host.session()
        folder = root / "workspaces" / session["conversationId"]
        folder.mkdir(parents=True, exist_ok=True)  # an empty chat is offered again
        (folder / "log.txt").write_text("begin\n")
        armed.touch()
        seen, lived = run(host, session["sessionId"])
        armed.unlink()
        host.stop(9)

        again = serve("--port", 0, "--no-model").wait()
        status, chat = again.json(f"/api/agent/conversations/{session['conversationId']}")
        runs = again.json(f"/api/agent/runs?conversation={session['conversationId']}")[1]["runs"]
        lines = (folder / "log.txt").read_text().splitlines()
        what = f"killed at write {step}: {seen}"

        assert lines in (["begin"], ["begin", "once"]), what
        if seen:
            # What was shown was accepted, and what was accepted is kept.
            assert status == 200 and chat["messages"][0]["content"] == "Do it.", what
            assert len(runs) == 1, what
        if runs:
            assert runs[0]["state"] == ("completed" if lived else runs[0]["state"]), what
            assert runs[0]["state"] in ("interrupted", "completed"), what
            frames = events(again, runs[0]["id"])
            done = [receipt["tool"] for receipt in runs[0]["receipts"]]
            assert len(done) == len(set(done)), what
            if "apply_patch" in done:
                assert lines[-1] == "once", what
            if lines[-1] == "once":
                # The change is there: so is the word that it was being made.
                assert any(f.get("tool_progress") == "running" and f["tool"] == "apply_patch" for f in frames), what
            if runs[0]["state"] == "completed":
                assert done == ["apply_patch", "read_file"], what
                assert [m["role"] for m in chat["messages"]] == ["user", "assistant"], what
        else:
            assert lines == ["begin"], what
        again.stop()
        if lived:
            break
        kills += 1
        step += 1 if step < 30 else 3
    assert lived, "the run makes more writes than were tried"
    assert kills >= 10, "hardly anything was killed: does the library count the writes?"


PLAN = "add task Buy milk, then remember that the key is under the mat, then complete task Buy milk"
STEPS = ["tasks_add", "memories_save", "tasks_complete"]


def kept(host, run, what):
    """What of the plan is there, which must be what the receipts say and nothing more."""
    receipts = {receipt["tool"]: receipt["id"] for receipt in run["receipts"]} if run else {}
    tasks = host.json("/api/agent/kept?kind=task")[1]["items"]
    memories = host.json("/api/agent/kept?kind=memory")[1]["items"]
    facts = host.json("/api/agent/kept?kind=knowledge")[1]["items"]
    assert [task["title"] for task in tasks] == ["Buy milk"] * ("tasks_add" in receipts), what
    assert [memory["text"] for memory in memories] == ["the key is under the mat"] * ("memories_save" in receipts), what
    assert [fact["text"] for fact in facts] == [memory["text"] for memory in memories], what
    for item, tool in [*((task, "tasks_add") for task in tasks), *((memory, "memories_save") for memory in memories)]:
        assert (item["provenance"]["run"], item["provenance"]["receipt"]) == (run["id"], receipts[tool]), what
    assert [task["state"] for task in tasks] == (["done" if "tasks_complete" in receipts else "open"] if tasks else []), what
    return json.dumps([tasks, memories, facts])


def test_a_kill_at_any_write_of_a_plan_repeats_and_loses_no_effect(serve, killer, tmp_path):
    """T38 for explicit commands: three steps, each asks, each is one transaction with its receipt."""
    armed = tmp_path / "armed"
    step, lived, halves = 1, False, set()
    while not lived and step < ENOUGH:
        folder = tmp_path / f"root{step}"
        host = serve(
            "--port", 0, "--no-model", folder=folder,
            env={"LD_PRELOAD": str(killer), "CRASH_WRITE": str(step), "CRASH_ARMED": str(armed)}).wait()
        session = host.session()
        armed.touch()
        seen, lived = run(host, session["sessionId"], PLAN, "assistant")
        armed.unlink()
        host.stop(9)

        again = serve("--port", 0, "--no-model", folder=folder).wait()
        runs = again.json(f"/api/agent/runs?conversation={session['conversationId']}")[1]["runs"]
        what = f"killed at write {step}: {seen}"
        assert len(runs) <= 1 and (runs or not seen), what
        found = runs[0] if runs else None
        done = [receipt["tool"] for receipt in found["receipts"]] if found else []
        assert done == STEPS[: len(done)], what
        if found:
            assert found["state"] == ("completed" if lived else found["state"]), what
            assert found["state"] in ("interrupted", "completed"), what
            assert found["state"] == "interrupted" or done == STEPS, what
        # A step that was shown as done is done.
        shown = [frame["skill_step"] for frame in seen if frame.get("skill_step") and frame["ok"]]
        assert len(shown) <= len(done), what
        before = kept(again, found, what)
        halves.add(len(done))
        again.stop(9)

        # Nothing goes on by itself, however often the host is started.
        third = serve("--port", 0, "--no-model", folder=folder).wait()
        after = third.json(f"/api/agent/runs?conversation={session['conversationId']}")[1]["runs"]
        assert after == runs and kept(third, found, what) == before, what
        assert third.json("/api/agent/approvals")[1]["approvals"] == [], what
        third.stop()
        step += 1
    assert lived, "the plan makes more writes than were tried"
    assert halves == {0, 1, 2, 3} and step > 20, "hardly anything was killed: does the library count the writes?"


def events(host, turn):
    _, _, data = host.request(f"/api/agent/turns/{turn}?from=0")
    return [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: ")]


def test_a_kill_while_a_turn_is_taken_back_leaves_both_or_neither(serve, killer, tmp_path, root):
    armed = tmp_path / "armed"
    step, lived, kills = 1, False, 0
    while not lived and step < ENOUGH:
        host = serve(
            "--port", 0, "--script",
            script(tmp_path, [call("write_file", path="a.txt", content="made")], [{"text": "Done."}]),
            env={"LD_PRELOAD": str(killer), "CRASH_WRITE": str(step), "CRASH_ARMED": str(armed)}).wait()
        host.wait_for_model()
        session = host.session()
        chat = session["conversationId"]
        run(host, session["sessionId"])
        armed.touch()
        try:
            lived = host.json(f"/api/agent/conversations/{chat}/rewind", "POST", {})[0] == 200
        except (OSError, http.client.HTTPException):
            kills += 1
        armed.unlink()
        host.stop(9)

        again = serve("--port", 0, "--no-model").wait()
        messages = again.json(f"/api/agent/conversations/{chat}")[1]["messages"]
        made = (root / "workspaces" / chat / "a.txt").exists()
        assert (len(messages), made) in ([(2, True), (0, False)] if not lived else [(0, False)]), f"killed at write {step}"
        if not messages:
            assert again.json(f"/api/agent/conversations/{chat}/redo", "POST", {})[0] == 200
            assert (root / "workspaces" / chat / "a.txt").read_text() == "made"
        again.stop()
        step += 1
    assert lived and kills >= 4


def test_twenty_kills_at_random_points_of_answers_lose_nothing_that_was_acknowledged(serve, tmp_path):
    """A frame that was seen says that the message is kept; the frame `done` says that the answer is."""
    words = [f"{number} " for number in range(4000)]
    whole = "".join(words)
    answers = script(tmp_path, [{"text": word} for word in words])
    chance = random.Random(20)
    asked, finished, cut = [], set(), 0
    for number in range(20):
        host = serve("--port", 0, "--script", answers).wait()
        host.wait_for_model()
        session = host.session()
        chat = session["conversationId"]
        connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=60)
        question = f"Count, please, for the time number {number}."
        connection.request(
            "POST", "/api/chat",
            json.dumps({"sessionId": session["sessionId"], "messages": [{"role": "user", "content": question}]}),
            {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        left = chance.randint(1, 5000)
        for line in answer:
            if line.startswith(b"data: "):
                left -= 1
                if b'"done"' in line:
                    finished.add(chat)
                if left == 0:
                    break
        host.stop(9)
        asked.append((chat, question))
        cut += chat not in finished

        again = serve("--port", 0, "--no-model").wait()
        for chat, question in asked:
            status, kept = again.json(f"/api/agent/conversations/{chat}")
            assert status == 200 and kept["messages"][0]["content"] == question, chat
            [run] = again.json(f"/api/agent/runs?conversation={chat}")[1]["runs"]
            assert run["state"] in ("interrupted", "completed"), run
            told = "".join(frame.get("token", "") for frame in events(again, run["id"]))
            assert whole.startswith(told), told[-100:]
            # What had been said is in the chat, marked as not complete, once however often the host was started since.
            # The answer may be there whole before its last events are.
            said = [message for message in kept["messages"] if message["role"] == "assistant"]
            assert len(said) == 1 or (not said and not told), chat
            for message in said:
                assert message["content"] == (told if message.get("interrupted") else whole), chat
                assert run["state"] == "interrupted" or "interrupted" not in message
            if chat in finished:
                assert run["state"] == "completed" and kept["messages"][1]["content"] == whole
        again.stop()
    assert cut >= 5 and finished, "kills on both sides of the end"


def cut_off_chat(serve, tmp_path, root):
    """A chat whose host was killed in the middle of an answer, and what had been said until then is in the log."""
    answers = script(tmp_path, [{"reasoning": "Hm."}, *[{"text": f"heliotrope{number} "} for number in range(100)], {"wait": True}])
    host = serve("--port", 0, "--script", answers).wait()
    host.wait_for_model()
    session = host.session()
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=60)
    connection.request(
        "POST", "/api/chat",
        json.dumps({"sessionId": session["sessionId"], "messages": [{"role": "user", "content": "Count, please."}]}),
        {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    assert any(b"heliotrope99 " in line for line in answer)
    store = sqlite3.connect(f"file:{root / 'alcove.db'}?mode=ro", uri=True)
    until(lambda: store.execute("SELECT count(*) FROM turn_events WHERE payload LIKE '%heliotrope99%'").fetchone()[0] == 1)
    store.close()
    host.stop(9)
    return session["conversationId"]


def test_an_answer_that_was_cut_off_is_in_the_chat_its_export_and_its_search_and_goes_on(serve, tmp_path, root):
    chat = cut_off_chat(serve, tmp_path, root)
    host = serve("--port", 0, "--script", script(tmp_path, [{"text": "On it goes."}])).wait()
    host.wait_for_model()
    session = host.session(chat)
    question, answer = session["messages"]
    assert question["content"] == "Count, please."
    assert answer["role"] == "assistant" and answer["content"].split() == [f"heliotrope{number}" for number in range(100)]
    assert answer["thinking"] == "Hm."
    assert answer["interrupted"] is True and not answer["aborted"] and not answer["truncated"]
    assert question["createdAt"] <= answer["createdAt"]
    assert session["activeTurn"] is None

    [found] = host.json("/api/agent/conversations?search=heliotrope7")[1]["conversations"]
    assert found["id"] == chat and found["messageId"] == answer["id"]
    exported = host.json(f"/api/agent/conversations/{chat}/export?format=json")[1]
    assert exported["messages"][1]["content"] == answer["content"]
    markdown = host.request(f"/api/agent/conversations/{chat}/export?format=markdown")[2].decode()
    assert "heliotrope7" in markdown and "_Alcove ended while this was being written._" in markdown

    # It goes on as any chat does, and the mark stays where it belongs.
    status, frames = host.chat(session["sessionId"], [*session["messages"], {"role": "user", "content": "Go on."}], seen=2)
    assert status == 200 and frames[-1]["error"] is None
    kept = host.json(f"/api/agent/conversations/{chat}")[1]["messages"]
    assert [message.get("interrupted", False) for message in kept] == [False, True, False, False]
    assert kept[1]["id"] == answer["id"]
    # What was taken back after it does not come again with the next start.
    assert host.json(f"/api/agent/conversations/{chat}/rewind", "POST", {})[0] == 200
    assert host.json(f"/api/agent/conversations/{chat}/rewind", "POST", {})[0] == 200
    host.stop()
    again = serve("--port", 0, "--no-model").wait()
    assert again.json(f"/api/agent/conversations/{chat}")[1]["messages"] == []


def test_kills_while_a_cut_off_answer_is_kept_leave_it_once(serve, killer, tmp_path, root):
    armed = tmp_path / "armed"
    chat = cut_off_chat(serve, tmp_path, root)
    armed.touch()
    step, kills, lived = 1, 0, False
    while not lived and step < ENOUGH:
        host = serve(
            "--port", 0, "--no-model", env={"LD_PRELOAD": str(killer), "CRASH_WRITE": str(step), "CRASH_ARMED": str(armed)})
        line = host.process.stdout.readline()
        lived = line.startswith("Alcove is at")
        kills += not lived
        host.stop(9)
        step += 1
    armed.unlink()
    host = serve("--port", 0, "--no-model").wait()
    messages = host.json(f"/api/agent/conversations/{chat}")[1]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[1]["interrupted"] is True
    assert lived and kills >= 4, "hardly anything was killed: does the library count the writes?"


def test_a_tool_that_ran_when_the_host_was_killed_is_a_step_that_failed(serve, tmp_path):
    host = serve(
        "--port", 0, "--execution", "in-process", "--script",
        script(tmp_path, [{"text": "I will wait."}, call("shell", command="sleep 600")])).wait()
    host.wait_for_model()
    session = host.session()
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=60)
    connection.request(
        "POST", "/api/chat",
        json.dumps({
            "sessionId": session["sessionId"], "messages": [{"role": "user", "content": "Do it."}], "profile": "agent"}),
        {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    for line in connection.getresponse():
        frame = json.loads(line[6:]) if line.startswith(b"data: ") else {}
        if "approval" in frame:
            decide(host, frame["approval"], "allowed")
        if frame.get("tool_progress") == "running" and frame["seconds"] > 0:
            break
    host.stop(9)

    again = serve("--port", 0, "--no-model").wait()
    answer = again.json(f"/api/agent/conversations/{session['conversationId']}")[1]["messages"][1]
    assert answer["content"] == "I will wait." and answer["interrupted"] is True
    assert [(step["tool"], step["ok"]) for step in answer["steps"]] == [("shell", False)]
