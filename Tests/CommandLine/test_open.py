"""`alcove open`: words for the page's box, offered once, never sent by themselves."""

import json
import os

import pytest
from test_agent import host_with


def leave(alcove, root, *words):
    return alcove("open", "--root", root, "--no-browser", *words)


def claim(host):
    return host.json("/api/agent/share/claim", "POST", {})[1]["share"]


def discard(host, offer):
    return host.json("/api/agent/share/discard", "POST", {"id": offer["id"]})[0]


def test_words_wait_until_a_page_has_taken_them(serve, alcove, root):
    told = leave(alcove, root, "--ask", "What is due\x1b[31m, \u202eAnn?\n")
    assert told.returncode == 0 and "Nothing is sent by itself" in told.stdout
    host = serve("--port", 0, "--no-model").wait()

    offer = claim(host)
    assert (offer["entry"], offer["text"], offer["chat"]) == ("ask", "What is due[31m, Ann?", None)
    assert offer["newChat"] and not offer["autoSend"] and offer["attachments"] == []
    assert claim(host) == offer
    assert (discard(host, offer), discard(host, offer)) == (200, 409)
    assert claim(host) is None
    assert host.json("/api/agent/conversations")[1]["conversations"] == []
    assert host.json("/api/agent/runs")[1]["runs"] == []


def test_continue_goes_to_the_chat_that_is_meant(serve, alcove, root, tmp_path):
    host = host_with(serve, tmp_path, [{"text": "Yes."}])
    chats = []
    for _ in range(2):
        session = host.session()
        host.chat(session["sessionId"], [{"role": "user", "content": "Hello."}])
        chats.append(session["conversationId"])
    gone = "0" * 32

    for name, chat, text in [
        (chats[0], chats[0], "And?"), (chats[0][:8], chats[0], ""), ("last", chats[1], ""), (gone, None, "And?"),
    ]:
        words = ["--ask", text] if text else []
        assert leave(alcove, root, "--continue", name, *words).returncode == 0
        offer = claim(host)
        assert (offer["entry"], offer["chat"], offer["text"]) == ("continue", chat, text)
        assert offer["newChat"] == (chat is None) and len(offer["notices"]) == (chat is None)
        assert discard(host, offer) == 200


@pytest.mark.parametrize(("words", "code"), [
    (["--ask", " \x07"], 1), (["--continue", "../../etc"], 1), (["--continue", "ab"], 1),
    (["--capture", "a", "--ask", "b"], 64), ([], 69),
])
def test_what_cannot_be_left_is_said_and_leaves_nothing(alcove, root, words, code):
    told = leave(alcove, root, *words)

    assert told.returncode == code and told.stderr
    assert not (root / "share").exists() or os.listdir(root / "share") == []


def test_an_envelope_of_somebody_else_is_cleaned_too(serve, root):
    host = serve("--port", 0, "--no-model").wait()
    name = "0" * 12 + "a" * 20
    (root / "share" / name).mkdir(parents=True)
    (root / "share" / name / "envelope.json").write_text(json.dumps(
        {"id": name, "entry": "ask", "text": "a\u202e\x00b" + "c" * 9000, "url": "http://evil", "chat": 5, "files": []}))

    offer = claim(host)

    assert offer["text"].startswith("abccc") and len(offer["text"]) == 3900 and "evil" not in offer["text"]


def test_the_page_of_a_running_host_is_opened(serve, alcove, root, tmp_path):
    host = serve("--port", 0, "--no-model").wait()

    assert leave(alcove, root).returncode == 0
    assert host.stop() == 0
    assert leave(alcove, root).returncode == 69


def test_commands_are_taken_where_a_message_says_so(serve):
    host = serve("--port", 0, "--no-model").wait()
    session = host.session()
    message = [{"role": "user", "content": "what is 2^10, then list tasks"}]

    status, frames = host.chat(session["sessionId"], message, commands=True)
    assert status == 200 and "2^10 = 1024" in "".join(frame.get("token", "") for frame in frames)
    assert host.json("/api/agent/runs")[1]["runs"][0]["profile"] == "assistant"
    for rest, code in [({}, "no_model"), ({"commands": "yes"}, "bad_field"), ({"commands": False}, "no_model")]:
        assert host.chat(host.session()["sessionId"], message, **rest)[1]["code"] == code
    status, refused = host.chat(host.session()["sessionId"], [{"role": "user", "content": "Hello there"}], commands=True)
    assert (status, refused["code"]) == (400, "no_model")
