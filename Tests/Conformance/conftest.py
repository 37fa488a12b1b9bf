"""A running host with the starter model, and clients that nobody here wrote."""

import pytest
from clients import MODEL, Host, client


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
    assert MODEL.exists(), "There is no starter model; run `make bootstrap`."
    host = start("--model", MODEL)
    assert host.wait_for_model()["state"] == "Loaded"
    return host


@pytest.fixture(scope="session")
def api(host):
    return client(host)
