"""`--engine openai`: a server elsewhere answers, through the real program."""

import json
import signal
import socket
import struct
import subprocess
import threading

import pytest
from openai_server import OpenAIServer
from program import PROGRAM

KEY = "sk-very-secret-0123456789"
QUESTION = "Name three colours of the rainbow."


@pytest.fixture
def server():
    servers = []

    def start(answer):
        servers.append(OpenAIServer(answer))
        return servers[-1]

    yield start
    for one in servers:
        one.close()


@pytest.fixture
def remote(tmp_path):
    key = tmp_path / "key"
    key.write_text(KEY + "\n")

    def words(url):
        return ["--engine", "openai", "--endpoint", url, "--key-file", str(key)]

    return words


def text(frames):
    return "".join(frame.get("token", "") for frame in frames)


def words_of(frames):
    assert "done" in frames[-1], frames[-3:]
    return frames[-1]


def test_our_own_host_behind_another_answers_the_same(serve, tmp_path, model):
    near = serve("--port", "0", "--model", model, folder=tmp_path / "near").wait()
    near.wait_for_model()
    key = tmp_path / "token"
    key.write_text(near.token)
    far = serve(
        "--port", "0", "--engine", "openai", "--endpoint", near.url + "/v1", "--key-file", key,
        folder=tmp_path / "far").wait()
    assert far.wait_for_model()["state"] == "Loaded"
    body = {"model": "default", "messages": [{"role": "user", "content": QUESTION}], "temperature": 0, "max_tokens": 24}

    direct = near.json("/v1/chat/completions", "POST", body)
    through = far.json("/v1/chat/completions", "POST", body)

    assert direct[0] == through[0] == 200, (direct, through)
    content = direct[1]["choices"][0]["message"]["content"]
    assert len(content) > 10
    assert through[1]["choices"][0]["message"]["content"] == content
    assert through[1]["choices"][0]["finish_reason"] == direct[1]["choices"][0]["finish_reason"]
    for count in ["prompt_tokens", "completion_tokens"]:
        assert through[1]["usage"][count] == direct[1]["usage"][count]
    engine = far.json("/api/agent/engine")[1]
    host = near.url.removeprefix("http://")
    assert engine["leavesDevice"] is True and engine["endpointHost"] == host
    assert f"answers from {host}: text leaves this device" in engine["engine"]
    assert any(host in notice for notice in engine["model"]["notices"])
    assert near.json("/api/agent/engine")[1]["leavesDevice"] is False
    logs = "".join(path.read_text(errors="replace") for path in (tmp_path / "far/logs").glob("*"))
    assert near.token not in logs + json.dumps(engine)


def test_ask_says_where_it_asks_and_the_key_is_nowhere(alcove, server, remote):
    def answer(request, body):
        request.stream()
        request.say("Grüße ")
        request.line({"choices": [{"delta": {"content": "von dort."}, "finish_reason": "stop"}]})
        request.done()

    there = server(answer)
    result = alcove("ask", "Hi", *remote(there.url))

    assert result.returncode == 0 and result.stdout == "Grüße von dort.\n", result
    assert f"Answers come from {there.url[7:-3]}, not from this device" in result.stderr
    assert there.asked[0]["model"] == "elsewhere" and there.asked[0]["temperature"] == 0
    assert {headers["Authorization"] for headers in there.headers} == {f"Bearer {KEY}"}
    assert KEY not in result.stdout + result.stderr


def refusing(request, body):
    request.whole(401, {"error": {"message": f"Incorrect API key provided: {KEY}\u202e\n<b>"}})


def endless_line(request, body):
    request.stream()
    request.line(b"data: ")
    while True:
        request.line(b"x" * 65536)


def endless_error(request, body):
    request.send_response(418)
    request.end_headers()
    while True:
        request.wfile.write(b"no " * 4096)


def no_json(request, body):
    request.stream()
    request.say("Well, ")
    request.line(b"data: {oops\n\n")


def cut(request, body):
    request.stream()
    request.say("Well, ")


def sorry(request, body):
    request.stream()
    request.say("Well, ")
    request.line({"error": {"message": "CUDA out of memory"}})


def elsewhere(request, body):
    request.send_response(307)
    request.send_header("Location", "http://127.0.0.1:9/steal")
    request.send_header("Content-Length", "0")
    request.end_headers()


@pytest.mark.parametrize("answer, sentence", [
    (refusing, "does not accept the key (status 401); it says: \"Incorrect API key provided: [key] <b>\"."),
    (endless_line, "cannot be read: a line of it has no end."),
    (endless_error, "refused with status 418; it says: \"no no no"),
    (no_json, "cannot be read: it holds something that is no JSON object."),
    (cut, "was cut off: it ended before the server said that it was complete."),
    (sorry, "gave up in the middle; it says: \"CUDA out of memory\"."),
    (elsewhere, "leads elsewhere (status 307), which is not followed."),
])
def test_a_server_that_misbehaves_is_told_in_a_sentence(alcove, server, remote, answer, sentence):
    there = server(answer)
    result = alcove("ask", "Hi", *remote(there.url), timeout=60)

    assert result.returncode != 0
    assert sentence in result.stderr
    assert KEY not in result.stdout + result.stderr
    assert len(result.stderr) < 1500
    assert len(there.asked) == 1


def test_the_key_goes_to_no_other_server(alcove, server, remote):
    other = server(lambda request, body: request.whole(200, {"choices": []}))

    def leads_there(request, body):
        request.send_response(307)
        request.send_header("Location", other.url + "/chat/completions")
        request.send_header("Content-Length", "0")
        request.end_headers()

    there = server(leads_there)
    result = alcove("ask", "Hi", *remote(there.url))

    assert result.returncode != 0 and "leads elsewhere (status 307)" in result.stderr
    assert len(there.asked) == 1
    assert other.asked == [] and other.headers == []


def test_a_server_with_too_much_to_do_is_asked_three_times(alcove, server, remote):
    def busy(request, body):
        request.send_response(429)
        request.send_header("Retry-After", "0")
        request.send_header("Content-Length", "0")
        request.end_headers()

    there = server(busy)
    result = alcove("ask", "Hi", *remote(there.url))

    assert result.returncode != 0 and "has too much to do for this key (status 429)." in result.stderr
    assert len(there.asked) == 3


def test_words_that_came_before_the_line_was_cut_are_kept(alcove, server, remote):
    def drops(request, body):
        request.stream()
        request.say("Well, ")
        # Reset, not ended: what a network does that breaks down.
        request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.connection.close()

    there = server(drops)
    result = alcove("ask", "Hi", *remote(there.url))

    assert result.returncode != 0 and "was cut off" in result.stderr
    assert len(there.asked) == 1


def test_bytes_that_are_no_text_and_an_answer_in_one_piece(alcove, server, remote):
    def bad_bytes(request, body):
        request.stream()
        request.line(b'data: {"choices":[{"delta":{"content":"a\xff\xc3b"},"finish_reason":"stop"}]}\n\n')

    def whole(request, body):
        request.whole(200, {"choices": [{"message": {"content": "In one piece."}, "finish_reason": "stop"}]})

    assert alcove("ask", "Hi", *remote(server(bad_bytes).url)).stdout == "a\ufffd\ufffdb\n"
    assert alcove("ask", "Hi", *remote(server(whole).url)).stdout == "In one piece.\n"


def test_an_interrupt_closes_the_connection(server, remote, tmp_path):
    def answer(request, body):
        request.stream()
        request.say("Well, ")
        request.hold()

    there = server(answer)
    process = subprocess.Popen(
        [PROGRAM, "ask", "Hi", *remote(there.url)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert there.begun.wait(30)
    assert process.stdout.read(6) == "Well, "
    process.send_signal(signal.SIGINT)

    assert there.left.wait(30)
    assert process.wait(30) == 130


def test_a_call_in_odd_pieces_runs_a_tool(alcove, server, remote, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "note.txt").write_text("The word is banana.")

    def answer(request, body):
        request.stream()
        last = body["messages"][-1]
        if last["role"] == "tool":
            request.say("It says banana." if "banana" in last["content"] else "Nothing.", finish_reason="stop")
            return request.done()
        assert any(tool["function"]["name"] == "read_file" for tool in body["tools"])
        for piece in [
            {"id": "x", "function": {"name": "read_"}}, {"function": {"name": "file"}},
            {"function": {"arguments": '{"pa'}}, {"function": {"arguments": 'th": "note'}},
            {"function": {"arguments": '.txt"}'}},
        ]:
            request.line({"choices": [{"delta": {"tool_calls": [piece]}}]})
        request.line({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
        request.done()

    there = server(answer)
    result = alcove(
        "run", "What does note.txt say?", "-w", work, "--root", tmp_path / "root", *remote(there.url))

    assert result.returncode == 0, result.stderr
    assert "It says banana." in result.stdout
    assert "read_file" in result.stderr
    assert len(there.asked) == 2 and there.asked[1]["messages"][-1]["tool_call_id"] == "x"


def test_serve_keeps_looking_for_a_server_and_loads_no_file(serve, server, remote, tmp_path, model):
    there = server(lambda request, body: None)
    there.close()
    host = serve("--port", "0", *remote(there.url)).wait()
    state = host.wait_for_model()

    assert state["state"] in ("Loading", "Failed")
    engine = host.json("/api/agent/engine")[1]
    assert engine["leavesDevice"] is True and "text leaves this device" in engine["engine"]
    status, answer = host.json("/api/models/load", "POST", {"model": model})
    assert status == 400 and answer["code"] == "engine_is_remote"


@pytest.mark.parametrize("words, sentence", [
    (["--endpoint", "http://127.0.0.1:1"], "--endpoint is for a server."),
    (["--engine", "openai"], "--engine openai needs --endpoint."),
    (["--engine", "other"], '--engine is llama or openai, not "other".'),
    (["--engine", "openai", "--endpoint", "ftp://x"], "it is no whole address of http or https."),
    (["--engine", "openai", "--endpoint", "http://93.184.216.34/v1"], "plain http would show your words"),
    (["--engine", "openai", "--endpoint", "https://x", "--model", "m"], "name two models"),
    (["--engine", "openai", "--endpoint", "https://x", "--key-file", "/nothing/there"], "cannot be read"),
])
def test_what_cannot_be_meant_is_refused(alcove, words, sentence):
    result = alcove("ask", "Hi", *words)

    assert result.returncode != 0 and sentence in result.stderr, result.stderr
