"""What was done, told: runs with their timeline, counters and failures; and what handoffs copied of chats."""

import json

import pytest
from test_agent import Stream, decide


def run(host, text, outcome="allowed", session=None):
    session = session or host.session()
    stored = host.json(f"/api/agent/conversations/{session['conversationId']}")[1].get("messages", [])
    messages = [*stored, {"role": "user", "content": text}]
    stream = Stream(host, session["sessionId"], messages=messages, profile="assistant")
    for frame in stream:
        if "approval" in frame and "outcome" not in frame["approval"]:
            decide(host, frame["approval"], outcome)
    return stream.turn


def test_a_run_is_told_with_its_timeline_and_counters(serve):
    host = serve("--port", 0, "--no-model").wait()
    turn = run(host, "add task Buy milk, then list tasks")
    told = host.json(f"/api/agent/runs/{turn[:8]}")[1]

    assert (told["id"], told["state"], told["phase"], told["activeTool"]) == (turn, "completed", "ended", None)
    counters = told["counters"]
    assert [counters[key] for key in ("rounds", "calls", "succeeded", "failed", "asked", "allowed")] == [1, 2, 2, 0, 1, 1]
    assert [(moment["what"], moment["tool"]) for moment in told["timeline"]] == [
        ("accepted", None), ("notice", None), ("asked", "tasks_add"), ("answered", "tasks_add"), ("started", "tasks_add"),
        ("finished", "tasks_add"), ("started", "tasks_list"), ("finished", "tasks_list"), ("ended", None)]
    assert told["timeline"][1]["text"] == "Plan: 1. tasks_add, 2. tasks_list."
    assert [receipt["tool"] for receipt in told["receipts"]] == ["tasks_add", "tasks_list"] and told["failures"] == []

    refused = host.json(f"/api/agent/runs/{run(host, 'add task Buy bread, then list tasks', 'refused')}")[1]
    assert [failure["tool"] for failure in refused["failures"]] == ["tasks_add"]
    assert refused["counters"]["allowed"] == 0 and refused["receipts"] == []
    for name in ("0" * 32, "0", "x" * 32, turn[:5]):
        assert host.json(f"/api/agent/runs/{name}")[0] == 404
    assert len(host.json("/api/agent/runs?limit=1")[1]["runs"]) == 1
    assert host.json("/api/agent/runs?limit=0")[1]["code"] == "bad_number"


def test_what_is_kept_names_the_message_it_comes_from(serve):
    host = serve("--port", 0, "--no-model").wait()
    session = host.session()
    run(host, "what is 6*7", session=session)
    turn = run(host, "capture decision: We bake, then list tasks", session=session)

    [item] = host.json("/api/agent/kept?kind=knowledge")[1]["items"]
    messages = host.json(f"/api/agent/conversations/{session['conversationId']}")[1]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 2
    [receipt, _] = host.json(f"/api/agent/runs/{turn}")[1]["receipts"]
    assert item["provenance"] == {
        "chat": session["conversationId"], "message": messages[2]["id"], "run": turn, "receipt": receipt["id"]}


def test_the_terminal_tells_runs_of_a_host_and_of_a_store_alike(serve, alcove, root):
    def activity(*words):
        return alcove("activity", *words, "--root", root)

    host = serve("--port", 0, "--no-model").wait()
    turn = run(host, "add task Buy milk, then list tasks")
    waiting = Stream(host, host.session()["sessionId"], "add task Wait", profile="assistant")
    waiting.until("approval")
    listed = json.loads(activity("--json").stdout)
    assert [one["state"] for one in listed] == ["running", "completed"]
    now = json.loads(activity(waiting.turn, "--json").stdout)
    assert (now["phase"], now["activeTool"]) == ("approve", "tasks_add")
    assert f"Stopped {waiting.turn[:8]}." in activity(waiting.turn[:10], "--stop").stdout
    waiting.until("done")
    assert "It had ended already." in activity(waiting.turn[:10], "--stop").stdout
    whole = json.loads(activity(turn, "--json").stdout)
    host.stop()

    assert json.loads(activity(turn[:6], "--json").stdout) == whole
    shown = activity(turn).stdout
    assert "calls 2, succeeded 2, failed 0, asked 1, allowed 1" in shown and "finished tasks_add ok Buy milk" in shown
    lines = activity().stdout.splitlines()
    assert lines[0] == whole["startedAt"][:10] and "cancelled" in lines[1]
    assert activity("0" * 32).returncode == 66 and activity("../x").returncode == 66
    assert activity(turn, "--stop").returncode == 69 and activity("--stop").returncode == 64


@pytest.fixture
def copied(serve):
    """A host with one chat, two of whose messages a handoff has copied."""
    host = serve("--port", 0, "--no-model").wait()
    session = host.session()
    run(host, "remember that the zanzibar tea is cold", session=session)
    run(host, "create handoff Later", session=session)
    return host, session["conversationId"]


def test_copies_of_messages_have_their_own_list_and_go_one_by_one(copied, root):
    host, chat = copied
    excerpts = host.json("/api/agent/excerpts")[1]["excerpts"]
    assert [(one["title"], one["role"], one["conversation"], one["chatIsThere"]) for one in excerpts] == [
        ("Later", "user", chat, True), ("Later", "assistant", chat, True)]
    first = excerpts[0]
    for query, status in [("", 400), ("?handoff=" + "0" * 32, 404), (f"?handoff={first['handoff']}&message=none", 404)]:
        assert host.json("/api/agent/excerpts" + query, "DELETE")[0] == status

    one = f"/api/agent/excerpts?handoff={first['handoff']}&message={first['message']}"
    assert host.json(one, "DELETE")[1] == {"removed": 1}
    handoff = host.json("/api/agent/kept?kind=handoff")[1]["items"][0]
    assert "remember that the zanzibar" not in handoff["text"] and "- assistant: Remembered" in handoff["text"]
    host.json(f"/api/agent/conversations/{chat}", "DELETE")
    left = host.json("/api/agent/excerpts")[1]["excerpts"]
    assert [(one["role"], one["chatIsThere"]) for one in left] == [("assistant", False)]
    assert host.json("/api/agent/activity/clear", "POST", {"confirm": "clear"})[0] == 200
    assert host.json("/api/agent/excerpts")[1]["excerpts"] == []
    assert [item["title"] for item in host.json("/api/agent/kept?kind=handoff")[1]["items"]] == ["Later"]


def test_copies_on_the_terminal_go_for_good(copied, alcove, root):
    host, _ = copied
    host.json(f"/api/agent/kept", "POST", {"tool": "tasks_add", "arguments": {"title": "unrelated"}})
    host.stop()

    def handoff(*words):
        return alcove("handoff", *words, "--root", root)

    assert "Later" in handoff("excerpts").stdout and "zanzibar" in handoff("excerpts").stdout
    assert len(json.loads(handoff("excerpts", "--json").stdout)) == 2
    assert 'Removed 2 copied messages from "Later".' in handoff("forget", "Later").stdout
    assert json.loads(handoff("excerpts", "--json").stdout) == []
    assert "No handoff holds words" in handoff("excerpts").stdout
    assert "Removed 0" in handoff("forget", "Later").stdout
    assert "zanzibar" not in handoff("inspect", "Later").stdout
