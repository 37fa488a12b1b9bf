"""What the model is doing, told to whoever waits."""

import threading


def test_the_queue_tells_what_runs_and_what_waits(serve, model):
    host = serve("--port", 0, "--model", model, "--threads", 1).wait()
    host.wait_for_model()
    empty = host.json("/api/queue/status")[1]
    assert empty["places"] == 3 and empty["waiting"] == 0

    # A chat each: a new chat without messages is opened again, and a chat has one turn at a time.
    chats = [host.json("/api/agent/conversations", "POST", {})[1]["id"] for _ in range(5)]
    sessions = [host.session(chat)["sessionId"] for chat in chats]
    story = [{"role": "user", "content": "Tell me a very long story."}]
    threads = [
        threading.Thread(target=host.chat, args=(session, story), kwargs={"maxTokens": 150, "temperature": 0}) for session in sessions]
    for thread in threads:
        thread.start()
    seen = []
    while any(thread.is_alive() for thread in threads):
        seen.append(host.json("/api/queue/status")[1])
    for thread in threads:
        thread.join()

    assert max(len(status["running"]) for status in seen) == 3
    assert max(status["waiting"] for status in seen) >= 1
    assert {entry["state"] for status in seen for entry in status["running"]} >= {"answer"}
    for status in seen:
        for entry in status["running"]:
            assert 0 <= entry["promptDone"] <= entry["promptTokens"]
            assert entry["priority"] in ("normal", "background")
    assert host.json("/api/queue/status")[1]["running"] == []


def test_without_a_model_the_queue_is_empty(serve):
    host = serve("--port", 0, "--no-model").wait()
    assert host.json("/api/queue/status")[1] == {
        "busy": False, "processing": 0, "pending_requests": 0, "total_processed": 0, "running": [], "waiting": 0, "places": 0}
