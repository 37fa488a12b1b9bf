"""The gate of computing, closed and opened by signals: the real engine waits and goes on."""

import signal
import threading
import time


def gate(host, until):
    """The gate's state, once it is as it should be; nothing is computed meanwhile, so nothing is missed."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = host.json("/api/agent/engine")[1]["gate"]
        if until(found):
            return found
        time.sleep(0.01)
    raise AssertionError(found)


def waiting(host):
    """The gate's state, once an answer waits before it; a warm-up may wait there too."""
    while host.json("/api/queue/status")[1]["waiting"] == 0:
        time.sleep(0.01)
    return gate(host, lambda found: found["waiting"] >= 1)


def test_an_answer_waits_for_the_gate_and_is_the_same(serve, model):
    host = serve("--port", "0", "--model", model).wait()
    host.wait_for_model()
    body = {
        "model": "default", "messages": [{"role": "user", "content": "Name three colours."}], "temperature": 0,
        "max_tokens": 16, "seed": 1}
    first = host.json("/v1/chat/completions", "POST", body)
    assert first[0] == 200

    host.process.send_signal(signal.SIGUSR1)
    gate(host, lambda found: found["closed"])
    answers = []
    thread = threading.Thread(target=lambda: answers.append(host.json("/v1/chat/completions", "POST", body)))
    thread.start()
    parked = waiting(host)
    assert parked["closures"] == 1 and not answers
    host.process.send_signal(signal.SIGUSR2)
    thread.join(60)

    assert answers and answers[0][0] == 200
    assert answers[0][1]["choices"] == first[1]["choices"]
    after = gate(host, lambda found: not found["closed"])
    assert after["closedSeconds"] > 0 and after["rebuilds"] == 0 and after["waiting"] == 0


def test_a_client_that_leaves_and_an_end_of_the_host_do_not_wait_for_the_gate(serve, model):
    host = serve("--port", "0", "--model", model).wait()
    host.wait_for_model()
    host.process.send_signal(signal.SIGUSR1)
    gate(host, lambda found: found["closed"])
    body = {"model": "default", "messages": [{"role": "user", "content": "Hello"}]}
    errors = []

    def ask():
        try:
            host.json("/v1/chat/completions", "POST", body)
        except Exception as error:  # the host ends meanwhile
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    waiting(host)

    assert host.stop() == 0
    thread.join(60)
    assert not thread.is_alive()
