"""A disk without room: what is kept can be read, what is not needed can be deleted, and then all goes on."""

import errno
import json
import os
import subprocess
import time
import uuid

import pytest

MEGABYTES = 32


@pytest.fixture
def disk(root):
    """The root folder as a disk of its own."""
    root.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(root)], capture_output=True, text=True)
    if mounted.returncode != 0:
        print(f"\nSKIPPED: no disk can be mounted here ({mounted.stderr.strip()}).")
        pytest.skip("only who may mount a small disk can fill one")
    yield root
    subprocess.run(["umount", "-l", str(root)], check=True)


def fill(folder, name="filler", leave=0):
    """Takes what is free, to the last byte."""
    left = os.statvfs(folder).f_bavail * 4096 - leave
    with open(folder / name, "ab", buffering=0) as file:
        try:
            while left > 0:
                left -= file.write(os.urandom(min(left, 64 << 10)))
        except OSError as error:
            assert error.errno == errno.ENOSPC
    if not leave:
        assert os.statvfs(folder).f_bavail == 0


def say(host, session, words, history=()):
    return host.chat(session["sessionId"], [*history, {"role": "user", "content": words}])


def sizes(folder):
    """For the message of a test that failed."""
    return os.statvfs(folder).f_bavail * 4096, {f.name: f.stat().st_size for f in folder.iterdir() if f.is_file()}


def say_until_full(host, session, mark=""):
    """Longer and longer messages; what has room in the files of the store themselves is taken."""
    history = []
    for number in range(300):
        status, answer = say(host, session, f"{mark} {number} {uuid.uuid4()} " + f"{uuid.uuid4().hex} " * 300, history)
        if status != 200:
            return status, answer
        history = host.json(f"/api/agent/conversations/{session['conversationId']}")[1]["messages"]
    raise AssertionError("the disk never was full")


def started(serve, tmp_path, *words):
    file = tmp_path / "answers.json"
    file.write_text(json.dumps([[{"text": "Heard."}]]))
    host = serve("--port", 0, "--script", file, *words).wait()
    host.wait_for_model()
    return host


def reserve_is_taken(folder, held=True):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if (folder / "alcove.reserve").exists() and ((folder / "alcove.reserve").stat().st_size > 0) == held:
            return True
        time.sleep(0.02)
    return False


def long_chat(host, kilobytes):
    """A chat of many words that compress and repeat badly, in one session."""
    words = [uuid.uuid4().hex for _ in range(kilobytes * 1024 // 33)]
    messages = []
    for start in range(0, len(words), 500):
        messages.append({"role": "user", "content": " ".join(words[start:start + 500])})
        messages.append({"role": "assistant", "content": "Yes."})
    chat = {"id": uuid.uuid4().hex, "title": "Long", "messages": messages}
    status, answer = host.json("/api/agent/import", "POST", chat)
    assert status == 200 and answer["imported"] == 1, answer
    return chat["id"]


def test_a_full_disk_says_what_to_delete_and_deleting_lets_it_go_on(serve, disk, tmp_path):
    host = started(serve, tmp_path)
    small = host.session()
    assert say(host, small, "Keep me.")[1][-1]["done"]
    big = long_chat(host, 1500)
    kept = host.json(f"/api/agent/conversations/{small['conversationId']}")[1]["messages"]
    assert reserve_is_taken(disk)
    fill(disk)

    status, answer = say_until_full(host, host.session())
    assert status == 507 and answer["code"] == "storage_full", answer
    assert answer["error"].startswith("There is no room left on the disk for the database"), answer
    assert answer["hint"].startswith("Delete what you need least, and try again: "), answer
    assert "chats take" in answer["hint"] and " MB" in answer["hint"], answer
    assert reserve_is_taken(disk), "an ordinary message has taken what is held for deletions"

    # A host that was killed there starts again, with all that was kept, and says what the matter is.
    host.stop(9)
    fill(disk)
    host = started(serve, tmp_path)
    listed = {chat["id"] for chat in host.json("/api/agent/conversations")[1]["conversations"]}
    assert {small["conversationId"], big} <= listed
    assert host.json(f"/api/agent/conversations/{small['conversationId']}")[1]["messages"] == kept
    small = host.session(small["conversationId"])
    status, answer = say(host, small, "And now?", kept)
    assert status == 507 and answer["code"] == "storage_full", answer
    assert host.json(f"/api/agent/conversations/{small['conversationId']}")[1]["messages"] == kept

    answer = host.json(f"/api/agent/conversations/{big}", "DELETE")
    assert answer == (200, {"deleted": True}), sizes(disk)
    assert host.json(f"/api/agent/conversations/{big}")[0] == 404
    assert reserve_is_taken(disk), "there is room, and none is held"

    status, frames = say(host, small, "And now?", kept)
    assert status == 200 and frames[-1]["done"] and not frames[-1]["error"], frames
    assert len(host.json(f"/api/agent/conversations/{small['conversationId']}")[1]["messages"]) == len(kept) + 2
    assert host.stop() == 0


def test_a_start_on_a_full_disk_tells_the_terminal(serve, disk, tmp_path):
    host = started(serve, tmp_path)
    session = host.session()
    assert say(host, session, "Keep me.")[1][-1]["done"]
    assert reserve_is_taken(disk)
    assert host.stop() == 0
    fill(disk)

    host = started(serve, tmp_path)
    assert [chat["title"] for chat in host.json("/api/agent/conversations")[1]["conversations"]] == ["Keep me."]
    assert host.stop() == 0
    told = host.process.stderr.read()
    assert "The disk is full (" in told and "what is kept can be read and deleted, and nothing new is kept." in told, told


def test_attachments_of_a_deleted_chat_and_a_deleted_model_give_their_room_back(serve, disk, tmp_path):
    entry = {"id": "mine", "name": "Mine", "files": [
        {"name": "mine.gguf", "url": "https://example.org/mine.gguf", "bytes": 6 << 20, "sha256": "0" * 64}]}
    (disk / "catalog.json").write_text(json.dumps({"models": [entry]}))
    model = disk / "models" / "mine"
    model.mkdir(parents=True)
    (model / "mine.gguf").write_bytes(os.urandom(6 << 20))
    host = started(serve, tmp_path)
    assert host.json("/api/agent/catalog/mine")[1]["state"] == "Installed"
    assert reserve_is_taken(disk)
    session = host.session()
    stored = uuid.uuid4().hex + ".txt"
    (disk / "uploads").mkdir(exist_ok=True)
    (disk / "uploads" / stored).write_bytes(b"line\n" * (1 << 20))
    attached = [{"role": "user", "content": "Read this.", "attachments": [
        {"file": stored, "fileName": "lines.txt", "mediaType": "text"}]}]
    status, frames = host.chat(session["sessionId"], attached)
    assert status == 200 and frames[-1]["done"], frames
    fill(disk)

    status, answer = host.json(f"/api/agent/catalog/mine", "DELETE")
    assert status == 200 and answer["state"] == "NotInstalled", answer
    after_model = os.statvfs(disk).f_bavail * 4096
    assert after_model >= 6 << 20
    assert host.json(f"/api/agent/conversations/{session['conversationId']}", "DELETE") == (200, {"deleted": True})
    assert not (disk / "uploads" / stored).exists()
    assert os.statvfs(disk).f_bavail * 4096 >= after_model + (4 << 20)

    assert say(host, host.session(), "Once more.")[1][-1]["done"]
    assert host.stop() == 0


def test_a_kill_while_the_disk_is_full_loses_nothing_that_was_acknowledged(serve, disk, tmp_path):
    """Again and again: what the host said it kept is there, and what it refused is not."""
    acknowledged = {}
    for round in range(6):
        host = started(serve, tmp_path)
        for chat, count in acknowledged.items():
            status, found = host.json(f"/api/agent/conversations/{chat}")
            assert status == 200 and len(found["messages"]) == count, (round, found)
        if round == 0:
            assert reserve_is_taken(disk)
            fill(disk, leave=600 << 10)
        session = host.session()
        status, answer = say_until_full(host, session, round)
        assert (status, answer["code"]) == (507, "storage_full"), answer
        kept = host.json(f"/api/agent/conversations/{session['conversationId']}")[1]["messages"]
        acknowledged[session["conversationId"]] = len(kept)
        host.stop(9)
        if acknowledged and round == 3:
            host = started(serve, tmp_path)
            for chat in list(acknowledged)[:1]:
                assert host.json(f"/api/agent/conversations/{chat}", "DELETE") == (200, {"deleted": True})
                del acknowledged[chat]
            host.stop(9)
    assert any(acknowledged.values())
