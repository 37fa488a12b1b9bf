"""`alcove worker` and `--rpc`: the layers of a model computed by other processes, through the real program."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from program import PROGRAM

QUESTION = "Tell me a long story about a fisherman and the sea."


class Worker:
    """A running `alcove worker`."""

    def __init__(self, address="127.0.0.1:0", before=()):
        self.process = subprocess.Popen(
            [*before, PROGRAM, "worker", "--listen", address, "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("The worker at 127.0.0.1:"), line + self.process.stderr.read()
        self.address = line.split()[3]

    @property
    def child(self):
        """The process that computes."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        words = " ".join(path.read_text() for path in tasks).split()
        return int(words[0]) if words else None

    @property
    def held(self):
        """Bytes of memory of the process that computes."""
        status = Path(f"/proc/{self.child}/status").read_text()
        return 1024 * int(status.split("VmRSS:")[1].split()[0])

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(30)


@pytest.fixture
def worker():
    workers = []

    def start(*words, **rest):
        workers.append(Worker(*words, **rest))
        return workers[-1]

    yield start
    for one in workers:
        one.stop()


def wait_until(holds, seconds=60):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)


def answer(host, **rest):
    """The text of a greedy answer, and its last frame."""
    frames = host.chat(None, [{"role": "user", "content": QUESTION}], temperature=0, **{"maxTokens": 40, **rest})[1]
    assert isinstance(frames, list), frames
    return "".join(frame.get("token", "") for frame in frames), frames[-1]


def rpc_host(serve, model, *workers, folder, words=()):
    names = ",".join(one.address for one in workers)
    return serve("--port", "0", "--model", model, "--rpc", names, *words, folder=folder).wait()


def test_two_workers_say_what_this_device_says(serve, worker, model, tmp_path):
    near = serve("--port", "0", "--model", model, folder=tmp_path / "near").wait()
    assert near.wait_for_model()["state"] == "Loaded"
    local = answer(near)[0]
    assert len(local) > 40
    first, second = worker(), worker()
    far = rpc_host(serve, model, first, second, folder=tmp_path / "far")
    loaded = far.wait_for_model()
    assert loaded["state"] == "Loaded", loaded

    assert answer(far)[0] == local
    # A second time from the start, and a follow-up that goes on from what the workers hold.
    assert answer(far)[0] == local
    more = far.chat(None, [
        {"role": "user", "content": QUESTION}, {"role": "assistant", "content": local}, {"role": "user", "content": "Again."},
    ], temperature=0, maxTokens=8)[1]
    assert more[-1]["kvReusedTokens"] > 20, more[-1]

    # The layers really are with them: half of 145 MB each, but for the table of the tokens.
    assert first.held > 40e6 and second.held > 40e6, (first.held, second.held)
    engine = far.json("/api/agent/engine")[1]
    names = f"{first.address}, {second.address}"
    assert engine["leavesDevice"] is True and engine["endpointHost"] == names
    assert any(names in notice and "leaves this device" in notice for notice in engine["model"]["notices"])
    assert far.json("/api/models")[1]["loadedBackend"] == "rpc"


def test_a_worker_that_breaks_is_started_again_and_the_answer_goes_on(serve, worker, model, tmp_path):
    one = worker()
    host = rpc_host(serve, model, one, folder=tmp_path / "far")
    assert host.wait_for_model()["state"] == "Loaded"
    expected = answer(host, maxTokens=120)[0]
    before = one.child
    body = {"sessionId": None, "messages": [{"role": "user", "content": QUESTION}], "temperature": 0, "maxTokens": 120}
    request = urllib.request.Request(host.url + "/api/chat", data=json.dumps(body).encode(), method="POST", headers={
        "Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    frames = []
    with urllib.request.urlopen(request, timeout=120) as response:
        for line in response:
            if line.startswith(b"data: "):
                frames.append(json.loads(line[6:]))
            if sum("token" in frame for frame in frames) == 3 and one.child == before:
                os.kill(before, signal.SIGKILL)
                wait_until(lambda: one.child not in (before, None))

    assert one.child != before
    assert "done" in frames[-1], frames[-1]
    assert host.process.poll() is None
    assert answer(host, maxTokens=120)[0] == expected
    # The new process has the layers, and not the host in its place.
    assert one.held > 80e6, one.held
    assert "signal 9" in one.process.stderr.readline()


def test_a_worker_that_has_gone_is_told_and_found_again(serve, worker, model, tmp_path):
    one = worker()
    host = rpc_host(serve, model, one, folder=tmp_path / "far")
    assert host.wait_for_model()["state"] == "Loaded"
    expected = answer(host)[0]
    assert one.stop() == 0

    text, last = answer(host)
    told = json.dumps(last)
    assert one.address in told and "alcove worker --listen" in told, last
    assert host.process.poll() is None

    again = worker(one.address)
    assert again.address == one.address
    status, body = host.json("/api/models/load", "POST", {"model": str(model)})
    assert status in (200, 202), body
    assert host.wait_for_model()["state"] == "Loaded"
    assert answer(host)[0] == expected


def test_a_worker_that_hangs_is_given_up(serve, worker, model, tmp_path):
    one = worker()
    host = rpc_host(serve, model, one, folder=tmp_path / "far", words=["--rpc-timeout", "2"])
    assert host.wait_for_model()["state"] == "Loaded"
    os.kill(one.child, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        told = json.dumps(host.chat(None, [{"role": "user", "content": QUESTION}], maxTokens=8)[1])
        assert "does not answer" in told and one.address in told, told
        assert time.monotonic() - begun < 60
        assert host.json("/health")[0] == 200
    finally:
        os.kill(one.child, signal.SIGCONT)


def test_two_ways_to_compute_elsewhere_are_refused(alcove):
    result = alcove("ask", "Hi", "--rpc", "127.0.0.1:1", "--engine", "openai", "--endpoint", "http://127.0.0.1:1")
    assert result.returncode == 64 and "two ways to compute elsewhere" in result.stderr, result


def test_a_worker_without_room_is_told_and_nothing_is_loaded_here(serve, worker, model, tmp_path):
    one = worker(before=["prlimit", "--data=120000000"])
    host = rpc_host(serve, model, one, folder=tmp_path / "far")
    loaded = host.wait_for_model()
    assert loaded["state"] == "Failed" and one.address in loaded["error"], loaded
    status = Path(f"/proc/{host.process.pid}/status").read_text()
    assert 1024 * int(status.split("RssAnon:")[1].split()[0]) < 120e6


@pytest.mark.parametrize("words, sentence", [
    (["--rpc", "8.8.8.8:50052"], "no address of this machine or of its own network"),
    (["--rpc", "127.0.0.1:0"], "no port between 1 and 65535"),
    (["--rpc", "127.0.0.1:1,127.0.0.1:1"], "names one worker twice"),
    (["--rpc", "[::1]:50052"], "no address a worker can have"),
    (["--rpc", ""], ""),
    (["--rpc", "no-such-machine.invalid:1"], "no machine called no-such-machine.invalid"),
    (["--rpc-timeout", "5"], "is for workers"),
])
def test_wrong_addresses_are_refused_in_a_sentence(alcove, model, words, sentence):
    result = alcove("ask", "Hi", "--model", model, *words)
    assert result.returncode != 0 and sentence in result.stderr, result
    assert "Traceback" not in result.stderr and "unforeseen" not in result.stderr


@pytest.mark.parametrize("address, sentence", [
    ("8.8.8.8:50052", "no address of this machine or of its own network"),
    ("0.0.0.0:50052", "no address of this machine or of its own network"),
    ("192.168.254.253:50052", "192.168.254.253"),
    ("127.0.0.1:99999", "no port between 1 and 65535"),
])
def test_a_worker_listens_on_its_own_network_only(alcove, address, sentence):
    result = alcove("worker", "--listen", address)
    assert result.returncode != 0 and sentence in result.stderr, result


def test_what_listens_and_is_no_worker_is_told(alcove, model):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    result = alcove("ask", "Hi", "--model", model, "--rpc", f"127.0.0.1:{port}")
    assert result.returncode != 0 and f"No worker answers at 127.0.0.1:{port}" in result.stderr
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        result = alcove("ask", "Hi", "--model", model, "--rpc", f"127.0.0.1:{port}")
        assert result.returncode != 0 and "takes the connection and does not answer" in result.stderr
    for words in [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x1c\x00\x00\x00\x00\x00\x00\x00" + b"\x03" * 28, b""]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]

            def speak(words=words, server=server):
                connection, _ = server.accept()
                connection.recv(64)
                connection.sendall(words)
                connection.close()

            speaking = threading.Thread(target=speak)
            speaking.start()
            result = alcove("ask", "Hi", "--model", model, "--rpc", f"127.0.0.1:{port}")
            speaking.join(10)
        expected = "speaks version 3.3" if words[:1] == b"\x1c" else "is no worker"
        assert result.returncode != 0 and expected in result.stderr, result.stderr


def test_rubbish_does_not_end_a_worker(worker, alcove, model):
    one = worker()
    host, port = one.address.split(":")
    hello = bytes([14]) + (24).to_bytes(8, "little") + bytes(24)
    rubbish = [
        b"GET / HTTP/1.1\r\n\r\n", hello + bytes([10]) + (1 << 40).to_bytes(8, "little"), hello + b"\xff" * 64,
        hello + bytes([8]) + (300).to_bytes(8, "little") + b"\x41" * 300,
        hello + bytes([10]) + (64).to_bytes(8, "little") + b"\xff" * 64, hello[:5],
    ]
    for words in rubbish:
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(words)
    result = alcove("ask", "Say hi.", "--model", model, "--rpc", one.address, "--max-tokens", "8", "--temperature", "0")
    assert result.returncode == 0 and result.stdout.strip(), result
    assert one.process.poll() is None
