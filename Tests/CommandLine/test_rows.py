"""Rows of the plan's description of a host that no other test looks at; docs/rows.md says which test shows which row."""

import hashlib
import os
import re
import shutil
import threading

import files
import pytest
from files import upload
from program import MODEL
from test_agent import Stream, call, decide, host_with
from test_catalog import WEIGHTS, entry, file, frames, two, write  # noqa: F401 (fixtures)


def say(host, session, *texts, **rest):
    """One message after another as given, the whole history."""
    messages = [{"role": "user" if n % 2 == 0 else "assistant", "content": text} for n, text in enumerate(texts)]
    return host.chat(session["sessionId"], messages, **rest)


def transcript(host, session):
    return host.json(f"/api/agent/conversations/{session['conversationId']}")[1]


# 3. Routes


@pytest.mark.parametrize("method, path", [
    ("POST", "/api/image-edit"), ("POST", "/api/image-edit/stream"), ("POST", "/api/video-generate"),
    ("POST", "/api/video-generate/stream"), ("POST", "/api/image-generate"), ("POST", "/api/agent/events")])
def test_routes_that_are_left_out_are_not_half_there(serve, method, path):
    host = serve("--port", 0, "--no-model").wait()
    status, answer = host.json(path, method, {"prompt": "x", "type": "ready"})
    assert (status, answer["code"]) == (404, "not_found")


def test_a_running_answer_is_a_busy_host(serve, tmp_path, sandbox):
    host = host_with(serve, tmp_path, [call("write_file", path="a.txt", content="a")], [{"text": "Done."}])
    stream = Stream(host, host.session()["sessionId"])
    question, _ = stream.until("approval")
    told = host.json("/api/queue/status")[1]
    assert {"busy": True, "processing": 1, "pending_requests": 0, "total_processed": 0}.items() <= told.items()
    decide(host, question["approval"], "allowed")
    stream.until("done")
    told = host.json("/api/queue/status")[1]
    assert {"busy": False, "processing": 0, "pending_requests": 0, "total_processed": 1}.items() <= told.items()


def test_files_of_a_run_are_listed_and_only_ever_saved(serve, tmp_path, sandbox):
    host = host_with(
        serve, tmp_path, [call("write_file", path="site/page.html", content="<script>1</script>")], [{"text": "Done."}])
    stream = Stream(host, host.session()["sessionId"])
    question, _ = stream.until("approval")
    decide(host, question["approval"], "allowed")
    stream.until("done")

    status, listed = host.json(f"/api/code/artifacts/{stream.turn}")
    assert status == 200 and listed["runId"] == stream.turn
    [made] = listed["files"]
    assert (made["name"], made["bytes"]) == ("site/page.html", 18)
    status, headers, data = host.request(made["url"])
    assert (status, data) == (200, b"<script>1</script>")
    assert headers["Content-Disposition"].startswith('attachment; filename="page.html"')
    assert headers["X-Content-Type-Options"] == "nosniff"
    for path in ("0" * 32, "x", f"{stream.turn}/gone.txt", f"{stream.turn}/..%2f..%2falcove.db", f"{stream.turn}/site"):
        assert host.request("/api/code/artifacts/" + path)[0] in (400, 404), path


def test_a_loaded_model_is_told_with_its_windows(serve, model):
    host = serve("--port", 0, "--model", model, "--context", 1024).wait()
    host.wait_for_model()
    models = host.json("/api/models")[1]
    assert models["loaded"] == MODEL.name and MODEL.name in models["models"]
    assert (models["contextTokens"], models["modelContextTokens"], models["architecture"]) == (1024, 8192, "llama")
    assert models["loadedBackend"] == models["defaultBackend"] == "ggml_cpu"
    host.json("/api/agent/settings", "PATCH", {"maxTokens": 4096})
    assert host.json("/api/models")[1]["defaultMaxTokens"] == 4096
    engine = host.json("/api/agent/engine")[1]["model"]
    assert (engine["state"], engine["loading"], engine["error"]) == ("Loaded", None, None) and engine["memory"] > 0


def test_an_entry_has_its_members_and_half_of_it_is_partial(serve, root, two):  # noqa: F811
    (root / "models/tiny").mkdir(parents=True)
    host = serve("--port", 0, "--no-model").wait()
    told = entry(host, "tiny")
    assert {"id", "name", "family", "parameters", "quantization", "notes", "license", "contextLength", "modalities", "kind",
            "experimental", "sideloadOnly", "minDeviceMemoryGB", "totalBytes", "state", "installedBytes", "remainingBytes",
            "path", "download"} <= set(told)
    assert (told["kind"], told["experimental"], told["sideloadOnly"], told["license"]) == ("Dense", False, False, "MIT")
    assert told["totalBytes"] == told["remainingBytes"] == len(WEIGHTS)
    (root / "models/tiny/tiny.gguf").write_bytes(WEIGHTS[:-1])
    assert entry(host, "tiny")["state"] != "Installed" and entry(host, "tiny")["path"] is None
    (root / "models/tiny/tiny.gguf").write_bytes(WEIGHTS)
    assert entry(host, "tiny")["state"] == "Installed"


# 5. Turns


def test_a_turn_has_an_id_of_32_digits_and_a_state_by_how_it_ended(serve, tmp_path, sandbox):
    host = host_with(serve, tmp_path, [call("shell", command="sleep 60")], [{"text": "Done."}])
    session = host.session()
    stream = Stream(host, session["sessionId"])
    question, _ = stream.until("approval")
    assert re.fullmatch("[0-9a-f]{32}", stream.turn)
    status = host.json(f"/api/agent/turns?conversation={session['conversationId']}")[1]["turn"]
    assert (status["id"], status["state"], status["running"]) == (stream.turn, "Running", True)
    host.json(f"/api/agent/turns/{stream.turn}/stop", "POST")
    stream.until("done")
    assert host.json(f"/api/agent/turns?conversation={session['conversationId']}")[1]["turn"]["state"] == "Cancelled"


def test_a_message_without_a_chat_is_answered_and_kept_nowhere(serve, tmp_path):
    host = host_with(serve, tmp_path, [{"text": "Hello."}])
    status, headers, data = host.request("/api/chat", "POST", {"messages": [{"role": "user", "content": "Hi."}]})
    assert status == 200 and b"Hello." in data
    turn = host.json("/api/agent/turns?conversation=chat")[1]["turn"]
    assert turn["id"] == headers["X-Alcove-Turn"] and turn["state"] == "Completed"
    assert host.json("/api/agent/conversations")[1] == {"conversations": []}


# 7. Chats


def test_the_request_is_what_the_chat_holds_then(serve, tmp_path):
    """The page is the authority: what it leaves out is gone, and an answer takes the place of none it sends along."""
    host = host_with(serve, tmp_path, [{"text": "One."}], [{"text": "Two."}], [{"text": "Three."}])
    session = host.session()
    say(host, session, "a", think=True, skills=["x", "y"])
    chat = transcript(host, session)
    assert (chat["think"], chat["skills"], chat["skillsExplicit"], chat["modelId"]) == (True, ["x", "y"], True, "scripted")
    say(host, session, "a", "One.", "b", think=False)
    chat = transcript(host, session)
    assert [m["content"] for m in chat["messages"]] == ["a", "One.", "b", "Two."]
    assert (chat["think"], chat["skills"], chat["skillsExplicit"]) == (False, [], False)
    say(host, session, "c")
    chat = transcript(host, session)
    assert [m["content"] for m in chat["messages"]] == ["c", "Three."] and chat["think"] is False


def test_an_answer_of_nothing_is_not_kept(serve, tmp_path):
    host = host_with(serve, tmp_path, [])
    session = host.session()
    status, answer = say(host, session, "Say nothing.")
    assert status == 200 and answer[-1]["done"] is True
    assert [m["role"] for m in transcript(host, session)["messages"]] == ["user"]


def test_the_newest_chat_comes_first_and_all_are_deleted_the_empty_ones_too(serve, tmp_path):
    host = host_with(serve, tmp_path, [{"text": "Yes."}])
    chats = []
    for name in ("first", "second", "third"):
        session = host.session()
        say(host, session, name)
        chats.append(session["conversationId"])
    say(host, host.session(chats[0]), "first", "Yes.", "again")
    listed = [chat["id"] for chat in host.json("/api/agent/conversations")[1]["conversations"]]
    assert listed == [chats[0], chats[2], chats[1]]
    empty = host.session()["conversationId"]
    assert host.json("/api/agent/conversations/delete", "POST", {"all": True}) == (200, {"deleted": 4})
    assert host.json(f"/api/agent/conversations/{empty}")[0] == 404


def test_an_attachment_goes_with_the_last_chat_that_has_it(serve, tmp_path, root):
    host = host_with(serve, tmp_path, [{"text": "Fine."}])
    stored = upload(host, "a.txt", b"words")[1]["file"]
    unsent = upload(host, "b.txt", b"not sent yet")[1]["file"]
    session = host.session()
    host.chat(session["sessionId"], [{"role": "user", "content": "Q", "attachments": [{"file": stored, "fileName": "a.txt"}]}])
    branch = host.json(f"/api/agent/conversations/{session['conversationId']}/branch", "POST", {})[1]["id"]

    host.json(f"/api/agent/conversations/{session['conversationId']}", "DELETE")
    assert (root / "uploads" / stored).exists()
    host.json(f"/api/agent/conversations/{branch}", "DELETE")
    assert not (root / "uploads" / stored).exists() and (root / "uploads" / unsent).exists()


# 8. Settings


def test_a_command_has_the_time_the_settings_give_it(serve, tmp_path, sandbox):
    host = host_with(serve, tmp_path, [call("shell", command="echo begun; sleep 600")], [{"text": "Done."}])
    assert host.json("/api/agent/settings", "PATCH", {"toolTimeoutSeconds": 5})[0] == 200
    stream = Stream(host, host.session()["sessionId"])
    question, _ = stream.until("approval")
    decide(host, question["approval"], "allowed")
    done, seen = stream.until("done")
    [step] = [frame for frame in seen if "skill_step" in frame]
    assert step["ok"] is False and done["error"] is None
    [receipt] = host.json("/api/agent/runs")[1]["runs"][0]["receipts"]
    assert "5 s" in receipt["observation"] or "5 seconds" in receipt["observation"], receipt


def test_the_network_switch_counts_for_the_next_command(serve, tmp_path, sandbox):
    look = call("shell", command="readlink /proc/self/ns/net; echo seen")
    host = host_with(serve, tmp_path, [look], [{"text": "Off."}], [look], [{"text": "On."}])
    session = host.session()
    ours = os.readlink(f"/proc/{host.process.pid}/ns/net")
    for allowed in (False, True):
        host.json("/api/agent/settings", "PATCH", {"allowNetwork": allowed})
        stream = Stream(host, session["sessionId"])
        while True:
            frame = next(iter(stream))
            if "approval" in frame:
                decide(host, frame["approval"], "allowed")
            if "done" in frame:
                break
        receipt = host.json("/api/agent/runs")[1]["runs"][0]["receipts"][0]
        assert "seen" in receipt["observation"], receipt
        assert (ours in receipt["observation"]) == allowed, (allowed, receipt)


def test_another_window_is_had_with_the_next_load(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    before = host.json("/api/models")[1]["contextTokens"]
    host.json("/api/agent/settings", "PATCH", {"contextLength": 768})
    assert host.json("/api/models")[1]["contextTokens"] == before
    # The same file again: that is how a change of the window is had.
    assert host.json("/api/models/load", "POST", {"model": model})[0] == 200
    assert host.json("/api/models")[1]["contextTokens"] == 768


def test_optional_files_come_by_the_setting(serve, root, two):  # noqa: F811
    host = serve("--port", 0, "--no-model").wait()
    host.json("/api/agent/settings", "PATCH", {"downloadOptionalFiles": False})
    assert list(frames(host, "/api/agent/catalog/tiny/download"))[-1]["done"] and two[1].requests == []
    host.json("/api/agent/settings", "PATCH", {"downloadOptionalFiles": True})
    assert list(frames(host, "/api/agent/catalog/tiny/download"))[-1]["done"]
    assert (root / "models/tiny/mmproj-tiny.gguf").exists()


# 9. The store of models


def test_a_model_is_deleted_with_what_was_only_of_use_to_it(serve, root, two):  # noqa: F811
    host = serve("--port", 0, "--no-model").wait()
    assert list(frames(host, "/api/agent/catalog/tiny/download"))[-1]["done"]
    path = str(root / "models/tiny/tiny.gguf")
    folder = root / "checkpoints" / hashlib.sha256(path.encode()).hexdigest()[:16]
    folder.mkdir(parents=True)
    (folder / "a.ckpt").write_bytes(b"x")
    assert host.json("/api/agent/catalog/tiny", "DELETE")[0] == 200
    assert not folder.exists() and not (root / "models/tiny").exists()


def test_files_of_a_model_come_one_after_another_under_their_part_names(serve, root, two):  # noqa: F811
    weights, projector = two
    weights.gate, weights.gate_at = threading.Event(), 300_000
    host = serve("--port", 0, "--no-model").wait()
    watcher = frames(host, "/api/agent/catalog/tiny/download")
    seen = [next(watcher)]
    while not (root / "models/tiny/tiny.gguf.part").exists():
        seen.append(next(watcher))
    assert projector.requests == [] and not (root / "models/tiny/tiny.gguf").exists()
    weights.gate.set()
    seen += list(watcher)
    order = [frame["fileIndex"] for frame in seen if frame.get("file")]
    assert order == sorted(order) and set(order) == {1, 2}
    assert {frame["phase"] for frame in seen if "phase" in frame} <= {"waiting", "downloading", "verifying"}


# 10. Loading


def test_a_model_whose_file_is_gone_is_a_sentence_and_the_one_that_answers_stays(serve, tmp_path, model):
    other = tmp_path / "other.gguf"
    shutil.copy(model, other)
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    other.unlink()
    status, answer = host.json("/api/models/load", "POST", {"model": str(other)})
    assert status == 404 and answer["code"] and "other.gguf" in answer["error"]
    assert host.json("/api/models")[1]["loaded"] == MODEL.name


# 11. Uploads


def test_a_table_is_kept_as_a_file(serve):
    host = serve("--port", 0, "--no-model").wait()
    status, reply = upload(host, "a.csv", b"a,b\n1,2\n")
    assert status == 200 and reply["fileBacked"] is True and "textContent" not in reply
    assert reply["mediaType"] == "text" and {"ok", "file", "url", "fileName"} <= set(reply)


def test_sizes_around_the_readers_piece_arrive_whole(serve):
    """Reads that end exactly where a piece ends: a parser that waits there for more would never answer."""
    host = serve("--port", 0, "--no-model").wait()
    for size in (65_535, 65_536, 65_537, 131_072):
        for around in (0, len(files.form(("a.bin.txt", b"", "text/plain"))[1])):
            data = b"x" * (size - around)
            status, reply = upload(host, "a.bin.txt", data, "text/plain")
            assert status == 200 and host.request(reply["url"])[2] == data


@pytest.mark.parametrize("ending", "txt csv json xml md log py js ts cs java cpp c h html css yaml yml toml ini cfg sh bat ps1 rb go rs "
                         "swift kt sql r m tex rtf".split())
def test_every_kind_of_text_is_served_as_plain_text(serve, ending):
    host = serve("--port", 0, "--no-model").wait()
    status, reply = upload(host, "a." + ending, b"<b>x</b>")
    assert status == 200 and reply["mediaType"] == "text", reply
    assert host.request(reply["url"])[1]["Content-Type"] == "text/plain; charset=utf-8"


def test_a_message_without_attachments_says_its_text_files_the_old_way(serve, tmp_path, sandbox):
    host = host_with(serve, tmp_path, [call("read_file", path="notes.txt")], [{"text": "Done."}])
    stored = upload(host, "x.txt", b"the words of the file")[1]["file"]
    stream = Stream(host, host.session()["sessionId"], messages=[
        {"role": "user", "content": "Read.", "textFilePaths": [stored], "textFileNames": ["notes.txt"]}])
    stream.until("done")
    receipt = host.json("/api/agent/runs")[1]["runs"][0]["receipts"][0]
    assert "the words of the file" in receipt["observation"], receipt


# 12. The share inbox


def test_a_send_owns_what_is_shared_until_it_is_done(serve, alcove, root, tmp_path, sandbox):
    alcove("share", "--root", root, "--text", "x")
    host = host_with(serve, tmp_path, [call("write_file", path="a.txt", content="a")], [{"text": "Done."}])
    assert host.json("/api/agent/share")[1] == {"pending": 1, "container": True}
    offer = host.json("/api/agent/share/claim", "POST", {})[1]["share"]
    assert set(offer) >= {"id", "text", "attachments", "notices", "title", "newChat", "autoSend"}
    stream = Stream(host, host.session()["sessionId"], shareIds=[offer["id"]])
    question, _ = stream.until("approval")
    # It was taken by a message that was kept: it is neither offered nor to be discarded any more.
    assert host.json("/api/agent/share/claim", "POST", {})[1]["share"] is None
    assert host.json("/api/agent/share/discard", "POST", {"id": offer["id"]}) == (409, {"ok": False})
    decide(host, question["approval"], "allowed")
    stream.until("done")
    assert host.json("/api/agent/share")[1]["pending"] == 0
