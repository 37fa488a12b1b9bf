"""The host as a program: addresses, refusals, restarts, kills."""

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import time

import pytest
from program import PROGRAM

CAPITAL = [{"role": "user", "content": "What is the capital of France? Answer in one word."}]


def test_a_message_is_answered_and_kept(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    # From the first moment the page need not say that there is no model.
    assert host.json("/api/agent/engine")[1]["model"]["state"] in ("Loading", "Loaded")
    assert host.wait_for_model()["state"] == "Loaded"
    session = host.session()

    status, frames = host.chat(session["sessionId"], CAPITAL, temperature=0)

    assert status == 200
    assert "Paris" in "".join(frame.get("token", "") for frame in frames)
    done = frames[-1]
    assert done["done"] is True and done["error"] is None and done["aborted"] is False
    assert done["tokenCount"] > 0 and done["promptTokens"] == 42
    assert [set(frame) for frame in frames].count({"prompt_progress"}) >= 1
    _, listed = host.json("/api/agent/conversations")
    assert [chat["title"] for chat in listed["conversations"]] == [CAPITAL[0]["content"]]
    _, chat = host.json(f"/api/agent/conversations/{session['conversationId']}")
    assert [message["role"] for message in chat["messages"]] == ["user", "assistant"]
    assert "Paris" in chat["messages"][1]["content"]


def test_the_connection_file_is_for_its_owner_alone_and_goes_away(serve, root):
    host = serve("--port", 0, "--no-model").wait()
    mode = stat.S_IMODE(os.stat(root / "connection.json").st_mode)

    assert mode == 0o600
    assert host.stop() == 0
    assert not (root / "connection.json").exists()


def test_only_health_is_public(serve):
    host = serve("--port", 0, "--no-model").wait()

    assert host.request("/health", token=False)[0] == 200
    for path in ["/", "/index.html", "/api/agent/engine", "/api/agent/conversations", "/nothing"]:
        status, _, data = host.request(path, token=False)
        assert status == 401, path
        assert json.loads(data)["code"] == "unauthorized"
    assert host.request("/api/agent/engine", headers={"Authorization": "Bearer wrong"}, token=False)[0] == 401


def test_the_key_leaves_the_address_at_once(serve):
    host = serve("--port", 0, "--no-model").wait()
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"))
    connection.request("GET", f"/?token={host.token}")
    answer = connection.getresponse()

    assert answer.status == 303
    assert answer.getheader("Location") == "/"
    cookie = answer.getheader("Set-Cookie")
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    answer.read()
    connection.request("GET", "/", headers={"Cookie": cookie.split(";")[0]})
    assert connection.getresponse().status == 200


def test_foreign_names_and_origins_are_refused(serve):
    host = serve("--port", 0, "--no-model").wait()

    assert host.request("/health", headers={"Host": "evil.example"})[0] == 403
    for origin in ["https://evil.example", "null"]:
        assert host.request("/api/sessions", "POST", headers={"Origin": origin})[0] == 403


def test_a_form_is_not_taken_for_json(serve):
    host = serve("--port", 0, "--no-model").wait()
    for kind in ["text/plain", "application/x-www-form-urlencoded"]:
        status, _, _ = host.request("/api/chat", "POST", body=b"{}", headers={"Content-Type": kind})
        assert status == 415


def test_it_listens_on_this_machine_only(serve):
    host = serve("--port", 0, "--no-model").wait()
    port = int(host.url.rsplit(":", 1)[1])
    listening = subprocess.run(["cat", "/proc/net/tcp"], capture_output=True, text=True).stdout
    addresses = [line.split()[1] for line in listening.splitlines()[1:] if line.split()[3] == "0A"]

    assert [address for address in addresses if address.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


REFUSALS = [
    ({"messages": []}, 400, "no_messages"),
    ({}, 400, "no_messages"),
    ({"messages": [{"role": "user", "content": "x"}], "model": "y"}, 400, "model_named"),
    ({"messages": [{"role": "robot", "content": "x"}]}, 400, "bad_role"),
    ({"messages": [{"role": "user", "content": 5}]}, 400, "bad_content"),
    ({"messages": [{"role": "user", "content": "x"}], "temperature": "hot"}, 400, "bad_number"),
    ({"messages": [{"role": "user", "content": "x"}], "sessionId": "nope"}, 404, "unknown_session"),
    ({"messages": [{"role": "user", "content": "x"}]}, 400, "no_model"),
]


def test_refusals_are_statuses_with_sentences(serve):
    host = serve("--port", 0, "--no-model").wait()

    for body, status, code in REFUSALS:
        answered, data = host.json("/api/chat", "POST", body)
        assert (answered, data["code"]) == (status, code), body
        assert data["error"].endswith(".")
    assert host.json("/api/chat", "POST", b"{")[1]["code"] == "bad_json"
    assert host.json("/api/agent/conversations/zzz")[0] == 404
    assert host.json("/api/agent/turns/" + "0" * 32)[0] == 404


def test_a_prompt_that_is_too_long_is_refused_with_both_numbers_and_not_kept(serve, model):
    host = serve("--port", 0, "--model", model, "--context", 256).wait()
    host.wait_for_model()
    session = host.session()

    status, data = host.chat(session["sessionId"], [{"role": "user", "content": "word " * 400}])

    assert status == 400
    assert data["code"] == "prompt_too_long"
    assert "431" in data["error"] and "256" in data["error"]
    assert host.json("/api/agent/conversations")[1]["conversations"] == []


def test_a_chat_longer_than_the_window_goes_on_without_its_oldest_messages(serve, model):
    host = serve("--port", 0, "--model", model, "--context", 256).wait()
    host.wait_for_model()
    session = host.session()
    messages = [
        {"role": "user", "content": "word " * 150}, {"role": "assistant", "content": "word " * 100},
        {"role": "user", "content": "Say hello."}]

    status, frames = host.chat(session["sessionId"], messages, maxTokens=8)

    assert status == 200
    assert frames[-1]["done"] is True and frames[-1]["error"] is None
    assert any("2 earlier messages were left out" in json.dumps(frame) for frame in frames)
    _, chat = host.json(f"/api/agent/conversations/{session['conversationId']}")
    assert [message["role"] for message in chat["messages"]] == ["user", "assistant", "user", "assistant"]


def test_a_turn_goes_on_without_its_reader_and_can_be_read_again(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session = host.session()
    body = json.dumps(
        {"sessionId": session["sessionId"], "messages": [{"role": "user", "content": "Count to five."}], "maxTokens": 40}
    )
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"))
    connection.request(
        "POST", "/api/chat", body=body,
        headers={"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"},
    )
    answer = connection.getresponse()
    turn = answer.getheader("X-Alcove-Turn")
    answer.read(10)
    connection.close()

    _, _, data = host.request(f"/api/agent/turns/{turn}?from=0")

    frames = [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: ")]
    assert frames[-1]["done"] is True
    text = "".join(frame.get("token", "") for frame in frames)
    _, chat = host.json(f"/api/agent/conversations/{session['conversationId']}")
    assert chat["messages"][-1]["content"] == text
    _, status = host.json(f"/api/agent/turns?conversation={session['conversationId']}")
    assert status["turn"]["id"] == turn and status["turn"]["running"] is False


def begin_story(host):
    """Starts an answer that is long enough to be interrupted, and reads it up to its first token.

    The connection comes back too, because letting go of it would close it: whoever asked stays a reader.
    """
    session = host.session()
    body = json.dumps(
        {"sessionId": session["sessionId"], "messages": [{"role": "user", "content": "Tell me a very long story."}]}
    )
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"))
    connection.request(
        "POST", "/api/chat", body=body,
        headers={"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"},
    )
    answer = connection.getresponse()
    seen = b""
    while b'"token"' not in seen:
        seen += answer.read1(4096)
    return session, connection, answer, seen


def test_stop_ends_a_turn_and_keeps_its_words(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session, _connection, answer, seen = begin_story(host)
    stopped = host.json(f"/api/agent/turns/{answer.getheader('X-Alcove-Turn')}/stop", "POST")[1]
    seen += answer.read()

    assert stopped["stopped"] is True
    frames = [json.loads(line[6:]) for line in seen.decode().split("\n") if line.startswith("data: ")]
    assert frames[-1]["done"] is True and frames[-1]["aborted"] is True
    _, chat = host.json(f"/api/agent/conversations/{session['conversationId']}")
    assert chat["messages"][-1]["role"] == "assistant"


def test_acknowledged_messages_survive_kill_9(serve, model, root):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session = host.session()
    _, frames = host.chat(session["sessionId"], CAPITAL, temperature=0)
    assert frames[-1]["done"]
    host.process.kill()
    host.process.wait()

    again = serve("--port", 0, "--no-model").wait()

    _, chat = again.json(f"/api/agent/conversations/{session['conversationId']}")
    assert [message["role"] for message in chat["messages"]] == ["user", "assistant"]


def test_a_load_that_ended_the_program_is_not_tried_again(serve, model, root):
    root.mkdir()
    (root / "loading.json").write_text(json.dumps({"model": model}))

    host = serve("--port", 0).wait()

    state = host.wait_for_model()
    assert state["state"] == "Failed"
    assert "was not tried again" in state["error"]
    host.stop()
    second = serve("--port", 0, "--model", model).wait()
    assert second.wait_for_model()["state"] == "Loaded"


def test_a_busy_port_is_a_sentence(serve, alcove, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        done = alcove("serve", "--port", port, "--root", tmp_path / "other", "--no-model")

    assert done.returncode in (1, 69)
    assert str(port) in done.stderr and done.stderr.startswith("alcove: ")


def test_a_second_host_on_one_folder_is_refused(serve, alcove, root):
    serve("--port", 0, "--no-model").wait()

    done = alcove("serve", "--port", 0, "--root", root, "--no-model")

    assert done.returncode == 69
    assert str(root) in done.stderr


@pytest.mark.skipif(os.geteuid() == 0 and not os.path.exists("/proc/self/ns/mnt"), reason="needs a folder nobody may write")
def test_a_root_that_cannot_be_written_is_a_sentence(alcove):
    done = alcove("serve", "--port", 0, "--root", "/proc/alcove", "--no-model")

    assert done.returncode != 0
    assert "/proc/alcove" in done.stderr
    assert "Fatal" not in done.stderr


def test_an_unreadable_database_is_kept_aside_and_said(serve, root):
    root.mkdir()
    (root / "alcove.db").write_bytes(b"this is not a database at all, " * 100)

    host = serve("--port", 0, "--no-model").wait()

    assert host.json("/api/agent/notices")[1]["notices"][0]["kind"] == "storage_kept_aside"
    kept = [name for name in os.listdir(root) if "unreadable" in name]
    assert kept and (root / kept[0]).read_bytes().startswith(b"this is not a database")


def test_a_model_that_is_no_model_leaves_the_host_up(serve, tmp_path):
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF\x03\0\0\0" + b"\xff" * 64)

    host = serve("--port", 0, "--model", bad).wait()

    state = host.wait_for_model()
    assert state["state"] == "Failed" and "bad.gguf" in state["error"]
    assert host.request("/health")[0] == 200


def test_a_model_can_be_chosen_while_it_runs(serve, model):
    host = serve("--port", 0, "--no-model").wait()
    assert "SmolLM2-135M-Instruct.Q8_0.gguf" in host.json("/api/models")[1]["models"]

    status, answer = host.json("/api/models/load", "POST", {"model": "SmolLM2-135M-Instruct.Q8_0.gguf"})

    assert status == 200 and answer["ok"] is True and answer["architecture"] == "llama"
    assert host.json("/api/models")[1]["loaded"] == "SmolLM2-135M-Instruct.Q8_0.gguf"
    assert host.json("/api/models/load", "POST", {"model": "nothing"})[0] == 404


def test_stopping_lets_a_running_turn_write_its_end(serve, model, root):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session, _connection, _answer, _ = begin_story(host)
    assert host.stop(signal.SIGTERM) == 0
    again = serve("--port", 0, "--no-model").wait()

    _, chat = again.json(f"/api/agent/conversations/{session['conversationId']}")
    assert chat["messages"][-1]["role"] == "assistant" and chat["messages"][-1]["content"]


LONG = [{"role": "user", "content": "Write a very long story about a fox."}]


def begin(host, session, messages, **rest):
    """Sends a message and leaves its answer unread; the turn runs on."""
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=60)
    connection.request(
        "POST", "/api/chat", json.dumps({"sessionId": session["sessionId"], "messages": messages, **rest}),
        {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    return connection.getresponse()


def frames_of(answer):
    lines = answer.read().decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def wait_for_words(host, turn):
    while host.json(f"/api/agent/turns?conversation={turn}")[1]["turn"]["frames"] < 8:
        time.sleep(0.02)


def test_a_refused_message_does_not_cost_the_answer_it_stopped(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session = host.session()
    answer = begin(host, session, LONG, maxTokens=2000)
    wait_for_words(host, session["conversationId"])

    status, refusal = host.chat(session["sessionId"], [*LONG, {"role": "user", "content": "w " * 9000}])
    end = frames_of(answer)[-1]

    assert (status, refusal["code"]) == (400, "prompt_too_long")
    assert end["aborted"] is True and end["error"] is None
    _, chat = host.json(f"/api/agent/conversations/{session['conversationId']}")
    assert [message["role"] for message in chat["messages"]] == ["user", "assistant"]


def test_deleting_a_chat_that_is_being_answered_is_no_fault(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session = host.session()
    answer = begin(host, session, LONG, maxTokens=2000)
    wait_for_words(host, session["conversationId"])

    assert host.json(f"/api/agent/conversations/{session['conversationId']}", "DELETE")[1] == {"deleted": True}

    end = frames_of(answer)[-1]
    assert end["aborted"] is True and end["error"] is None


@pytest.mark.parametrize("field, value, sentence", [
    ("maxTokens", 1.5, '"maxTokens" should be a whole number from 1 to 1000000.'),
    ("seed", 2**32, '"seed" should be a whole number from 0 to 4294967295.'),
    ("topK", -1, '"topK" should be a whole number from 0 to 100000.'),
    ("temperature", "NaN", '"temperature" should be a number from 0 to 5.'),
    ("think", "yes", '"think" should be true or false.'),
    ("skills", 5, '"skills" should be a list of names.'),
    ("sessionId", "x" * 1000, "There is no such session any more."),
])
def test_a_field_that_cannot_be_read_is_refused(serve, field, value, sentence):
    host = serve("--port", 0, "--no-model").wait()

    status, answer = host.json("/api/chat", "POST", {"messages": CAPITAL, field: value})

    assert status in (400, 404)
    assert answer["error"] == sentence


@pytest.mark.parametrize("title, code", [(5, "bad_field"), ("x" * 1001, "title_too_long")])
def test_a_title_that_is_none_is_refused(serve, title, code):
    host = serve("--port", 0, "--no-model").wait()
    chat = host.json("/api/agent/conversations", "POST", {})[1]

    status, answer = host.json(f"/api/agent/conversations/{chat['id']}", "POST", {"title": title})

    assert (status, answer["code"]) == (400, code)


def take_listener(process):
    """Ends the program's listening socket from outside, as a system does with one that was suspended."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(process.pid)
    taken = 0
    for name in os.listdir(f"/proc/{process.pid}/fd"):
        found = libc.syscall(438, pidfd, int(name), 0)  # pidfd_getfd: a copy of the other's descriptor
        if found < 0:
            if ctypes.get_errno() == 1:
                pytest.skip("this system lets nobody reach into another process")
            continue
        try:
            each = socket.socket(fileno=found)
            if each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                each.shutdown(socket.SHUT_RDWR)
                taken += 1
            each.close()
        except OSError:
            os.close(found)
    os.close(pidfd)
    assert taken == 1


def test_a_host_that_lost_its_listener_while_stopped_comes_back(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    session, _connection, answer, _ = begin_story(host)
    host.process.send_signal(signal.SIGSTOP)
    take_listener(host.process)
    host.process.send_signal(signal.SIGCONT)

    deadline = time.monotonic() + 30
    while True:
        try:
            turn = host.json(f"/api/agent/turns?conversation={session['conversationId']}")[1]["turn"]
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    # The turn belongs to the host, not to the connection that was lost.
    assert turn["id"] == answer.getheader("X-Alcove-Turn")
    host.json(f"/api/agent/turns/{turn['id']}/stop", "POST")
    assert "anew" in (host.root / "logs" / "alcove.log").read_text()
    assert host.stop() == 0


def test_the_first_message_with_tools_finds_its_beginning_read_also_after_a_restart(serve, model, root):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    deadline = time.monotonic() + 60
    while not host.json("/api/agent/engine")[1]["model"]["prefixCacheWarm"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    question = [{"role": "user", "content": "Say hello."}]

    _, frames = host.chat(host.session()["sessionId"], question, profile="agent", maxTokens=4)
    first = frames[-1]
    assert first["kvReusedTokens"] > 200 and first["kvMissReason"] is None
    assert first["promptTokens"] - first["kvReusedTokens"] < 30
    host.stop()
    assert len(list((root / "checkpoints").rglob("*.ckpt"))) == 1

    again = serve("--port", 0, "--model", model).wait()
    again.wait_for_model()
    # Before any warming: what was kept on disk is enough.
    _, frames = again.chat(again.session()["sessionId"], question, profile="agent", maxTokens=4)
    assert frames[-1]["kvReusedTokens"] == first["kvReusedTokens"]
