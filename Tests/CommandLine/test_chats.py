"""Chats as a person keeps them: found, branched, deleted with all their files, taken out and in, taken back."""

import json
import signal
import urllib.parse

import pytest
from test_agent import Stream, call, decide, host_with


def chat_with(host, *messages):
    """A chat that holds these messages, taken in as a file."""
    chat = host.json("/api/agent/conversations", "POST", {})[1]
    document = {**chat, "updatedAt": "2100-01-01T00:00:00Z", "messages": [
        {"role": "user" if index % 2 == 0 else "assistant", "content": text} for index, text in enumerate(messages)]}
    assert host.json("/api/agent/import", "POST", document)[1]["imported"] == 1
    return chat["id"]


def listed(host, query=""):
    return host.json("/api/agent/conversations" + query)[1]["conversations"]


def transcript(host, chat):
    return host.json(f"/api/agent/conversations/{chat}")[1]


def said(chat):
    return [message["content"] for message in chat["messages"]]


def act(host, session, text, allow=True):
    """A run with tools in which every question is answered."""
    frames = []
    for frame in Stream(host, session, text):
        frames.append(frame)
        if "approval" in frame:
            decide(host, frame["approval"], "allowed" if allow else "refused")
        if "done" in frame:
            return frames
    raise AssertionError(frames)


# MARK: finding and deleting


def test_chats_are_found_by_what_was_said_in_them(serve):
    host = serve("--port", 0, "--no-model").wait()
    fox = chat_with(host, "Tell me about the quick fox", "It jumps over the lazy dog, as a fox does.")
    chat_with(host, "Tell me about bread", "Bake it.")

    found = listed(host, "?search=" + urllib.parse.quote("LAZY dog"))
    assert [chat["id"] for chat in found] == [fox]
    assert "\x01lazy\x02" in found[0]["snippet"] and found[0]["messageId"]
    assert [chat["id"] for chat in listed(host, "?search=fox")] == [fox]
    assert listed(host, "?search=" + urllib.parse.quote('nothing " OR 1=1 --')) == []
    assert len(listed(host, "?search=%20")) == 2


def test_several_chats_are_deleted_and_then_all(serve):
    host = serve("--port", 0, "--no-model").wait()
    chats = [chat_with(host, f"chat {number}") for number in range(5)]

    assert host.json("/api/agent/conversations/delete", "POST", {"ids": [*chats[:2], "nonsense", "0" * 32]})[1] == {
        "deleted": 2}
    assert {chat["id"] for chat in listed(host)} == set(chats[2:])
    for wrong in ({}, {"ids": [chats[2], 7]}):
        assert host.json("/api/agent/conversations/delete", "POST", wrong)[1]["code"] == "bad_field"
    assert host.json("/api/agent/conversations/delete", "POST", {"all": True})[1]["deleted"] == 3
    assert listed(host) == []


def test_a_deleted_chat_leaves_nothing_behind(serve, tmp_path):
    secret = "a secret of the deleted chat"
    host = host_with(serve, tmp_path, [call("write_file", path="secret.txt", content=secret)], [{"text": secret}])
    session = host.session()
    act(host, session["sessionId"], secret)
    act(host, session["sessionId"], secret)
    kept = [path for path in host.root.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert len(kept) >= 3  # the store, the workspace, the artifacts

    assert host.json("/api/agent/conversations/delete", "POST", {"all": True})[1]["deleted"] == 1
    host.stop()

    left = [path for path in host.root.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert left == []


def test_a_chat_that_is_being_answered_can_be_deleted(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session = host.session()
    import http.client

    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=60)
    connection.request(
        "POST", "/api/chat", json.dumps({
            "sessionId": session["sessionId"], "messages": [{"role": "user", "content": "Tell a very long story."}]}),
        {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 200
    assert host.json(f"/api/agent/conversations/{session['conversationId']}", "DELETE")[1] == {"deleted": True}
    answer.read()
    assert listed(host) == []
    assert host.json("/api/agent/conversations")[0] == 200


# MARK: branching


def test_a_branch_keeps_the_first_messages_and_the_files(serve, tmp_path):
    host = host_with(serve, tmp_path, [call("write_file", path="notes/a.txt", content="kept")], [{"text": "Done."}])
    session = host.session()
    act(host, session["sessionId"], "First.")
    chat = session["conversationId"]

    branch = host.json(f"/api/agent/conversations/{chat}/branch", "POST", {"messages": 1})[1]

    assert branch["id"] != chat and said(branch) == ["First."]
    assert branch["notice"] is None
    assert (host.root / "workspaces" / branch["id"] / "notes/a.txt").read_text() == "kept"
    assert len(transcript(host, chat)["messages"]) == 2
    for bad in (0, 3, -1):
        assert host.json(f"/api/agent/conversations/{chat}/branch", "POST", {"messages": bad})[0] == 400
    assert host.json(f"/api/agent/conversations/{'0' * 32}/branch", "POST", {})[0] == 404


# MARK: out and in


def test_a_chat_is_exported_as_json_and_as_markdown(serve):
    host = serve("--port", 0, "--no-model").wait()
    chat = chat_with(host, 'A "title"\r\nwith: odd/words', "# Heading\n\nAnswer.")

    _, headers, data = host.request(f"/api/agent/conversations/{chat}/export")
    assert json.loads(data)["id"] == chat
    assert headers["Content-Disposition"].startswith("attachment; filename=")
    _, headers, data = host.request(f"/api/agent/conversations/{chat}/export?format=markdown")
    assert headers["Content-Type"].startswith("text/markdown")
    assert "## You" in data.decode() and "Answer." in data.decode()
    assert host.json(f"/api/agent/conversations/{chat}/export?format=pdf")[1]["code"] == "bad_format"
    assert host.json(f"/api/agent/conversations/{'0' * 32}/export")[0] == 404


def test_all_chats_go_out_and_come_in_once(serve, root, tmp_path):
    host = serve("--port", 0, "--no-model").wait()
    for number in range(20):
        chat_with(host, f"question {number} 你好", f"answer {number} \U0001F600")
    before = [transcript(host, chat["id"]) for chat in listed(host)]
    _, _, data = host.request("/api/agent/export")
    assert host.json("/api/agent/import", "POST", data)[1] == {"imported": 0, "unchanged": 20, "failed": []}

    host.json("/api/agent/conversations/delete", "POST", {"all": True})
    assert host.json("/api/agent/import", "POST", data)[1] == {"imported": 20, "unchanged": 0, "failed": []}
    assert host.json("/api/agent/import", "POST", data)[1] == {"imported": 0, "unchanged": 20, "failed": []}
    assert sorted(said(transcript(host, chat["id"]))[0] for chat in listed(host)) == sorted(said(chat)[0] for chat in before)


def test_what_is_no_chat_is_told_apart_from_what_is(serve):
    host = serve("--port", 0, "--no-model").wait()
    plain = {"messages": [{"role": "user", "content": "without an id"}, {"unknown": 1}], "extra": {"a": [1]}}

    answer = host.json("/api/agent/import", "POST", [plain, 7, "text"])[1]
    assert answer["imported"] == 1 and len(answer["failed"]) == 2
    assert host.json("/api/agent/import", "POST", [plain])[1]["unchanged"] == 1
    kept = transcript(host, listed(host)[0]["id"])
    assert kept["extra"] == {"a": [1]} and kept["messages"][1]["unknown"] == 1
    for nothing in ({}, {"a": 1}, 5, "x"):
        assert host.json("/api/agent/import", "POST", nothing)[1]["code"] == "no_chats"
    assert host.json("/api/agent/import", "POST", b"{")[1]["code"] == "bad_json"


# MARK: taking back


def test_a_turn_is_taken_back_with_its_files_and_given_again(serve, tmp_path):
    host = host_with(
        serve, tmp_path,
        [call("write_file", path="a.txt", content="one\n")], [{"text": "First done."}],
        [call("apply_patch", patch="*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: b.txt\n+new\n*** End Patch")],
        [{"text": "Second done."}],
    )
    session = host.session()
    chat, folder = session["conversationId"], host.root / "workspaces" / session["conversationId"]
    url = f"/api/agent/conversations/{chat}"
    act(host, session["sessionId"], "Write.")
    messages = transcript(host, chat)["messages"]
    for frame in send(host, session["sessionId"], [*messages, {"role": "user", "content": "Change."}]):
        if "approval" in frame:
            decide(host, frame["approval"], "allowed")
    assert (folder / "a.txt").read_text() == "two\n" and (folder / "b.txt").exists()
    assert said(transcript(host, chat)) == ["Write.", "First done.", "Change.", "Second done."]

    undone = host.json(f"{url}/rewind", "POST", {})[1]
    assert undone["text"] == "Change." and undone["files"] == ["a.txt", "b.txt"] and undone["canRedo"]
    assert said(undone) == said(transcript(host, chat)) == ["Write.", "First done."]
    assert (folder / "a.txt").read_text() == "one\n" and not (folder / "b.txt").exists()

    undone = host.json(f"{url}/rewind", "POST", {})[1]
    assert undone["text"] == "Write." and undone["files"] == ["a.txt"] and said(undone) == []
    assert list(folder.iterdir()) == []
    assert host.json(f"{url}/rewind", "POST", {})[1]["code"] == "nothing_to_undo"

    host.stop()  # what was taken back outlives the host
    host = serve("--port", 0, "--no-model").wait()
    host.json(f"{url}/redo", "POST", {})
    again = host.json(f"{url}/redo", "POST", {})[1]
    assert said(again) == ["Write.", "First done.", "Change.", "Second done."]
    assert again["files"] == ["a.txt", "b.txt"] and not again["canRedo"]
    assert (folder / "a.txt").read_text() == "two\n" and (folder / "b.txt").read_text() == "new\n"
    assert host.json(f"{url}/redo", "POST", {})[0] == 409


def send(host, session, messages):
    stream = Stream(host, session, messages=messages)
    for frame in stream:
        yield frame
        if "done" in frame:
            return


def test_a_new_message_ends_what_could_be_given_again(serve, tmp_path):
    host = host_with(serve, tmp_path, [{"text": "Answer."}])
    session = host.session()
    url = f"/api/agent/conversations/{session['conversationId']}"
    act(host, session["sessionId"], "One.")
    host.json(f"{url}/rewind", "POST", {})
    act(host, session["sessionId"], "Two.")
    assert host.json(f"{url}/redo", "POST", {})[1]["code"] == "nothing_to_redo"
    assert said(transcript(host, session["conversationId"])) == ["Two.", "Answer."]


def test_a_refused_write_and_a_plain_answer_are_taken_back_too(serve, tmp_path):
    host = host_with(serve, tmp_path, [call("write_file", path="a.txt", content="x")], [{"text": "Refused."}])
    session = host.session()
    act(host, session["sessionId"], "Write.", allow=False)
    undone = host.json(f"/api/agent/conversations/{session['conversationId']}/rewind", "POST", {})[1]
    assert undone["files"] == [] and undone["notice"] is None and said(undone) == []


@pytest.mark.parametrize("route", ["rewind", "redo"])
def test_nothing_is_taken_back_under_a_running_answer_or_from_nowhere(serve, model, route):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session = host.session()
    assert host.json(f"/api/agent/conversations/{'0' * 32}/{route}", "POST", {})[0] == 404
    assert host.json(f"/api/agent/conversations/{session['conversationId']}/{route}", "POST", {})[0] == 409
    import http.client

    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=60)
    connection.request(
        "POST", "/api/chat", json.dumps({
            "sessionId": session["sessionId"], "messages": [{"role": "user", "content": "Tell a very long story."}]}),
        {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    status, refusal = host.json(f"/api/agent/conversations/{session['conversationId']}/{route}", "POST", {})
    assert (status, refusal["code"]) == (409, "turn_running")
    host.json(f"/api/agent/turns/{answer.getheader('X-Alcove-Turn')}/stop", "POST")
    answer.read()
    assert host.stop(signal.SIGTERM) == 0


def test_a_window_that_has_not_seen_all_takes_nothing_away(serve, tmp_path):
    host = host_with(serve, tmp_path, [{"text": "Third."}])
    chat = chat_with(host, "One?", "First.", "Two?", "Second.")
    session = host.session(chat)["sessionId"]
    stale = [{"role": "user", "content": "One?"}, {"role": "assistant", "content": "First."}, {"role": "user", "content": "Three?"}]

    status, refusal = host.json("/api/chat", "POST", {"sessionId": session, "messages": stale, "seen": 2})

    assert (status, refusal["code"]) == (409, "chat_changed")
    assert said(transcript(host, chat)) == ["One?", "First.", "Two?", "Second."]
    # Whoever has seen them all may write an earlier question anew.
    assert host.chat(session, stale, seen=4)[1][-1]["done"]
    assert said(transcript(host, chat)) == ["One?", "First.", "Three?", "Third."]
    for wrong in (-1, 1.5, "4", True):
        assert host.json("/api/chat", "POST", {"sessionId": session, "messages": stale, "seen": wrong})[0] == 400


def test_a_window_that_was_left_behind_takes_no_turn_back_and_brings_none_again(serve, tmp_path):
    host = host_with(serve, tmp_path, [{"text": "Never."}])
    chat = chat_with(host, "One?", "First.", "Two?", "Second.")
    url = f"/api/agent/conversations/{chat}"
    # It holds more, less or another end than was shown.
    for sight in ({"seen": 2, "seenEnd": "First."}, {"seen": 6}, {"seen": 4, "seenEnd": "Another."}, {"seen": 4, "seenEnd": "Second. More"}):
        status, refusal = host.json(f"{url}/rewind", "POST", sight)
        assert (status, refusal["code"]) == (409, "chat_changed"), sight
        assert refusal["error"].endswith("here is how it stands now.") and refusal["hint"]
        assert said(transcript(host, chat)) == ["One?", "First.", "Two?", "Second."]
    for wrong in ({"seen": -1}, {"seen": "4"}, {"seen": 4, "seenEnd": 4}):
        assert host.json(f"{url}/rewind", "POST", wrong)[0] == 400, wrong

    # Of an answer that was stopped a window may show a little less than was kept; and who says nothing is not asked.
    assert said(host.json(f"{url}/rewind", "POST", {"seen": 4, "seenEnd": "Sec"})[1]) == ["One?", "First."]
    assert host.json(f"{url}/redo", "POST", {"seen": 4, "seenEnd": "Second."})[1]["code"] == "chat_changed"
    assert said(host.json(f"{url}/redo", "POST", {"seen": 2, "seenEnd": "First."})[1]) == ["One?", "First.", "Two?", "Second."]
    status, _, body = host.request(f"{url}/rewind", "POST")
    assert status == 200 and said(json.loads(body)) == ["One?", "First."]


def test_a_message_brings_no_turn_back_that_was_taken_back_elsewhere(serve, tmp_path):
    host = host_with(serve, tmp_path, [{"text": "Third."}])
    chat = chat_with(host, "One?", "First.", "Two?", "Second.")
    session = host.session(chat)["sessionId"]
    shown = [{"role": role, "content": text} for role, text in [
        ("user", "One?"), ("assistant", "First."), ("user", "Two?"), ("assistant", "Second.")]]
    assert host.json(f"/api/agent/conversations/{chat}/rewind", "POST", {})[0] == 200

    status, refusal = host.json("/api/chat", "POST", {
        "sessionId": session, "messages": [*shown, {"role": "user", "content": "Three?"}], "seen": 4, "seenEnd": "Second."})

    assert (status, refusal["code"]) == (409, "chat_changed")
    assert said(transcript(host, chat)) == ["One?", "First."]
    # Where nothing was taken back, it is the chat that lacks something, such as an answer the disk had no room for.
    assert host.chat(session, [*shown[:2], {"role": "user", "content": "Three?"}], seen=2, seenEnd="First.")[1][-1]["done"]
    longer = [*shown, {"role": "user", "content": "Three?"}, {"role": "assistant", "content": "Third."}, {"role": "user", "content": "Four?"}]
    assert host.chat(session, longer, seen=6, seenEnd="Third.")[1][-1]["done"]
    assert len(said(transcript(host, chat))) == 8


def test_another_answer_that_was_asked_for_elsewhere_is_not_written_over_unseen(serve, tmp_path):
    host = host_with(serve, tmp_path, [{"text": "Again."}])
    chat = chat_with(host, "One?", "First.")
    session = host.session(chat)["sessionId"]
    question = [{"role": "user", "content": "One?"}]
    assert host.chat(session, question, seen=2, seenEnd="First.")[1][-1]["done"]

    # As many messages as the other window shows, and the answer is one it never saw.
    status, refusal = host.json("/api/chat", "POST", {"sessionId": session, "messages": question, "seen": 2, "seenEnd": "First."})

    assert (status, refusal["code"]) == (409, "chat_changed")
    assert said(transcript(host, chat)) == ["One?", "Again."]


def test_a_title_is_one_line_without_what_cannot_be_seen(serve, tmp_path):
    host = host_with(serve, tmp_path, [{"text": "Yes."}])
    session = host.session()
    chat = session["conversationId"]
    asked = [{"role": "user", "content": "\u202egnp.exe\u0007 \u2066what?\nMore."}]
    assert host.chat(session["sessionId"], asked)[0] == 200
    assert said(transcript(host, chat)) == [asked[0]["content"], "Yes."]
    assert transcript(host, chat)["title"] == "gnp.exe what?"
    renamed = host.json(f"/api/agent/conversations/{chat}", "POST", {"title": " a\u202eb\r\n\u001b[31mc\u0000 \u2069"})[1]
    assert renamed["title"] == "ab  [31mc"
    assert host.json(f"/api/agent/conversations/{chat}", "POST", {"title": "\u202e \u2066\u200b"})[1]["title"] == "ab  [31mc"
    for kept in ("family 👨\u200d👩\u200d👧", "می\u200cخواهم", "\u200fשלום"):
        assert host.json(f"/api/agent/conversations/{chat}", "POST", {"title": kept})[1]["title"] == kept
    document = {"id": "f" * 32, "title": "tax\u202efdp.exe\n", "messages": [{"role": "user", "content": "Hello."}]}
    assert host.json("/api/agent/import", "POST", document)[1]["imported"] == 1
    assert transcript(host, "f" * 32)["title"] == "taxfdp.exe"
