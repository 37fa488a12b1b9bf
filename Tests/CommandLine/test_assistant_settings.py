"""How far the assistant may go, what it begins with, and what is remembered: set on the page or the terminal, felt at once."""

import json
import time

import pytest
from openai_server import OpenAIServer
from program import until
from test_agent import Stream, call, decide, host_with

FOUR = "what time is it, then list tasks, then calculate 1+1, then calculate 2+2"


@pytest.fixture
def server():
    servers = []

    def start(answer):
        servers.append(OpenAIServer(answer))
        return servers[-1]

    yield start
    for one in servers:
        one.close()


def says(text):
    def answer(handler, body):
        handler.stream()
        handler.say(text, finish_reason="stop")
        handler.done()

    return answer


def change(host, **part):
    status, answer = host.json("/api/agent/settings", "PATCH", part)
    assert status == 200, answer


def ask(host, text, **rest):
    return host.chat(host.session()["sessionId"], [{"role": "user", "content": text}], **rest)


def test_the_longest_plan_is_the_persons_choice(serve):
    host = serve("--port", 0, "--no-model").wait()
    assert ask(host, FOUR, commands=True)[1]["code"] == "plan_too_long"
    change(host, assistantSteps=4)
    status, frames = ask(host, FOUR, commands=True)
    assert status == 200 and "2+2 = 4" in "".join(frame.get("token", "") for frame in frames)
    change(host, assistantSteps=1)
    assert "at most 1" in ask(host, "list tasks, then calculate 1+1", profile="assistant")[1]["error"]


def test_a_run_ends_when_its_time_is_over(serve):
    host = serve("--port", 0, "--no-model").wait()
    change(host, assistantSeconds=10)
    begun = time.monotonic()
    stream = Stream(host, host.session()["sessionId"], "add task Buy milk", profile="assistant")
    stream.until("approval")
    done, _ = stream.until("done")
    assert 8 < time.monotonic() - begun < 60
    assert done["stoppedBy"] == "time limit"
    assert host.json("/api/agent/kept?kind=task")[1]["items"] == []


def test_rounds_and_reply_length_reach_the_model(serve, server):
    def answer(handler, body):
        handler.stream()
        if body.get("tools") and body.get("tool_choice") != "none":
            number = len(remote.asked)
            handler.line({"choices": [{"index": 0, "finish_reason": "tool_calls", "delta": {"tool_calls": [{
                "index": 0, "id": f"c{number}", "type": "function",
                "function": {"name": "calculator", "arguments": json.dumps({"expression": f"{number}+1"})}}]}}]})
        else:
            handler.say("Done.", finish_reason="stop")
        handler.done()

    remote = server(answer)
    host = serve("--port", 0, "--engine", "openai", "--endpoint", remote.url).wait()
    host.wait_for_model()
    change(host, assistantRounds=2, assistantSteps=9, assistantTokens=77)
    ask(host, "Please work it out for me.", profile="assistant")

    with_tools = [body for body in remote.asked if body.get("tools") and body.get("tool_choice") != "none"]
    assert len(with_tools) == 2 and {body["max_tokens"] for body in remote.asked} == {77}
    # A model may look and change nothing, whatever the limits are.
    names = {tool["function"]["name"] for tool in with_tools[0]["tools"]}
    assert "tasks_list" in names and not names & {"tasks_add", "memories_save", "kept_delete", "calendar_read"}


def test_the_system_prompt_begins_conversations_and_is_not_kept_in_them(serve, server, alcove, root):
    remote = server(says("Salve."))
    host = serve("--port", 0, "--engine", "openai", "--endpoint", remote.url).wait()
    host.wait_for_model()

    def begins(**rest):
        session = host.session()
        host.chat(session["sessionId"], [{"role": "user", "content": "Hello there."}], **rest)
        kept = host.json(f"/api/agent/conversations/{session['conversationId']}")[1]["messages"]
        assert [message["role"] for message in kept] == ["user", "assistant"]
        return remote.asked[-1]["messages"][0]

    assert begins()["role"] == "user"
    changed = alcove("settings", "systemPrompt", "Answer in Latin.", "--root", root)
    assert changed.returncode == 0 and changed.stdout == "Answer in Latin.\n"
    for rest in ({}, {"profile": "assistant"}, {"profile": "agent"}):
        first = begins(**rest)
        assert first["role"] == "system" and first["content"].startswith("Answer in Latin."), rest
    assert alcove("settings", "systemPrompt", "  ", "--root", root).stdout == "null\n"
    assert begins()["role"] == "user"


def test_what_was_allowed_for_a_chat_is_asked_about_again_when_that_is_switched_off(serve, tmp_path):
    writes = [[call("write_file", path=f"{n}.txt", content="a")] for n in range(3)]
    host = host_with(serve, tmp_path, *writes, [{"text": "Done."}])
    asked = []
    for frame in Stream(host, host.session()["sessionId"]):
        if "approval" in frame and "outcome" not in frame["approval"]:
            asked.append(frame["approval"])
            first = len(asked) == 1
            # Switched off while it is asked: the grant that was just offered does not hold.
            if first:
                assert frame["approval"]["remember"] is True
                change(host, rememberApprovals=False)
            decide(host, frame["approval"], "allowed_for_chat" if first else "allowed")
    assert [question["remember"] for question in asked] == [True, False, False]


def test_settings_on_the_terminal(alcove, root, serve):
    def settings(*words):
        return alcove("settings", *words, "--root", root)

    assert settings("assistantSteps").stdout == "3\n"
    assert settings("assistantSteps", "5").stdout == "5\n"
    assert json.loads(settings("--json").stdout)["assistantSteps"] == 5
    assert "systemPrompt = null (with the next message)" in settings().stdout
    bad = settings("assistantSteps", "21")
    assert bad.returncode == 1 and "from 1 to 20" in bad.stderr
    strange = settings("steps")
    assert strange.returncode == 64 and "assistantSteps" in strange.stderr
    assert alcove("run", "--profile", "assistant", FOUR, "--root", root).returncode == 0

    host = serve("--port", 0, "--no-model").wait()
    assert settings("assistantSteps", "2").stdout == "2\n"
    assert ask(host, "list tasks, then calculate 1+1, then calculate 2+2", commands=True)[1]["code"] == "plan_too_long"
    refused = settings("assistantSteps", "0")
    assert refused.returncode == 1 and "from 1 to 20" in refused.stderr
    assert settings("assistantSteps").stdout == "2\n"


def test_what_fills_the_disk(serve, root):
    host = serve("--port", 0, "--no-model").wait()
    (root / "uploads").mkdir(exist_ok=True)
    (root / "uploads" / "a").write_bytes(b"x" * 3_000_000)

    answer = host.json("/api/agent/disk")[1]

    sizes = {part["name"]: part["bytes"] for part in answer["parts"]}
    assert 3_000_000 <= sizes["attachments"] < 4_000_000 and sizes["chats"] > 0 and answer["freeBytes"] > 0


@pytest.mark.parametrize("stops", [True, False])
def test_a_run_that_nobody_follows_ends_where_that_is_wished(serve, stops):
    host = serve("--port", 0, "--no-model").wait()
    change(host, stopUnattended=stops)
    stream = Stream(host, host.session()["sessionId"], "add task Buy milk, then list tasks", profile="assistant")
    question, _ = stream.until("approval")
    stream.connection.close()
    stream.answer.close()

    def state():
        return host.json(f"/api/agent/runs/{stream.turn}")[1]["state"]

    if stops:
        until(lambda: state() == "cancelled")
        assert host.json("/api/agent/kept?kind=task")[1]["items"] == []
        return
    # A page that comes back finds its run, however long it was away.
    begun = time.monotonic()
    until(lambda: time.monotonic() - begun > 7)
    assert state() == "running" and decide(host, question["approval"], "allowed")[0] == 200
    until(lambda: state() == "completed")
