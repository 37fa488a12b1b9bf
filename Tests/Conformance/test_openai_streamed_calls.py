"""Calls that are streamed while they are written, as the `openai` package reads them."""

import json

import openai
import pytest
from clients import client

ASK = [{"role": "user", "content": "Do it."}]
TOOLS = [{"type": "function", "function": {"name": name, "description": "A tool.", "parameters": {
    "type": "object", "properties": {"x": {"type": "string"}}}}} for name in ("a", "b")]
ARGUMENTS = '{"x": "é \\" 你好", "n": [1, 2]}'


def part(index, arguments, name=None):
    return {"part": {"index": index, "arguments": arguments, **({"name": name} if name else {})}}


def whole(name, arguments):
    return {"call": {"name": name, "arguments": arguments}}


@pytest.fixture
def scripted(start, tmp_path):
    def begin(*steps):
        file = tmp_path / "script.json"
        file.write_text(json.dumps([steps]))
        host = start("--script", file)
        host.wait_for_model()
        return client(host)

    return begin


def collect(stream):
    """Calls put together as the package's users do it, and the chunks themselves."""
    calls, chunks = {}, []
    for chunk in stream:
        chunks.append(chunk)
        for choice in chunk.choices:
            for delta in choice.delta.tool_calls or []:
                call = calls.setdefault(delta.index, {"id": None, "name": None, "pieces": []})
                if delta.id:
                    assert call["id"] is None and delta.type == "function"
                    call["id"], call["name"] = delta.id, delta.function.name
                assert call["id"], "a piece came before the call's id and name"
                call["pieces"].append(delta.function.arguments or "")
    return calls, chunks


def test_pieces_come_as_they_are_written_and_make_the_same_arguments(scripted):
    pieces = [ARGUMENTS[at:at + 5] for at in range(0, len(ARGUMENTS), 5)]
    api = scripted(
        {"text": "Sure."}, part(0, "", "a"), *[part(0, piece) for piece in pieces[:-1]], whole("a", ARGUMENTS),
        part(1, "{", "b"), whole("b", "{}"))

    calls, chunks = collect(api.chat.completions.create(model="default", messages=ASK, tools=TOOLS, stream=True))
    plain = api.chat.completions.create(model="default", messages=ASK, tools=TOOLS)

    assert len(calls[0]["pieces"]) > 5
    told = [(call["name"], "".join(call["pieces"])) for _, call in sorted(calls.items())]
    assert told == [(call.function.name, call.function.arguments) for call in plain.choices[0].message.tool_calls]
    assert told[0][1] == ARGUMENTS and calls[0]["id"] != calls[1]["id"]
    assert chunks[-1].choices[0].finish_reason == plain.choices[0].finish_reason == "tool_calls"


def test_the_packages_own_collector_agrees(scripted):
    api = scripted(part(0, '{"x": ', "a"), part(0, '"y"'), whole("a", '{"x": "y"}'))

    with api.chat.completions.stream(model="default", messages=ASK, tools=TOOLS) as stream:
        kinds = [event.type for event in stream]
        (call,) = stream.get_final_completion().choices[0].message.tool_calls

    assert (call.function.name, call.function.arguments) == ("a", '{"x": "y"}')
    # One for the head with its empty arguments, too.
    assert kinds.count("tool_calls.function.arguments.delta") == 4 and "tool_calls.function.arguments.done" in kinds


def test_a_call_cut_by_the_limit_ends_as_openai_ends_one(scripted):
    api = scripted(part(0, '{"x": "y', "a"), {"end": "length"})

    calls, chunks = collect(api.chat.completions.create(model="default", messages=ASK, tools=TOOLS, stream=True))

    assert "".join(calls[0]["pieces"]) == '{"x": "y' and chunks[-1].choices[0].finish_reason == "length"


def test_a_call_that_breaks_is_seen_in_its_arguments(scripted):
    api = scripted(part(0, '{"x"', "a"), {"broken": 'a {"x" oops'}, {"end": "stop"})

    calls, chunks = collect(api.chat.completions.create(model="default", messages=ASK, tools=TOOLS, stream=True))

    with pytest.raises(json.JSONDecodeError):
        json.loads("".join(calls[0]["pieces"]))
    assert "".join(calls[0]["pieces"]) == '{"x" oops' and chunks[-1].choices[0].finish_reason == "stop"
    assert chunks[-1].model_extra["notices"] == ["This is not written as a tool call."]


def test_a_broken_call_that_a_client_could_act_on_is_an_error(scripted):
    api = scripted(part(0, "{}", "a"), {"broken": "<call>"}, {"end": "stop"})

    with pytest.raises(openai.APIError) as refused:
        collect(api.chat.completions.create(model="default", messages=ASK, tools=TOOLS, stream=True))

    assert refused.value.code == "tool_call_broken"


def test_the_real_models_call_is_streamed_in_pieces(api):
    tools = [{"type": "function", "function": {"name": "save", "description": "Saves a text.", "parameters": {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}}]
    asked = dict(
        model="default", messages=[{"role": "user", "content": "Save a short text about the sea."}], tools=tools,
        tool_choice="required", temperature=0, seed=1, max_tokens=120, parallel_tool_calls=False)

    calls, chunks = collect(api.chat.completions.create(stream=True, **asked))
    plain = api.chat.completions.create(**asked)

    assert calls and calls[0]["name"] == "save"
    if plain.choices[0].message.tool_calls:
        assert "".join(calls[0]["pieces"]) == plain.choices[0].message.tool_calls[0].function.arguments
    assert chunks[-1].choices[0].finish_reason == plain.choices[0].finish_reason
