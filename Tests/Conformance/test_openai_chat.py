"""Chat completions, asked by OpenAI's own client of a real model."""

import json
import math
from typing import Literal

import openai
import pydantic
import pytest
from clients import client

CAPITAL = [{"role": "user", "content": "What is the capital of France? Answer in one word."}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather", "description": "Tells the weather of a city.",
        "parameters": {
            "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
            "additionalProperties": False,
        },
    },
}
TIME = {"type": "function", "function": {"name": "get_time", "description": "Tells the time.", "parameters": {
    "type": "object", "properties": {}, "additionalProperties": False}}}


def ask(api, messages=CAPITAL, **rest):
    rest.setdefault("temperature", 0)
    rest.setdefault("max_tokens", 64)
    return api.chat.completions.create(model="default", messages=messages, **rest)


def test_the_loaded_model_is_listed_and_found(host, api):
    models = api.models.list().data

    assert [model.id for model in models] == ["SmolLM2-135M-Instruct.Q8_0.gguf"]
    assert models[0].object == "model" and models[0].created > 0
    assert api.models.retrieve(models[0].id) == models[0]
    assert api.models.retrieve("SmolLM2-135M-Instruct.Q8_0").id == models[0].id


def test_a_question_is_answered(api):
    answer = ask(api)

    assert answer.object == "chat.completion" and answer.id.startswith("chatcmpl-") and answer.created > 0
    assert answer.choices[0].finish_reason == "stop"
    assert answer.choices[0].message.role == "assistant"
    assert "Paris" in answer.choices[0].message.content
    usage = answer.usage
    assert usage.prompt_tokens == 42 and usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_the_second_time_the_prompt_is_reused(api):
    ask(api)

    assert ask(api).usage.prompt_tokens_details.cached_tokens == 41


def test_a_stream_says_the_same_as_the_whole(api):
    whole = ask(api, logprobs=True)
    chunks = list(ask(api, stream=True, stream_options={"include_usage": True}, logprobs=True))

    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    pieces = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert "".join(piece.delta.content or "" for piece in pieces) == whole.choices[0].message.content
    assert [piece.finish_reason for piece in pieces if piece.finish_reason] == ["stop"]
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens == whole.usage.total_tokens
    assert all(chunk.usage is None for chunk in chunks[:-1])
    told = [token for piece in pieces if piece.logprobs for token in piece.logprobs.content]
    assert [token.token for token in told] == [token.token for token in whole.choices[0].logprobs.content]


def test_without_include_usage_no_chunk_tells_it(api):
    assert all(chunk.choices and chunk.usage is None for chunk in ask(api, stream=True))


def test_the_clients_own_stream_collector_takes_it(api):
    with api.chat.completions.stream(model="default", messages=CAPITAL, temperature=0, max_tokens=32) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()

    assert {"chunk", "content.delta", "content.done"} <= kinds
    assert "Paris" in final.choices[0].message.content


def test_content_in_parts_and_system_words(api):
    answer = ask(api, [
        {"role": "developer", "content": "You answer in one word."},
        {"role": "user", "content": [{"type": "text", "text": "What is the capital"}, {"type": "text", "text": "of France?"}]},
    ])

    assert "Paris" in answer.choices[0].message.content


def test_max_tokens_ends_with_length(api):
    for name in ["max_tokens", "max_completion_tokens"]:
        answer = api.chat.completions.create(model="default", messages=CAPITAL, temperature=0, **{name: 3})
        assert answer.usage.completion_tokens == 3
        assert answer.choices[0].finish_reason == "length"


def test_stop_texts_end_the_answer_and_are_not_in_it(api):
    whole = ask(api).choices[0].message.content
    answer = ask(api, stop=["Paris", "nothing"])

    assert answer.choices[0].message.content == whole.split("Paris")[0]
    assert answer.choices[0].finish_reason == "stop"
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in ask(api, stop="Paris", stream=True))
    assert streamed == answer.choices[0].message.content


def test_a_seed_repeats_and_another_differs(api):
    def story(seed):
        return ask(
            api, [{"role": "user", "content": "Write a story about a fox."}], temperature=1.5, top_p=1, seed=seed,
            max_tokens=40).choices[0].message.content

    assert story(7) == story(7)
    assert len({story(7), story(8), story(-9), story(2**40)}) > 1


def test_penalties_and_sampling_are_taken(api):
    plain = ask(api, [{"role": "user", "content": "Say ha ha ha ha ha ha."}], max_tokens=40)
    punished = ask(
        api, [{"role": "user", "content": "Say ha ha ha ha ha ha."}], max_tokens=40, frequency_penalty=2,
        presence_penalty=2, extra_body={"repeat_penalty": 2})

    assert plain.choices[0].message.content != punished.choices[0].message.content


def test_logprobs_are_probabilities_of_the_tokens_told(api):
    answer = ask(api, logprobs=True, top_logprobs=5)
    tokens = answer.choices[0].logprobs.content

    assert "".join(token.token for token in tokens) == answer.choices[0].message.content
    assert len(tokens) == answer.usage.completion_tokens
    for token in tokens:
        assert bytes(token.bytes).decode() == token.token and token.logprob <= 0
        assert len(token.top_logprobs) == 5
        assert token.top_logprobs[0].token == token.token  # nothing is drawn
        assert sum(math.exp(other.logprob) for other in token.top_logprobs) <= 1 + 1e-6
    assert ask(api).choices[0].logprobs is None


# ---- tools: the program's own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_a_call_is_made(api, choice, is_stream):
    asked = [{"role": "user", "content": "How is the weather in Paris?"}]
    tools = [WEATHER, TIME] if isinstance(choice, dict) else [WEATHER]
    with api.chat.completions.stream(
        model="default", messages=asked, tools=tools, tool_choice=choice, temperature=0, max_tokens=200,
        parallel_tool_calls=False,
    ) if is_stream else _nothing() as stream:
        answer = stream.get_final_completion() if is_stream else ask(
            api, asked, tools=tools, tool_choice=choice, max_tokens=200, parallel_tool_calls=False)

    assert answer.choices[0].finish_reason == "tool_calls"
    (call,) = answer.choices[0].message.tool_calls
    assert call.type == "function" and call.id and call.function.name == "get_weather"
    assert list(json.loads(call.function.arguments)) == ["city"]


class _nothing:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        pass


def test_a_result_goes_back_and_is_answered(api):
    asked = [{"role": "user", "content": "How is the weather in Paris?"}]
    first = ask(api, asked, tools=[WEATHER], tool_choice="required", parallel_tool_calls=False)
    message = first.choices[0].message

    def answered(result):
        return ask(
            api, [*asked, message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": result}],
            tools=[WEATHER], tool_choice="none")

    short, long = answered("18 degrees, sunny"), answered("18 degrees, sunny, " + "a light wind from the west, " * 10)

    # What so small a model makes of it is its own affair; that it reads call and result is not.
    for answer in (short, long):
        assert answer.choices[0].message.tool_calls is None and answer.choices[0].message.content
    assert short.usage.prompt_tokens > first.usage.prompt_tokens + 15
    assert long.usage.prompt_tokens > short.usage.prompt_tokens + 50


def test_with_none_no_call_is_made(api):
    answer = ask(api, tools=[WEATHER], tool_choice="none")

    assert answer.choices[0].message.tool_calls is None and answer.choices[0].message.content


# ---- forms ---------------------------------------------------------------------------------------------------------------


def test_an_answer_follows_a_schema(api):
    schema = {
        "type": "object", "additionalProperties": False, "required": ["city", "country", "large"],
        "properties": {
            "city": {"type": "string", "maxLength": 20}, "country": {"enum": ["France", "Italy"]},
            "large": {"type": "boolean"},
        },
    }
    for is_stream in [False, True]:
        answer = ask(
            api, stream=is_stream, max_tokens=100,
            response_format={"type": "json_schema", "json_schema": {"name": "place", "schema": schema, "strict": True}})
        text = (
            "".join(chunk.choices[0].delta.content or "" for chunk in answer) if is_stream
            else answer.choices[0].message.content)
        told = json.loads(text)
        assert set(told) == {"city", "country", "large"} and told["country"] in ["France", "Italy"]


class Country(pydantic.BaseModel):
    name: Literal["France", "Italy"]
    is_large: bool


class Place(pydantic.BaseModel):
    """Nested, so that its schema has references."""

    city: Literal["Paris", "Rome"]
    country: Country
    others: list[Country] = pydantic.Field(max_length=2)


def test_the_clients_own_models_are_followed(api):
    answer = api.chat.completions.parse(
        model="default", messages=CAPITAL, temperature=0, max_tokens=200, response_format=Place)

    assert isinstance(answer.choices[0].message.parsed, Place)


def test_the_clients_own_tools_are_called(api):
    answer = api.chat.completions.parse(
        model="default", messages=CAPITAL, temperature=0, max_tokens=200, parallel_tool_calls=False,
        tools=[openai.pydantic_function_tool(Place)], tool_choice="required")

    (call,) = answer.choices[0].message.tool_calls
    assert isinstance(call.function.parsed_arguments, Place)


def test_a_json_object_is_one(api):
    answer = ask(
        api, [{"role": "user", "content": "Describe a cat as JSON with a name and an age."}],
        response_format={"type": "json_object"}, max_tokens=300)

    if answer.choices[0].finish_reason == "stop":
        assert isinstance(json.loads(answer.choices[0].message.content), dict)
    else:  # so small a model may go on and on
        assert answer.choices[0].message.content.lstrip().startswith("{")


# ---- raw text -----------------------------------------------------------------------------------------------------------


def test_raw_text_is_gone_on_from(api):
    answer = api.completions.create(model="default", prompt="The capital of France is", temperature=0, max_tokens=4)

    assert answer.object == "text_completion" and answer.choices[0].text.startswith(" Paris")
    assert answer.choices[0].finish_reason == "length" and answer.usage.prompt_tokens == 5
    streamed = api.completions.create(
        model="default", prompt="The capital of France is", temperature=0, max_tokens=4, stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed) == answer.choices[0].text


def test_raw_text_is_no_template(api):
    def tokens(text):
        return api.completions.create(model="default", prompt=text, max_tokens=1).usage.prompt_tokens

    # Were the spelling taken for the token it names, it would be one.
    assert tokens("<|im_start|>") > 3


def test_raw_text_tells_chances_in_its_own_form(api):
    answer = api.completions.create(
        model="default", prompt="The capital of France is", temperature=0, max_tokens=4, logprobs=2)
    told = answer.choices[0].logprobs

    assert "".join(told.tokens) == answer.choices[0].text
    assert len(told.tokens) == len(told.token_logprobs) == len(told.top_logprobs) == len(told.text_offset) == 4
    assert all(len(top) == 2 for top in told.top_logprobs)
    assert told.text_offset[0] == 0 and told.text_offset[1] == len(told.tokens[0])


# ---- errors ----------------------------------------------------------------------------------------------------------------


def refused(kind, call, **fields):
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert error.body["message"].endswith((".", "`.")) and error.body["type"]
    assert set(error.body) == {"message", "type", "param", "code"}
    for name, value in fields.items():
        assert getattr(error, name) == value
    return error


def test_a_wrong_key_is_an_authentication_error(host):
    refused(
        openai.AuthenticationError, lambda: client(host, api_key="wrong").models.list(), code="invalid_api_key",
        status_code=401)


def test_errors_have_the_clients_own_classes(host, api):
    refused(openai.NotFoundError, lambda: api.models.retrieve("gpt-4"), code="model_not_found", param="model")
    refused(
        openai.NotFoundError, lambda: api.chat.completions.create(model="gpt-4", messages=CAPITAL),
        code="model_not_found")
    refused(openai.BadRequestError, lambda: ask(api, n=2), param="n", code="invalid_value")
    refused(openai.BadRequestError, lambda: ask(api, temperature=9), param="temperature")
    refused(openai.BadRequestError, lambda: ask(api, []), param="messages")
    refused(openai.BadRequestError, lambda: ask(api, extra_body={"colour": 1}), code="unknown_parameter")
    refused(
        openai.BadRequestError,
        lambda: ask(api, [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:;base64,Qk0="}}]}]),
        code="vision_not_ready")
    refused(
        openai.BadRequestError,
        lambda: ask(api, response_format={"type": "json_schema", "json_schema": {
            "name": "x", "schema": {"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}}}}),
        code="invalid_json_schema", param="response_format")
    refused(openai.NotFoundError, lambda: api.post("/nothing", cast_to=object, body={}), code="not_found")
    refused(
        openai.APIStatusError, lambda: api.get("/chat/completions", cast_to=object), code="method_not_allowed",
        status_code=405)
    refused(
        openai.PermissionDeniedError,
        lambda: client(host, default_headers={"Origin": "https://evil.example"}).models.list(), code="foreign_origin")


@pytest.mark.parametrize("is_stream", [False, True])
def test_too_long_a_chat_is_a_bad_request_before_any_chunk(api, is_stream):
    refused(
        openai.BadRequestError,
        lambda: ask(api, [{"role": "user", "content": "word " * 20_000}], stream=is_stream),
        code="context_length_exceeded", param="messages", status_code=400)
    refused(
        openai.BadRequestError,
        lambda: api.completions.create(model="default", prompt="word " * 20_000, stream=is_stream),
        code="context_length_exceeded", param="prompt")


def test_bad_json_and_other_types_are_refused_in_the_same_form(host):
    for body, headers, status, code in [
        (b"{", {}, 400, "bad_json"), (b"[]", {}, 400, "bad_body"), (b"{}", {}, 400, "missing_required_parameter"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
    ]:
        answer, told = host.json("/v1/chat/completions", "POST", body, headers=headers)
        assert (answer, told["error"]["code"]) == (status, code)


def test_without_a_model_the_error_says_so(start):
    api = client(start("--no-model"))

    error = refused(openai.NotFoundError, lambda: ask(api), code="model_not_found", param="model")
    assert "No model is loaded" in error.body["message"]
    assert api.models.list().data == []


def test_embeddings_of_a_model_that_writes_say_what_to_load(api):
    error = refused(
        openai.BadRequestError, lambda: api.embeddings.create(model="default", input="a"), code="model_cannot_embed")
    assert "embedding model" in error.body["message"]
