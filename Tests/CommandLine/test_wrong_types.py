"""Every field of every route that takes JSON, with values of every wrong kind: an answer, or a sentence with a code, and a host that lives."""

import json
import random

import pytest
from test_agent import script

DEEP = b"[" * 100_000 + b"]" * 100_000
VALUES = [
    b"null", b"[]", b'[1,null,{},"x"]', b"{}", json.dumps("x" * 70_000).encode(), b"-1", b"1e308", b"1e999", b"NaN", b"9" * 30, b"0.5", b"true",
    b'""', b'"a\\u0000b\\u0007\\u202e"', b'"a\x01b"', b'"\\ud800"', b'"\xff\xfe"', DEEP, b'{"a":' * 300 + b"1" + b"}" * 300, b'"../../etc/passwd"',
    b"9223372036854775807", b"-9223372036854775808", b'["../x"]',
]
MESSAGE = {"role": "user", "content": "Hi."}
ATTACHED = {**MESSAGE, "attachments": [{"file": "a" * 32 + ".txt", "fileName": "x.txt"}]}
CHAT = "/api/agent/conversations/{chat}"
OPENAI = {"model": "x", "messages": [MESSAGE]}
SETTINGS = ["selectedModelId", "allowCodeExecution", "allowNetwork", "maxTokens", "toolTimeoutSeconds", "thinkByDefault", "contextLength",
            "downloadOptionalFiles", "uploadQuotaMB", "nobodyKnowsIt"]

# The route, the place of the field, the body around it.
FIELDS = (
    [("/api/chat", [name], {"messages": [MESSAGE]}) for name in (
        "messages", "sessionId", "maxTokens", "think", "skills", "shareIds", "model", "backend", "profile", "temperature", "topK", "topP", "minP",
        "repetitionPenalty", "frequencyPenalty", "presencePenalty", "seed", "tool_choice")]
    + [("/api/chat", ["messages", 0], {"messages": [MESSAGE]})]
    + [("/api/chat", ["messages", 0, name], {"messages": [MESSAGE]}) for name in (
        "role", "content", "attachments", "imagePaths", "videoFilePaths", "audioPaths", "textFilePaths", "textFileNames", "thinking", "steps")]
    + [("/api/chat", ["messages", 0, "attachments", 0, name], {"messages": [ATTACHED]}) for name in ("file", "fileName")]
    + [("/api/models/load", ["model"], {}), ("/api/models/load", ["backend"], {"model": "x"}), ("/api/models/load", ["mmproj"], {"model": "x"}),
       ("/api/models/import", ["path"], {}), ("/api/models/import", ["copy"], {"path": "/nothing.gguf"}),
       ("/api/agent/catalog/smollm2-135m-q8/download", ["optional"], {}), (CHAT, ["title"], {}), (CHAT + "/branch", ["messages"], {}),
       ("/api/agent/conversations/delete", ["ids"], {}), ("/api/agent/conversations/delete", ["ids", 0], {"ids": ["x"]}),
       ("/api/agent/approvals/a", ["outcome"], {"signature": "x"}), ("/api/agent/approvals/a", ["signature"], {"outcome": "allowed"}),
       ("/api/agent/share/discard", ["id"], {}), ("/api/agent/import", ["conversations"], {})]
    + [("/api/agent/settings", [name], {}) for name in SETTINGS]
    + [("/api/agent/import", [name], {"title": "t", "messages": [MESSAGE]}) for name in ("id", "title", "messages", "createdAt", "updatedAt", "modelId", "skills")]
    + [("/v1/chat/completions", [name], OPENAI) for name in ("model", "messages", "stream", "tools", "tool_choice", "response_format", "stop", "seed", "top_logprobs")]
    + [("/v1/completions", [name], {"model": "x", "prompt": "Hi"}) for name in ("prompt", "stop", "logprobs", "max_tokens")]
    + [("/v1/embeddings", [name], {"model": "x", "input": "Hi"}) for name in ("input", "dimensions", "encoding_format")]
)


def body(place, value, around):
    """The body as bytes: some values are no JSON at all."""
    whole = json.loads(json.dumps(around))
    inner = whole
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = "@HERE@"
    return json.dumps(whole).encode().replace(b'"@HERE@"', value)


def test_wrong_values_everywhere_are_told_and_hurt_nothing(serve, tmp_path):
    host = serve("--port", 0, "--script", script(tmp_path, [{"text": "Hello."}])).wait()
    host.wait_for_model()
    session = host.session()
    host.chat(session["sessionId"], [MESSAGE])
    cases = [(route, place, value, around) for route, place, around in FIELDS for value in VALUES]
    cases += [(route, None, value, None) for route in sorted({route for route, _, _ in FIELDS}) for value in VALUES]
    random.Random(7).shuffle(cases)

    for route, place, value, around in cases:
        sent = value if place is None else body(place, value, around)
        status, _, data = host.request(route.format(chat=session["conversationId"]), "POST", sent)
        if status == 200 or (route.endswith("discard") and status == 409):
            continue
        said = json.loads(data)
        told = said["error"] if isinstance(said["error"], dict) else {**said, "message": said["error"]}
        assert 400 <= status < 500 and told["code"] and told["message"].rstrip().endswith("."), (route, place, value[:80], status, data)
        if value in (b"NaN", b"1e999", DEEP):
            assert told["code"] == "bad_json", (route, place, value[:80], data)

    assert host.process.poll() is None
    assert host.json("/api/agent/conversations")[0] == 200
    assert host.stop() == 0


@pytest.mark.parametrize("wrong", ["2", {}, [1], 1.5, True])
def test_a_branch_at_no_number_copies_nothing(serve, tmp_path, wrong):
    host = serve("--port", 0, "--script", script(tmp_path, [{"text": "Hello."}])).wait()
    host.wait_for_model()
    session = host.session()
    host.chat(session["sessionId"], [MESSAGE])

    status, refusal = host.json(CHAT.format(chat=session["conversationId"]) + "/branch", "POST", {"messages": wrong})

    assert (status, refusal["code"]) == (400, "bad_number")
    assert len(host.json("/api/agent/conversations")[1]["conversations"]) == 1


@pytest.mark.parametrize("wrong", ["none", "any", 1, {"type": "function"}])
def test_a_choice_of_tools_nobody_knows_is_no_choice_for_all(serve, wrong):
    host = serve("--port", 0, "--no-model").wait()
    status, refusal = host.json("/api/chat", "POST", {"messages": [MESSAGE], "tool_choice": wrong})
    assert status == 400 and refusal["code"] in ("bad_tool_choice", "bad_field")


def test_ids_that_are_no_texts_are_refused(serve):
    host = serve("--port", 0, "--no-model").wait()
    assert host.json("/api/agent/conversations/delete", "POST", {"ids": [1]})[1]["code"] == "bad_field"
    assert host.json("/api/agent/conversations/delete", "POST", {"ids": ["gone"]}) == (200, {"deleted": 0})


def test_a_chat_with_damaged_messages_goes_on_and_keeps_them(serve, tmp_path):
    host = serve("--port", 0, "--script", script(tmp_path, [{"text": "Hello."}])).wait()
    host.wait_for_model()
    chat = "c" * 32
    odd = [{"role": "robot", "content": "a"}, {"role": "assistant", "content": {"parts": []}}, {"content": "Nobody's."}]
    host.json("/api/agent/import", "POST", {"id": chat, "title": "Old", "messages": [MESSAGE, *odd]})
    session = host.session(chat)

    status, frames = host.chat(session["sessionId"], session["messages"] + [{"role": "user", "content": "Go on."}])

    assert status == 200 and frames[-1]["error"] is None
    kept = host.json(f"/api/agent/conversations/{chat}")[1]["messages"]
    assert [message.get("content") for message in kept] == ["Hi.", "a", {"parts": []}, "Nobody's.", "Go on.", "Hello."]
    # What no chat has kept is a mistake of whoever sends it.
    assert host.chat(session["sessionId"], [odd[0], MESSAGE])[1]["code"] == "bad_role"
