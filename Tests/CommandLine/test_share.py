"""The share inbox: written by `alcove share`, offered to the page, gone when a message has taken it."""

import http.client
import json
import os
import random
import subprocess

import pytest
from program import PROGRAM
from test_agent import host_with


def share(alcove, root, *words, **rest):
    return alcove("share", "--root", root, *words, **rest)


def claim(host):
    return host.json("/api/agent/share/claim", "POST", {})[1]["share"]


def pending(host):
    return host.json("/api/agent/share")[1]["pending"]


def send(host, session, shared, text="About this."):
    return host.chat(session["sessionId"], [{"role": "user", "content": text}], shareIds=shared)


def test_what_is_shared_is_offered_until_a_message_has_taken_it(serve, alcove, root, tmp_path):
    note = tmp_path / "Notes of today.txt"
    note.write_text("Buy milk.")
    assert share(alcove, root, note, "--text", "What is this?", "--title", "Notes").returncode == 0
    host = host_with(serve, tmp_path, [{"text": "It is a list."}])

    assert pending(host) == 1
    offer = claim(host)
    assert offer["text"] == "What is this?" and offer["title"] == "Notes" and offer["newChat"] and not offer["autoSend"]
    attachment = offer["attachments"][0]
    assert attachment["fileName"] == "Notes of today.txt" and attachment["textContent"] == "Buy milk."
    assert host.request(attachment["url"])[2] == b"Buy milk."
    assert claim(host) == offer and pending(host) == 1  # looking takes nothing

    session = host.session()
    status, frames = send(host, session, [offer["id"]])
    assert status == 200 and frames[-1]["done"] is True
    assert claim(host) is None and pending(host) == 0
    assert list((root / "share").iterdir()) == []
    assert send(host, session, [offer["id"]])[1]["code"] == "shared_draft_unavailable"


def test_the_older_one_comes_first_and_each_by_itself(serve, alcove, root, tmp_path):
    for text in ("first", "second"):
        share(alcove, root, "--text", text)
    host = host_with(serve, tmp_path, [{"text": "Yes."}])
    first = claim(host)
    assert first["text"] == "first"
    session = host.session()
    ids = sorted(name.split(".")[0] for name in os.listdir(root / "share"))
    assert send(host, session, ids)[1]["code"] == "multiple_shared_drafts"
    assert send(host, session, [ids[1]])[0] == 409  # not the one that is offered
    assert send(host, session, [ids[0]])[0] == 200
    assert claim(host)["text"] == "second"


def test_a_refused_message_gives_it_back(serve, alcove, root, model):
    share(alcove, root, "--text", "x")
    host = serve("--port", 0, "--model", model, "--context", 256).wait()
    host.wait_for_model()
    offer = claim(host)
    session = host.session()
    status, refusal = send(host, session, [offer["id"]], "word " * 400)
    assert (status, refusal["code"]) == (400, "prompt_too_long")
    for _ in range(100):
        status, _ = send(host, session, [offer["id"]], "Hello.")
        if status == 200:
            break
    assert status == 200 and pending(host) == 0


def test_what_is_discarded_takes_its_uploads_along(serve, alcove, root, tmp_path):
    picture = tmp_path / "a.txt"
    picture.write_text("secret")
    share(alcove, root, picture)
    share(alcove, root, "--text", "next")
    host = serve("--port", 0, "--no-model").wait()
    offer = claim(host)
    assert host.json("/api/agent/share/discard", "POST", {"id": "0" * 32}) == (409, {"ok": False})
    assert host.json("/api/agent/share/discard", "POST", {"id": offer["id"]}) == (200, {"ok": True})
    assert host.request(offer["attachments"][0]["url"])[0] == 404
    assert claim(host)["text"] == "next"


def test_a_claim_outlives_the_host_and_takes_its_files_in_once(serve, alcove, root, tmp_path):
    note = tmp_path / "a.txt"
    note.write_text("words")
    share(alcove, root, note)
    host = serve("--port", 0, "--no-model").wait()
    offer = claim(host)
    host.stop(9)
    again = serve("--port", 0, "--no-model").wait()
    assert claim(again) == offer
    uploads = [name for name in os.listdir(root / "uploads") if not name.startswith(".")]
    assert uploads == [offer["attachments"][0]["file"]]


def test_what_cannot_be_shared_is_said_and_leaves_nothing(alcove, root, tmp_path):
    big = tmp_path / "big.txt"
    with big.open("wb") as file:
        file.truncate(501 << 20)
    for words, code in [
        ([], "nothing to share"), (["--text", "  "], "nothing to share"), ([tmp_path / "gone.txt"], "gone.txt"),
        ([tmp_path], "not a file"), (["--url", "javascript:alert(1)"], "web address"),
        (["--text", "a" * (120 << 10), "--url", "http://a b"], "web address"), ([big], "larger than 500 MB"),
    ]:
        result = share(alcove, root, *words)
        assert result.returncode != 0 and code in result.stderr, (words, result.stderr)
        assert not (root / "share").exists() or list((root / "share").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named_with_the_reason(alcove, tmp_path):
    (tmp_path / "file").write_text("")
    result = share(alcove, tmp_path / "file" / "root", "--text", "Hello.")
    assert result.returncode == 1
    assert "root/share cannot be made: Not a directory." in result.stderr


def test_files_the_host_cannot_take_are_named_and_the_rest_comes_along(serve, alcove, root, tmp_path):
    (tmp_path / "good.txt").write_text("fine")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "strange.xyz").write_bytes(b"\0\1\2")
    share(alcove, root, tmp_path / "empty.txt", tmp_path / "strange.xyz", tmp_path / "good.txt")
    host = serve("--port", 0, "--no-model").wait()
    offer = claim(host)
    assert [attachment["fileName"] for attachment in offer["attachments"]] == ["good.txt"]
    assert len(offer["notices"]) == 2
    assert all(name in " ".join(offer["notices"]) for name in ("empty.txt", "strange.xyz"))


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"id": "x"}', '{"id": "ID", "files": [{"place": "../../connection.json", "name": "a.txt"}]}'])
def test_an_envelope_somebody_damaged_is_put_aside(serve, alcove, root, damage):
    share(alcove, root, "--text", "bad")
    share(alcove, root, "--text", "good")
    first = sorted(os.listdir(root / "share"))[0]
    (root / "share" / first / "envelope.json").write_text(damage.replace("ID", first))
    host = serve("--port", 0, "--no-model").wait()
    assert claim(host)["text"] == "good"
    assert (root / "share" / f".unreadable-{first}").exists()


def test_links_and_strange_names_in_the_inbox_lead_nowhere(serve, root, tmp_path):
    inbox = root / "share"
    inbox.mkdir(parents=True)
    identifier = "0" * 32
    (inbox / identifier).mkdir()
    (inbox / identifier / "envelope.json").write_text(json.dumps(
        {"id": identifier, "text": "look", "files": [{"place": "0", "name": "passwd.txt", "bytes": 1}]}))
    (inbox / identifier / "0").symlink_to("/etc/passwd")
    (inbox / "README").write_text("not an envelope")
    host = serve("--port", 0, "--no-model").wait()
    offer = claim(host)
    assert offer["attachments"] == [] and "passwd.txt" in offer["notices"][0]
    assert pending(host) == 1


def test_a_kill_while_sharing_shows_all_of_it_or_nothing(serve, alcove, root, tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("line of text\n" * 400_000)
    chance = random.Random(7)
    whole = 0
    for _ in range(20):
        process = subprocess.Popen([PROGRAM, "share", "--root", root, source, "--text", "x"], stdout=subprocess.PIPE)
        try:
            process.wait(chance.random() * 0.06)
        except subprocess.TimeoutExpired:
            process.kill()
        said = process.communicate()[0]
        ready = [name for name in os.listdir(root / "share") if not name.startswith(".")] if (root / "share").exists() else []
        if said:
            whole += 1
        assert len(ready) >= whole  # what it has said is there
        for name in ready:
            assert (root / "share" / name / "0").stat().st_size == source.stat().st_size
            json.loads((root / "share" / name / "envelope.json").read_text())
    host = serve("--port", 0, "--no-model").wait()
    assert pending(host) == len(ready)
    while offer := claim(host):
        assert offer["text"] == "x"
        host.json("/api/agent/share/discard", "POST", {"id": offer["id"]})
    assert pending(host) == 0


def test_a_kill_between_a_kept_message_and_its_share_repeats_nothing(serve, alcove, root, tmp_path):
    # The message is kept and the envelope still claimed: it is offered again, never sent by itself.
    share(alcove, root, "--text", "x")
    host = host_with(serve, tmp_path, [{"text": "Yes."}])
    offer = claim(host)
    session = host.session()
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=60)
    connection.request(
        "POST", "/api/chat",
        json.dumps({"sessionId": session["sessionId"], "shareIds": [offer["id"]],
                    "messages": [{"role": "user", "content": "Hello."}]}),
        {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    host.stop(9)
    again = serve("--port", 0, "--no-model").wait()
    _, chat = again.json(f"/api/agent/conversations/{session['conversationId']}")
    users = [message for message in chat["messages"] if message["role"] == "user"]
    assert len(users) <= 1
    if not users:
        assert pending(again) == 1
