"""What the tests of the program share: the program, the model, a folder of their own."""

import json
import os
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from program import MODEL, PROGRAM, Host
from range_server import RangeServer


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


@pytest.fixture
def range_server():
    """Starts servers that hand out bytes in parts, and misbehave when told to; they end with the test."""
    servers = []

    def start(data, **rest):
        servers.append(RangeServer(data, **rest))
        return servers[-1]

    yield start
    for one in servers:
        one.close()


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
