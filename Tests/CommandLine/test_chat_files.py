"""Files of chats that are long, broken, or neither."""

import json
import uuid

import pytest


def chat(number, messages=4, words=20):
    return {
        "id": uuid.uuid5(uuid.NAMESPACE_OID, str(number)).hex, "title": f"Chat {number}",
        "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z",
        "messages": [
            {"role": "user" if n % 2 == 0 else "assistant", "content": f"message {n} of {number} \\ \"{{[ " + "wörter " * words}
            for n in range(messages)],
    }


def kept(host):
    summaries = host.json("/api/agent/conversations")[1]["conversations"]
    return {s["id"]: [m["content"] for m in host.json(f"/api/agent/conversations/{s['id']}")[1]["messages"]] for s in summaries}


def memory(host, field="VmHWM"):
    """Kilobytes."""
    with open(f"/proc/{host.process.pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field))


@pytest.mark.parametrize("shape", ["export", "list"])
def test_a_file_that_breaks_off_leaves_whole_chats_and_says_so(serve, shape):
    host = serve("--port", 0, "--no-model").wait()
    chats = [chat(number, words=3) for number in range(3)]
    data = json.dumps({"conversations": chats} if shape == "export" else chats, ensure_ascii=False).encode()
    ends = [data.index(json.dumps(c["messages"][-1]["content"], ensure_ascii=False).encode()) for c in chats]

    for cut in [*range(0, len(data), 37), *range(len(data) - 6, len(data))]:
        status, answer = host.json("/api/agent/import", "POST", data[:cut] or b" ")
        found = kept(host)
        assert all(found[c["id"]] == [m["content"] for m in c["messages"]] for c in chats if c["id"] in found), cut
        whole = sum(end < cut and data[end:cut].find(b"}]}") >= 0 for end in ends)
        assert len(found) == whole, (cut, answer)
        if whole:
            assert status == 200 and answer["imported"] == whole and answer["complete"] is False, (cut, answer)
            assert "cannot be read at byte" in answer["failed"][0]["error"], (cut, answer)
        else:
            assert (status, answer["code"]) == (400, "bad_json"), (cut, answer)
        host.json("/api/agent/conversations/delete", "POST", {"all": True})
    assert host.json("/api/agent/import", "POST", data)[1] == {"imported": 3, "unchanged": 0, "failed": []}


@pytest.mark.parametrize("middle", [b'{"messages": [}', b"{'a': 1}", b'{"messages": [] "x"}', b"\xff\xfe", b"nul"])
def test_a_broken_chat_in_the_middle_is_named_and_the_others_come_in(serve, middle):
    host = serve("--port", 0, "--no-model").wait()
    first, last = (json.dumps(chat(number)).encode() for number in (1, 2))

    status, answer = host.json("/api/agent/import", "POST", b"[" + first + b",\n" + middle + b" , " + last + b"]")

    assert status == 200 and answer["imported"] >= 1 and len(answer["failed"]) >= 1, answer
    assert all("at byte" in item["error"] for item in answer["failed"]), answer
    # Where the break swallows what follows, that is told; where it does not, what follows is there.
    assert answer["imported"] == 2 or answer.get("complete") is False, answer
    assert len(kept(host)) == answer["imported"]


def test_members_around_the_list_and_odd_spacing_are_no_matter(serve):
    host = serve("--port", 0, "--no-model").wait()
    one = json.dumps(chat(1))
    text = '\ufeff \n{"version": {"conversations": [1, "]"]}, "note": "\\"conversations\\":[", "conversations" : [\n' + one
    text += ' ,' + json.dumps(chat(2)) + '\n] , "after": [{"a": "}"}] }\n '

    assert host.json("/api/agent/import", "POST", text.encode())[1] == {"imported": 2, "unchanged": 0, "failed": []}
    assert host.json("/api/agent/import", "POST", one.encode())[1] == {"imported": 0, "unchanged": 1, "failed": []}
    assert host.json("/api/agent/import", "POST", b'{"conversations": []}')[1]["imported"] == 0


def test_more_messages_than_a_chat_may_have_are_refused_with_the_number(serve):
    host = serve("--port", 0, "--no-model").wait()
    long = {"title": "Endless", "messages": [{"role": "user"}] * 100_001}

    status, answer = host.json("/api/agent/import", "POST", [long, chat(1)])

    assert status == 200 and answer["imported"] == 1
    (failure,) = answer["failed"]
    assert failure["title"] == "Endless" and "100001 messages" in failure["error"] and "100000" in failure["error"]


def test_a_long_file_comes_in_with_flat_memory(serve):
    host = serve("--port", 0, "--no-model").wait()
    host.json("/api/agent/import", "POST", [chat(number, 100, 60) for number in range(5)])
    before = memory(host)
    data = json.dumps({"conversations": [chat(number, 100, 60) for number in range(100, 500)]}).encode()

    status, answer = host.json("/api/agent/import", "POST", data)

    assert status == 200 and answer == {"imported": 400, "unchanged": 0, "failed": []}
    grown = memory(host) - before
    assert grown < len(data) / 1024, f"{grown} KB more for a file of {len(data) >> 10} KB"


@pytest.mark.parametrize("behind", [b"}", b" junk", b"[", b'"'])
def test_whole_chats_before_a_broken_place_come_in_however_the_file_was_cut_into_pieces(serve, behind):
    host = serve("--port", 0, "--no-model").wait()
    chats = [chat(number, messages=1, words=40) for number in range(100)]

    status, answer = host.json("/api/agent/import", "POST", json.dumps(chats).encode() + behind)

    assert status == 200 and answer["imported"] == 100, answer
    assert answer["complete"] is False and "cannot be read at byte" in answer["failed"][-1]["error"]


def test_a_chat_without_messages_is_none_and_a_title_has_an_end(serve):
    host = serve("--port", 0, "--no-model").wait()
    empty, wrong, long = {**chat(1), "messages": []}, {**chat(2), "messages": "none"}, {**chat(3), "title": "é" * 5000}

    answer = host.json("/api/agent/import", "POST", json.dumps([empty, wrong, long]).encode())[1]

    assert (answer["imported"], answer["unchanged"]) == (1, 1)
    assert answer["failed"] == [{"title": "Chat 2", "error": "It has no messages."}]
    assert list(kept(host)) == [long["id"]]
    title = host.json(f"/api/agent/conversations/{long['id']}")[1]["title"]
    assert title == "é" * 500
