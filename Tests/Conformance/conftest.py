"""A running host with the starter model, and clients that nobody here wrote."""

import importlib.util
import sys
from pathlib import Path

import openai
import pytest

# What the tests of the program share, under a name of its own: this folder's conftest has the same one.
_path = Path(__file__).resolve().parents[1] / "CommandLine/conftest.py"
_spec = importlib.util.spec_from_file_location("alcove_program", _path)
program = importlib.util.module_from_spec(_spec)
sys.modules["alcove_program"] = program
_spec.loader.exec_module(program)

Host = program.Host
MODEL = str(program.MODEL)


def client(host, **rest):
    rest.setdefault("api_key", host.token)
    rest.setdefault("max_retries", 0)
    return openai.OpenAI(base_url=host.url + "/v1", timeout=120, **rest)


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    """Starts hosts, each with a folder of its own, and ends them."""
    hosts = []

    def start(*words):
        host = Host(tmp_path_factory.mktemp("host") / "root", "--threads", "1", "--port", 0, *words)
        hosts.append(host)
        return host.wait()

    yield start
    for host in hosts:
        host.stop()


@pytest.fixture(scope="session")
def host(start):
    assert program.MODEL.exists(), "There is no starter model; run `make bootstrap`."
    host = start("--model", MODEL)
    assert host.wait_for_model()["state"] == "Loaded"
    return host


@pytest.fixture(scope="session")
def api(host):
    return client(host)
