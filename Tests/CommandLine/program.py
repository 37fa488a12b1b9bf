"""The program under test, as every folder of tests starts it."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ALCOVE_BIN", str(REPOSITORY / ".build/debug/alcove"))
MODEL = REPOSITORY / ".deps/models/SmolLM2-135M-Instruct.Q8_0.gguf"


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


def until(holds, timeout=60):
    """Waits until something is so."""
    deadline = time.monotonic() + timeout
    while not holds():
        assert time.monotonic() < deadline, "it never came to be so"
        time.sleep(0.02)
