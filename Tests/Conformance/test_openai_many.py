"""Several programs at once, and programs that leave."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import openai
from clients import MODEL, client

LONG = [{"role": "user", "content": "Write a very long story about a fox and a hen, with many chapters."}]


def long_answer(api, **rest):
    return api.chat.completions.create(
        model="default", messages=LONG, temperature=1, stream=True, max_tokens=6_000, **rest)


def in_a_loop_of_its_own(work):
    """The browser's tests leave a loop in this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def until_nothing_runs(host):
    """The engine has said its last word; an answer left running would take minutes to come to its own."""
    deadline = time.monotonic() + 60
    while host.json("/api/queue/status")[1]["processing"]:
        assert time.monotonic() < deadline, "an answer that nobody reads goes on"
        time.sleep(0.02)  # what the host says is all there is to look at


def test_a_stream_that_is_closed_stops_the_engine(host, api):
    stream = long_answer(api)
    pieces = [next(stream) for _ in range(5)]

    assert host.json("/api/queue/status")[1]["processing"] == 1
    stream.close()

    until_nothing_runs(host)
    assert all(piece.choices[0].finish_reason is None for piece in pieces)


def test_a_client_that_leaves_before_a_whole_answer_stops_the_engine(host):
    async def leave():
        async with openai.AsyncOpenAI(base_url=host.url + "/v1", api_key=host.token, max_retries=0) as api:
            task = asyncio.create_task(api.chat.completions.create(
                model="default", messages=LONG, temperature=1, max_tokens=6_000))
            while not host.json("/api/queue/status")[1]["processing"]:
                await asyncio.sleep(0.02)
            task.cancel()

    in_a_loop_of_its_own(leave())

    until_nothing_runs(host)


def test_eight_clients_are_answered_each_with_its_own(host):
    words = ["red", "blue", "green", "black", "white", "brown", "pink", "grey"]

    def repeat(word):
        # Held to the word by a schema of its own, so that one that got another's answer would show.
        form = {"type": "object", "properties": {"word": {"const": word}}, "required": ["word"], "additionalProperties": False}
        answer = client(host).chat.completions.create(
            model="default", max_tokens=40, stream=True,
            messages=[{"role": "user", "content": f"Repeat this word: {word}"}],
            response_format={"type": "json_schema", "json_schema": {"name": "word", "schema": form}})
        return json.loads("".join(piece.choices[0].delta.content or "" for piece in answer))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(repeat, words))

    assert answers == [{"word": word} for word in words]
    until_nothing_runs(host)


def test_nothing_of_it_is_kept(host, api):
    api.chat.completions.create(model="default", messages=LONG, max_tokens=5)

    assert host.json("/api/agent/conversations")[1]["conversations"] == []
    assert host.json("/api/agent/runs")[1]["runs"] == []


def test_when_the_host_stops_a_stream_ends_with_an_error(start):
    host = start("--model", MODEL)
    host.wait_for_model()
    stream = long_answer(client(host))
    next(stream)
    stopping = threading.Thread(target=host.stop)
    stopping.start()

    try:
        for _ in stream:
            pass
        told = None
    except openai.APIError as error:
        told = error
    stopping.join()

    assert told is not None and told.code in ["server_stopping", "answer_stopped"]


def test_when_another_model_is_loaded_a_stream_ends_with_an_error(start):
    host = start("--model", MODEL)
    host.wait_for_model()
    stream = long_answer(client(host))
    next(stream)

    status, _ = host.json("/api/models/load", "POST", {"model": str(MODEL)})
    try:
        for _ in stream:
            pass
        told = None
    except openai.APIError as error:
        told = error

    assert status == 200
    assert told is not None and told.code == "answer_stopped"
    assert client(host).chat.completions.create(
        model="default", messages=[{"role": "user", "content": "hi"}], max_tokens=2).usage.completion_tokens == 2
