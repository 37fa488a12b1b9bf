"""Bodies that no honest program sends: each is answered or refused in OpenAI's form, and the host goes on."""

import copy
import json
import random

import pytest

CHAT = {
    "model": "default",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "description": "x", "parameters": {"type": "object"}}}],
    "tool_choice": "auto", "stop": ["END"], "temperature": 0.5, "max_tokens": 5, "seed": 1, "stream": False,
    "response_format": {"type": "text"}, "logprobs": True, "top_logprobs": 2, "n": 1, "user": "u",
}
TEXT = {"model": "default", "prompt": "hi", "max_tokens": 5, "logprobs": 1, "stop": "x"}
VECTORS = {"model": "default", "input": ["a", "b"], "encoding_format": "float"}
ODD = [
    None, True, False, 0, -1, 1.5, 1e308, -(2**63), 2**64, "", "x", "\u0000", "\ud800", "a" * 70_000, [], {}, [[]], [None],
    {"a": 1}, {"type": "function"}, [{"type": "text"}], [1, "a"], {"role": "user"}, "required", "json_schema",
]


def places(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def changed(body, numbers):
    """A copy in which one thing is another, is gone, or is there twice."""
    body = copy.deepcopy(body)
    path = numbers.choice([path for path in places(body) if path])
    holder = body
    for key in path[:-1]:
        holder = holder[key]
    what = numbers.random()
    if what < 0.7:
        holder[path[-1]] = copy.deepcopy(numbers.choice(ODD))
    elif what < 0.85:
        del holder[path[-1]]
    elif isinstance(holder, list):
        holder.append(copy.deepcopy(holder[path[-1]]))
    else:
        holder[numbers.choice(["colour", "\u00e9", "role", "type", "content"])] = holder[path[-1]]
    return body


@pytest.fixture(scope="module")
def scripted(start, tmp_path_factory):
    script = tmp_path_factory.mktemp("script") / "script.json"
    script.write_text(json.dumps([[{"text": "Hi."}]]))
    host = start("--script", script)
    host.wait_for_model()
    return host


@pytest.mark.parametrize("path, body", [
    ("/v1/chat/completions", CHAT), ("/v1/completions", TEXT), ("/v1/embeddings", VECTORS)])
def test_odd_bodies_are_refused_or_answered(scripted, path, body):
    numbers = random.Random(11)
    seen = set()
    for _ in range(300):
        odd = body
        for _ in range(numbers.randint(1, 3)):
            odd = changed(odd, numbers)
        status, _, data = scripted.request(path, "POST", odd)
        seen.add(status)
        assert status in (200, 400, 404), (status, odd)
        if status != 200:
            error = json.loads(data)["error"]
            assert set(error) == {"message", "type", "param", "code"}, odd
            assert error["message"] and error["code"] and error["type"] == "invalid_request_error"
    assert 400 in seen and (200 in seen or path == "/v1/embeddings")
    assert scripted.json("/api/queue/status")[1]["processing"] == 0


@pytest.mark.parametrize("text", [
    b"", b"\xff", b"[" * 100_000, b'{"a":' * 100_000, b'{"model":"default","messages":' + b"[" * 5_000, b"null", b"1", b'"x"',
    b'{"model":"default","messages":[{"role":"user","content":"\\ud800"}]}', b"\xef\xbb\xbf{}",
])
def test_what_is_no_json_is_refused(scripted, text):
    status, _, data = scripted.request("/v1/chat/completions", "POST", text)

    assert status in (200, 400)
    if status == 400:
        assert json.loads(data)["error"]["type"] == "invalid_request_error"


def test_hostile_schemas_come_to_an_end(host):
    def nested(depth, wrap):
        schema = {"type": "string"}
        for _ in range(depth):
            schema = wrap(schema)
        return schema

    for schema in [
        nested(200, lambda inner: {"type": "object", "properties": {"a": inner}}),
        nested(12, lambda inner: {"anyOf": [inner, inner]}),
        {"$ref": "#"}, {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}},
        {"type": "string", "pattern": "(a+)+$"}, {"type": "string", "maxLength": 10**9}, {"enum": []},
        {"type": "object", "properties": {f"p{i}": {"type": "integer"} for i in range(5_000)}},
        {"type": 7}, {"type": ["x"]}, {"properties": 1},
    ]:
        for body in [
            {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}},
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}], "tool_choice": "required"},
        ]:
            status, told = host.json("/v1/chat/completions", "POST", {
                "model": "default", "max_tokens": 4, "messages": [{"role": "user", "content": "hi"}], **body})
            assert status in (200, 400), (status, told, schema)
            assert status == 200 or told["error"]["code"]
    assert host.json("/health")[0] == 200
