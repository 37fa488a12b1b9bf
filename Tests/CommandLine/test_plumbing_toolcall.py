"""alcove plumbing toolcall and grammar, from outside. The program is $ALCOVE_BIN, or the debug build."""
import json
import os
import pathlib
import random
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ALCOVE_BIN", str(ROOT / ".build/debug/alcove"))
TEXT = {"type": "string"}


def plumbing(part, *lines):
    asked = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run([PROGRAM, "plumbing", part], input=asked, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    return answers


def tool(name, **properties):
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": parameters}}


TOOLS = [tool("a", q=TEXT), tool("b"), tool("write_file", path=TEXT, content=TEXT)]
CASE_10 = (
    'Sure.<tool_call>{"name":"a","arguments":{"q":"x } ] \\" </tool"}}</tool_call>'
    '<tool_call>{"name":"b","arguments":{}}</tool_call>'
)


def said(answer):
    calls = [(call["name"], json.loads(call["arguments"])) for call in answer["tool_calls"]]
    return answer["content"], answer["reasoning_content"], calls


def test_any_split():
    lines = [{"format": "hermes", "tools": TOOLS, "input": CASE_10}]
    lines += [{"format": "hermes", "tools": TOOLS, "stream": [CASE_10[:n], CASE_10[n:]]} for n in range(1, len(CASE_10))]
    draw = random.Random(1)
    for _ in range(200):
        pieces, rest = [], CASE_10
        while rest:
            n = draw.randint(1, 4)
            pieces.append(rest[:n])
            rest = rest[n:]
        lines.append({"format": "hermes", "tools": TOOLS, "stream": pieces})
    for answer in plumbing("toolcall", *lines):
        assert said(answer) == ("Sure.", "", [("a", {"q": 'x } ] " </tool'}), ("b", {})])


def test_fences_inside_arguments():
    content = "# T\n\n```sh\necho '</tool_call>'\n```\n"
    call = json.dumps({"name": "write_file", "arguments": {"path": "a.md", "content": content}})
    (answer,) = plumbing("toolcall", {"format": "hermes", "tools": TOOLS, "input": f"<tool_call>\n{call}\n</tool_call>"})
    assert said(answer) == ("", "", [("write_file", {"path": "a.md", "content": content})])


@pytest.mark.parametrize(
    "format, text, expected",
    [
        ("qwen3.5", "Hm.\n</think>\n\nOk\n<tool_call>\n<function=a>\n<parameter=q>\nx\n</parameter>\n</function>\n</tool_call>",
         ("Ok\n", "Hm.\n", [("a", {"q": "x"})])),
        ("gemma4", 'Ok<|tool_call>call:a{q:<|"|>x<|"|>}<tool_call|>', ("Ok", "", [("a", {"q": "x"})])),
        ("harmony", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.a"
         ' <|constrain|>json<|message|>{"q":"x"}', ("", "Hm.", [("a", {"q": "x"})])),
        ("mistral", '[TOOL_CALLS][{"name": "a", "arguments": {"q": "x"}, "id": "123456789"}]', ("", "", [("a", {"q": "x"})])),
        ("llama3", '{"name": "a", "parameters": {"q": "x"}}', ("", "", [("a", {"q": "x"})])),
        ("content", "Only words.", ("Only words.", "", [])),
    ],
)
def test_formats(format, text, expected):
    (answer,) = plumbing("toolcall", {"format": format, "tools": TOOLS, "input": text})
    assert said(answer) == expected


def test_a_moment_of_it():
    (answer,) = plumbing(
        "toolcall", {"format": "hermes", "tools": TOOLS, "is_partial": True, "input": 'Hi <tool_call>{"name":"a","arguments":{"q":"x'}
    )
    assert answer["tool_calls"] == [{"name": "a", "arguments": '{"q":"x'}]


def test_what_is_broken_is_kept():
    (answer,) = plumbing("toolcall", {"format": "hermes", "tools": TOOLS, "input": "Hi <tool_call>do a</tool_call>"})
    assert answer["content"] == "Hi " and answer["tool_calls"] == []
    assert answer["broken"][0]["text"] == "<tool_call>do a</tool_call>"


def test_bad_lines_are_answered_and_the_next_one_is_read():
    answers = plumbing(
        "toolcall", "no json", {"id": 2}, {"id": 3, "format": "nope", "input": "x"}, {"id": 4, "template": "{% for %}", "input": "x"},
        {"id": 5, "template": "{% for i in range(1000000000) %}{% endfor %}", "input": "x"},
        {"id": 6, "format": "content", "input": "fine"},
    )
    assert all("error" in answer for answer in answers[:5])
    assert answers[5] == {"id": 6, "content": "fine", "reasoning_content": "", "tool_calls": []}


def test_grammars():
    schema, tools = plumbing("grammar", {"schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}, {"tools": TOOLS})
    assert schema["grammar"].find("root ::=") >= 0 and schema["dropped"] == []
    assert '"write_file"' in tools["grammar"] and tools["dropped"] == []


def test_hostile_schemas():
    deep = TEXT
    for _ in range(100):
        deep = {"type": "object", "properties": {"a": deep}}
    doubling = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)} | {"d30": TEXT}
    schemas = [
        deep, {"$ref": "#"}, {"type": "nope"}, {"$ref": "https://example.com/x"}, {"type": "string", "maxLength": 10**9},
        {"type": "string", "pattern": "^" + "(" * 500 + "a" + ")" * 500 + "$"}, {"$ref": "#/$defs/d0", "$defs": doubling},
        {"type": "object", "properties": {f"p{n}": TEXT for n in range(2000)}},
    ]
    start = time.monotonic()
    for schema in schemas:
        alone, as_tool = plumbing(
            "grammar", {"schema": schema},
            {"tools": TOOLS + [{"type": "function", "function": {"name": "odd", "description": "", "parameters": schema}}]},
        )
        assert "error" in alone, schema
        assert as_tool["dropped"] == ["odd"], schema
        assert "tool-odd" in as_tool["grammar"]
    assert time.monotonic() - start < 10 * len(schemas)
