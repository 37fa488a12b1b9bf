"""Clients that nobody here wrote, and the program they talk to."""

import sys
from pathlib import Path

import openai

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "CommandLine"))

from program import MODEL, REPOSITORY, Host  # noqa: E402, F401


def client(host, **rest):
    rest.setdefault("api_key", host.token)
    rest.setdefault("max_retries", 0)
    return openai.OpenAI(base_url=host.url + "/v1", timeout=120, **rest)
