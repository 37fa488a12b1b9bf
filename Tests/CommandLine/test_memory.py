"""The numbers for which systems end programs, and giving back what only serves speed; under a simulated limit."""

import re
import resource
import shutil
import sys

import program
import pytest


def kilobytes(host, name):
    with open(f"/proc/{host.process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name + ":"))


def engine(host):
    return host.json("/api/agent/engine")[1]["model"]


def moments(host):
    return [note["moment"] for note in engine(host)["memoryNotes"]]


def wait_for(host, moment, count=1):
    """The note of a moment comes just after what it is of."""
    while moments(host).count(moment) < count:
        assert host.process.poll() is None
    return moments(host)


def ask(host, question="What is the capital of France? Answer in one word."):
    _, frames = host.chat(
        host.session()["sessionId"], [{"role": "user", "content": question}], temperature=0, maxTokens=24)
    return "".join(frame.get("token", "") for frame in frames)


def test_memory_is_told_by_the_route_the_log_and_the_doctor(serve, alcove, model, root):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    wait_for(host, "after loading")
    first = ask(host)
    wait_for(host, "after a turn")

    found = engine(host)
    # The weights are in memory of this process.
    assert found["chargedBytes"] > 100 << 20 and found["residentBytes"] >= found["chargedBytes"] * 0.9
    assert found["machineTakenBytes"] > 0 and found["memoryLeftBytes"] > 0
    assert found["memoryLine"].startswith(f"{found['chargedBytes'] >> 20} MB charged to Alcove, ")
    for note in found["memoryNotes"]:
        assert note["chargedBytes"] > 0 and note["memoryLine"]
    log = (root / "logs/alcove.log").read_text()
    assert "memory after loading: " in log and "memory after a turn: " in log

    status, body = host.json("/api/agent/memory/release", "POST", {})
    assert status == 200 and body["ok"] and body["freedBytes"] > 1 << 20
    assert body["chargedBytes"] < found["chargedBytes"]
    assert host.json("/api/agent/memory/release", "POST", {})[1]["freedBytes"] == 0
    assert ask(host) == first
    name = host.json("/v1/models")[1]["data"][0]["id"]
    body = {"model": name, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 2}
    assert host.request("/v1/chat/completions", "POST", body)[0] == 200
    wait_for(host, "after an answer")
    host.stop()
    doctor = alcove("doctor", "--root", root).stdout
    line = next(line for line in doctor.splitlines() if " memory: " in line)
    assert " MB in this device, " in line and "MB charged to Alcove" in line


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's prlimit")
def test_under_a_limit_what_serves_speed_goes_and_answers_stay(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    wait_for(host, "after loading")
    first = ask(host)
    wait_for(host, "after a turn")
    assert "little is left" not in moments(host)

    used = kilobytes(host, "VmData") << 10
    limit = int(used / 0.965)  # 3.5 % are left, which is less than a twentieth
    resource.prlimit(host.process.pid, resource.RLIMIT_DATA, (limit, limit))
    assert engine(host)["memoryLimitBytes"] == limit
    assert ask(host) == first
    seen = wait_for(host, "after giving back")
    assert seen[seen.index("little is left") - 1] == "after a turn"
    notes = {note["moment"]: note for note in engine(host)["memoryNotes"]}
    assert notes["after giving back"]["memoryLeftBytes"] > notes["little is left"]["memoryLeftBytes"]
    # It goes on within the limit.
    assert ask(host) == first
    assert host.process.poll() is None


def test_without_a_model_there_is_nothing_to_give_back(serve):
    host = serve("--port", 0, "--no-model").wait()
    assert host.json("/api/agent/memory/release", "POST", {})[1]["freedBytes"] == 0
    assert engine(host)["chargedBytes"] > 0


def limit_to(host, spare):
    """Leaves the host this much more than it has now."""
    limit = (kilobytes(host, "VmData") << 10) + spare
    resource.prlimit(host.process.pid, resource.RLIMIT_DATA, (limit, limit))


def turn(host, words, **rest):
    """The text and the last frame of an answer."""
    status, frames = host.chat(
        host.session()["sessionId"], [{"role": "user", "content": words}], temperature=0, **{"maxTokens": 8, **rest})
    assert status == 200, frames
    return "".join(frame.get("token", "") for frame in frames), frames[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's prlimit")
def test_a_chat_grows_as_far_as_memory_allows_and_is_refused_in_numbers(serve, model):
    host = serve("--port", 0, "--model", model, "--context", 8192).wait()
    host.wait_for_model()
    wait_for(host, "after loading")
    short = "What is the capital of France? Answer in one word."
    first, _ = turn(host, short)
    assert host.json("/api/queue/status")[1]["places"] == 3
    wait_for(host, "after a turn")
    limit_to(host, 40 << 20)

    # There is no memory for three chats of this length, and there is for one.
    _, done = turn(host, "one two three four " * 520)
    assert 2_048 < done["promptTokens"] < 4_000 and not done["error"]
    assert host.json("/api/queue/status")[1]["places"] == 1

    status, refused = host.chat(
        host.session()["sessionId"], [{"role": "user", "content": "one two three four " * 1_700}], temperature=0, maxTokens=8)
    assert status == 507 and refused["code"] == "context_needs_memory", refused
    assert re.fullmatch(r"A chat of 8192 tokens needs 340 MB of memory, and \d+ MB are free\.", refused["error"])

    # Whatever was refused, short chats go on.
    assert turn(host, short)[0] == first
    assert host.process.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux's prlimit")
def test_a_model_that_does_not_fit_costs_nobody_the_one_that_answers(serve, model, root):
    host = serve("--port", 0, "--no-model").wait()
    host.json("/api/agent/settings", "PATCH", {"prefixCacheWarm": False})
    assert host.json("/api/models/load", "POST", {"model": model})[0] == 200
    shutil.copy(model, root / "models/big.gguf")
    # Weights are there and no context yet: all of it given back is less than weights and a context.
    limit_to(host, 1 << 20)
    status, body = host.json("/api/models/load", "POST", {"model": "big.gguf"})
    assert status == 507 and body["code"] == "model_needs_memory", body
    assert body["error"].startswith("big.gguf needs ") and body["error"].endswith(" are free.")
    assert engine(host)["state"] == "Loaded" and engine(host)["id"] != "big.gguf"
    assert host.process.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts data against a limit")
def test_a_start_without_memory_for_the_model_says_so(root, model, tmp_path, monkeypatch):
    """`ulimit -d`: the host is there, the model is not, and both numbers are told."""
    script = tmp_path / "limited"
    script.write_text(f'#!/bin/sh\nulimit -d 225280\nexec "{program.PROGRAM}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(program, "PROGRAM", str(script))
    host = program.Host(root, "--threads", "1", "--port", 0, "--model", model).wait()
    try:
        found = host.wait_for_model()
        assert found["state"] == "Failed"
        assert "SmolLM2-135M-Instruct.Q8_0.gguf needs 26" in found["error"] and " MB for the shortest chat), and " in found["error"]
        assert host.request("/health")[0] == 200
    finally:
        host.stop()
