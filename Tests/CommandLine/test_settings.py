"""The settings: read, changed, kept, and felt."""

from concurrent.futures import ThreadPoolExecutor

from program import until
from test_agent import Stream, call, decide, host_with


def test_settings_are_changed_in_part_sent_whole_and_kept(serve):
    host = serve("--port", 0, "--no-model").wait()
    usual = host.json("/api/agent/settings")[1]
    assert usual["allowNetwork"] is False and usual["maxTokens"] == 2048

    assert host.json("/api/agent/settings", "PATCH", {"allowNetwork": True, "from-another-program": [1]})[1] == {
        **usual, "allowNetwork": True, "from-another-program": [1]}
    status, refusal = host.json("/api/agent/settings", "PATCH", {"maxTokens": 0, "allowNetwork": False})
    assert (status, refusal["code"]) == (400, "bad_setting")
    assert "maxTokens" in refusal["error"]
    assert "network on" in host.json("/api/agent/engine")[1]["engine"]
    host.json("/api/agent/settings", "PATCH", {"theirs": 1})
    assert "theirs" not in host.json("/api/agent/settings", "PATCH", {"theirs": None, "never": None})[1]
    status, refusal = host.json("/api/agent/settings", "PATCH", {"theirs": "x" * 300_000})
    assert (status, refusal["code"]) == (400, "settings_too_large")

    host.stop(9)
    again = serve("--port", 0, "--no-model").wait()
    assert again.json("/api/agent/settings")[1]["allowNetwork"] is True
    whole = again.json("/api/agent/settings", "POST", {"maxTokens": 512})[1]
    assert whole == {**usual, "maxTokens": 512, "from-another-program": [1]}


def test_changes_at_the_same_time_are_all_kept(serve):
    host = serve("--port", 0, "--no-model").wait()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(
            lambda number: host.json("/api/agent/settings", "PATCH", {f"key{number}": number})[0], range(40)))
    assert answers == [200] * 40
    settings = host.json("/api/agent/settings")[1]
    assert all(settings[f"key{number}"] == number for number in range(40))


def test_the_reply_limit_is_felt_with_the_next_message(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session = host.session()
    host.json("/api/agent/settings", "PATCH", {"maxTokens": 3})
    story = [{"role": "user", "content": "Tell me a long story."}]

    _, frames = host.chat(session["sessionId"], story)
    assert frames[-1]["tokenCount"] == 3 and frames[-1]["truncated"] is True
    _, frames = host.chat(session["sessionId"], story, maxTokens=5)
    assert frames[-1]["tokenCount"] == 5


def test_switching_code_off_refuses_the_very_next_call(serve, tmp_path):
    host = host_with(serve, tmp_path, [call("shell", command="echo a")], [call("shell", command="echo b")], [{"text": "Done."}])
    session = host.session()
    seen = []
    for frame in Stream(host, session["sessionId"]):
        seen.append(frame)
        if "approval" in frame:
            # The question is open when the switch goes; what was allowed before does not count any more.
            host.json("/api/agent/settings", "PATCH", {"allowCodeExecution": False})
            decide(host, frame["approval"], "allowed")
        if "done" in frame:
            break

    receipts = host.json("/api/agent/runs")[1]["runs"][0]["receipts"]
    assert receipts == []
    assert [frame["ok"] for frame in seen if "skill_step" in frame] == [False, False]
    assert len([frame for frame in seen if "approval" in frame]) == 1


def test_the_model_chosen_last_is_loaded_again(serve, model, root):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    # Kept once it has loaded, a moment after the engine says so.
    until(lambda: host.json("/api/agent/settings")[1]["selectedModelId"] == model)
    host.stop()
    again = serve("--port", 0).wait()
    assert again.wait_for_model()["state"] == "Loaded"
    again.stop()
    # One that is gone is no reason to have none.
    third = serve("--port", 0, "--no-model").wait()
    third.json("/api/agent/settings", "PATCH", {"selectedModelId": "gone.gguf"})
    third.stop()
    assert serve("--port", 0).wait().wait_for_model()["state"] == "Loaded"
