"""What the tests of the program share: the program, the model, a folder of their own."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ALCOVE_BIN", str(REPOSITORY / ".build/debug/alcove"))
MODEL = REPOSITORY / ".deps/models/SmolLM2-135M-Instruct.Q8_0.gguf"


@pytest.fixture(scope="session")
def model():
    assert MODEL.exists(), "There is no starter model; run `make bootstrap`."
    return str(MODEL)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "root"


@pytest.fixture
def alcove():
    """Runs the program to its end."""

    def run(*words, input="", timeout=120, env=None):
        return subprocess.run(
            [PROGRAM, *map(str, words)], input=input, capture_output=True, timeout=timeout,
            text=not isinstance(input, bytes), env={**os.environ, **(env or {})},
        )

    return run


class Host:
    """A running `alcove serve`."""

    def __init__(self, root, *words, env=None):
        self.root = Path(root)
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--root", str(root), *map(str, words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})},
        )

    def wait(self, timeout=30):
        """Until the address is known."""
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("Alcove is at http://127.0.0.1:"), self.address + self.process.stderr.read()
        connection = json.loads((self.root / "connection.json").read_text())
        self.url, self.token = connection["url"], connection["token"]
        return self

    def request(self, path, method="GET", body=None, headers=None, token=True):
        data = None if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
        request = urllib.request.Request(self.url + path, data=data, method=method)
        if token:
            request.add_header("Authorization", f"Bearer {self.token}")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def json(self, path, method="GET", body=None, **rest):
        status, _, data = self.request(path, method, body, **rest)
        return status, json.loads(data)

    def wait_for_model(self, timeout=120):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            model = self.json("/api/agent/engine")[1]["model"]
            if model["state"] in ("Loaded", "Failed"):
                return model
            time.sleep(0.05)
        raise AssertionError("the model was not loaded in time")

    def session(self, conversation="new"):
        return self.json(f"/api/sessions?conversation={conversation}", "POST")[1]

    def chat(self, session, messages, **rest):
        """All frames of one answer."""
        body = {"sessionId": session, "messages": messages, **rest}
        status, headers, data = self.request("/api/chat", "POST", body)
        if status != 200:
            return status, json.loads(data)
        frames = [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: ")]
        return status, frames

    def stop(self, signal_number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        return self.process.wait(30)


@pytest.fixture
def serve(root):
    hosts = []

    def start(*words, folder=None, **rest):
        host = Host(folder or root, "--threads", "1", *words, **rest)
        hosts.append(host)
        return host

    yield start
    for host in hosts:
        if host.process.poll() is None:
            host.process.kill()
            host.process.wait()


def in_a_chroot():
    """There the root folder is no mount of its own, and bubblewrap cannot begin."""
    return not any(line.split()[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines())


@pytest.fixture
def sandbox(alcove):
    """A sandbox that can be had. Only inside a chroot, where none can, is the test skipped; elsewhere it fails."""
    found = {item["subject"]: item for item in json.loads(alcove("doctor", "--json").stdout)}["sandbox"]
    if not found["ok"] and in_a_chroot():
        print("\nSKIPPED: this is a chroot, and no sandbox can be made in one.")
        pytest.skip("no sandbox can be made inside a chroot")
    assert found["ok"], found
