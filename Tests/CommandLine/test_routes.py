"""Rows of the host's routes that no other test looks at: shapes of answers, sessions, frames from odd places."""

import http.client
import json

import pytest
from test_agent import script

HELLO = [{"role": "user", "content": "Hi."}]


def answered(serve, tmp_path):
    host = serve("--port", 0, "--script", script(tmp_path, [{"reasoning": "Hm."}, {"text": "Hello."}])).wait()
    host.wait_for_model()
    session = host.session()
    status, headers, data = host.request("/api/chat", "POST", {"sessionId": session["sessionId"], "messages": HELLO})
    assert status == 200
    return host, session, headers["X-Alcove-Turn"], data


def test_what_is_loaded_is_told_with_every_member(serve):
    host = serve("--port", 0, "--no-model").wait()
    members = {"models", "mmProjModels", "loaded", "loadedMmProj", "visionReady", "audioReady", "acceptsVisionProjector", "loadedBackend", "defaultBackend",
               "supportedBackends", "architecture", "contextTokens", "modelContextTokens", "defaultMaxTokens", "video", "skills"}
    models = host.json("/api/models")[1]
    assert members <= set(models) and models["loaded"] is None and models["loadedBackend"] is None
    assert models["defaultMaxTokens"] == 2048
    engine = host.json("/api/agent/engine")[1]
    assert {"engine", "networkDisabledMessage", "modelRoot", "conversationRoot"} <= set(engine)
    assert engine["model"]["state"] == "None" and engine["model"]["id"] is None
    assert host.json("/api/queue/status")[1] == {"busy": False, "processing": 0, "pending_requests": 0, "total_processed": 0, "running": [], "waiting": 0, "places": 0}


def test_the_page_is_told_which_chat_to_go_on_with(serve):
    host = serve("--port", 0, "--no-model").wait()
    assert host.json("/api/agent/launch")[1] == {"cold": True, "conversation": None}
    session = host.session()
    assert host.json("/api/agent/launch")[1] == {"cold": False, "conversation": session["conversationId"]}


def test_a_session_is_opened_let_go_and_then_unknown(serve, tmp_path):
    host, session, turn, _ = answered(serve, tmp_path)
    id, chat = session["sessionId"], session["conversationId"]
    assert {"sessionId", "conversationId", "title", "messages", "think", "skills", "skillsExplicit", "modelId", "activeTurn"} <= set(session)
    again = host.session(chat)
    assert again["conversationId"] == chat and [message["role"] for message in again["messages"]] == ["user", "assistant"]
    assert again["activeTurn"]["id"] == turn and again["activeTurn"]["running"] is False

    assert host.json(f"/api/sessions/{id}", "DELETE") == (200, {"ok": True, "sessionId": id})
    assert host.json(f"/api/sessions/{id}", "DELETE")[1]["code"] == "unknown_session"
    assert host.chat(id, HELLO) == (404, host.json("/api/chat", "POST", {"sessionId": id, "messages": HELLO})[1])
    assert len(host.json(f"/api/agent/conversations/{chat}")[1]["messages"]) == 2
    assert host.json("/api/sessions?conversation=" + "0" * 32, "POST")[0] == 404


def test_an_empty_chat_is_not_listed_and_is_the_next_new_one(serve):
    host = serve("--port", 0, "--no-model").wait()
    chat = host.json("/api/agent/conversations", "POST")[1]
    assert chat["messages"] == [] and host.json("/api/agent/conversations")[1] == {"conversations": []}
    assert host.session()["conversationId"] == chat["id"]
    assert host.json(f"/api/agent/conversations/{chat['id']}", "DELETE")[1] == {"deleted": True}
    assert host.json(f"/api/agent/conversations/{chat['id']}", "DELETE")[1] == {"deleted": False}


def test_a_summary_and_a_chat_have_their_members(serve, tmp_path):
    host, session, _, _ = answered(serve, tmp_path)
    [summary] = host.json("/api/agent/conversations")[1]["conversations"]
    assert {"id", "title", "createdAt", "updatedAt", "modelId", "messageCount"} <= set(summary)
    assert summary["messageCount"] == 2 and summary["title"] == "Hi."
    chat = host.json(f"/api/agent/conversations/{session['conversationId']}")[1]
    assert chat["messages"][1]["content"] == "Hello." and chat["messages"][1]["thinking"] == "Hm."
    renamed = host.json(f"/api/agent/conversations/{session['conversationId']}", "POST", {"title": "  "})[1]
    assert renamed["title"] == "Hi."


def test_a_turn_is_read_from_any_place(serve, tmp_path):
    host, session, turn, whole = answered(serve, tmp_path)
    status, headers, again = host.request(f"/api/agent/turns/{turn}")
    assert headers["X-Alcove-Turn"] == turn
    # The session is said only to the request that named it.
    last = [json.loads(line[6:]) for line in again.decode().splitlines() if line.startswith("data: ")][-1]
    assert last["done"] is True and {"tokenCount", "elapsed", "tokPerSec", "aborted", "truncated", "error", "sessionId", "promptTokens",
                                     "kvReusedTokens", "kvReusePercent"} <= set(last)
    assert host.request(f"/api/agent/turns/{turn}?from=-5")[2] == again
    frames = host.json(f"/api/agent/turns?conversation={session['conversationId']}")[1]["turn"]["frames"]
    assert host.request(f"/api/agent/turns/{turn}?from={frames}")[2] == b""
    assert host.request(f"/api/agent/turns/{turn}?from=999999")[2] == b""
    assert host.json(f"/api/agent/turns/{turn}?from=x")[1]["code"] == "bad_number"
    assert host.json("/api/agent/turns?conversation=" + "0" * 32)[1] == {"turn": None}
    assert host.json("/api/agent/turns")[1]["code"] == "no_conversation"
    assert host.json(f"/api/agent/turns/{turn}/stop", "POST")[1] == {"stopped": False, "id": turn}
    assert host.json("/api/agent/turns/" + "0" * 32 + "/stop", "POST")[1]["code"] == "unknown_turn"


def test_loading_another_model_ends_the_answer_and_keeps_its_words(serve, model):
    """A load takes the model away from whoever is answering: what was said stays."""
    host = serve("--port", 0, "--model", model, "--context", 2048).wait()
    host.wait_for_model()
    session = host.session()
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=120)
    connection.request("POST", "/api/chat", json.dumps({
        "sessionId": session["sessionId"], "messages": [{"role": "user", "content": "Tell me a very long story."}], "maxTokens": 1500}),
        {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    while b'"token"' not in answer.readline():
        pass
    status, loaded = host.json("/api/models/load", "POST", {"model": model})
    assert (status, loaded["ok"]) == (200, True)
    frames = [json.loads(line[6:]) for line in answer.read().decode().splitlines() if line.startswith("data: ")]
    assert frames[-1]["done"] is True and [frame for frame in frames if "done" in frame] == [frames[-1]]
    messages = host.json(f"/api/agent/conversations/{session['conversationId']}")[1]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] and messages[1]["content"]
    assert host.chat(session["sessionId"], HELLO, maxTokens=3)[1][-1]["error"] is None


@pytest.mark.parametrize("more, code", [
    ({"backend": "ggml_metal"}, "unsupported_backend"), ({"backend": 5}, "unsupported_backend"), ({"mmproj": "eyes.gguf"}, "unsupported_projector")])
def test_a_load_is_not_done_otherwise_than_it_was_asked_for(serve, model, more, code):
    host = serve("--port", 0, "--no-model").wait()
    status, refusal = host.json("/api/models/load", "POST", {"model": model, **more})
    assert (status, refusal["code"]) == (400, code)
    assert host.json("/api/models")[1]["loaded"] is None
