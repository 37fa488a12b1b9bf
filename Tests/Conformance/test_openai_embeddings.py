"""Embeddings, asked by OpenAI's own client."""

import base64
import struct

import embedding_models
import openai
import pytest
from clients import client

CAT, KITTEN, STOCKS = (
    "A cat sleeps on the sofa.", "A kitten naps on the couch.", "The stock market fell by three percent.")


def serve(start, path):
    host = start("--model", path)
    assert host.wait_for_model()["state"] == "Loaded"
    return host, client(host)


@pytest.fixture(scope="module")
def pooled(start, tmp_path_factory):
    """A model that writes, whose file names a pooling type besides."""
    return serve(start, embedding_models.pooled(tmp_path_factory.mktemp("models") / "pooled.gguf"))


@pytest.fixture(scope="module")
def encoder(start, tmp_path_factory):
    """A BERT, which cannot write; and its weights."""
    path, weights = embedding_models.encoder(tmp_path_factory.mktemp("models") / "encoder.gguf")
    return *serve(start, path), weights


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def vectors(api, texts, **rest):
    return [item.embedding for item in api.embeddings.create(model="default", input=texts, **rest).data]


def test_like_texts_have_like_vectors(pooled):
    cat, kitten, stocks = vectors(pooled[1], [CAT, KITTEN, STOCKS])

    assert len(cat) == 576
    assert dot(cat, cat) == pytest.approx(1, abs=1e-4)
    assert dot(cat, kitten) > dot(cat, stocks) + 0.05


def test_both_forms_say_the_same(pooled):
    host, api = pooled
    (packed,) = vectors(api, CAT)  # the client asks for base64 when it is not told
    (plain,) = vectors(api, CAT, encoding_format="float")
    status, raw = host.json(
        "/v1/embeddings", "POST", {"model": "default", "input": CAT, "encoding_format": "base64"})

    assert plain == pytest.approx(packed, abs=1e-7)
    data = base64.b64decode(raw["data"][0]["embedding"])
    assert status == 200 and list(struct.unpack(f"<{len(data) // 4}f", data)) == pytest.approx(plain, abs=1e-7)


def test_a_text_has_the_same_vector_alone_and_among_others(encoder):
    api = encoder[1]
    answer = api.embeddings.create(model="default", input=[STOCKS, CAT, KITTEN * 9])

    assert [item.index for item in answer.data] == [0, 1, 2]
    assert answer.data[1].embedding == pytest.approx(vectors(api, CAT)[0], abs=1e-5)


def test_tokens_are_what_the_text_is_made_of(encoder):
    api = encoder[1]
    # CLS, the words, SEP: BERT's own frame, put round a text by the host.
    by_tokens = api.embeddings.create(model="default", input=[[101, 7592, 2088, 102]])
    by_text = api.embeddings.create(model="default", input="hello world")

    assert by_text.usage.prompt_tokens == by_tokens.usage.total_tokens == 4
    assert by_tokens.data[0].embedding == pytest.approx(by_text.data[0].embedding, abs=1e-6)


def test_the_vector_is_what_bert_makes_of_the_tokens(encoder):
    _, api, weights = encoder
    for tokens in [[101, 7592, 2088, 102], [101, 102], [101, *range(2000, 2030), 102]]:
        (vector,) = vectors(api, [tokens])
        # ggml keeps some steps in 16 bits and looks GELU up in a table.
        assert dot(vector, embedding_models.first_vector(weights, tokens)) > 0.9995


def test_many_texts_leave_no_memory_behind(encoder):
    host, api, _ = encoder
    texts = [f"{CAT} {number}" for number in range(200)]
    assert len(vectors(api, texts)) == 200
    before = host.json("/api/agent/engine")[1]["model"]["memory"]
    for _ in range(5):
        vectors(api, texts)
    after = host.json("/api/agent/engine")[1]["model"]["memory"]

    assert after - before < 8_000_000


def test_answers_go_on_beside_embeddings_as_if_alone(pooled):
    api = pooled[1]

    def stream():
        return api.chat.completions.create(
            model="default", temperature=0, max_tokens=24, stream=True,
            messages=[{"role": "user", "content": "What is the capital of France?"}])

    def text(chunks):
        return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)

    alone = text(stream())
    answer = stream()
    first = next(answer)
    made = vectors(api, [CAT, KITTEN, STOCKS])

    assert len(made) == 3
    assert text([first, *answer]) == alone and len(alone) > 20


@pytest.mark.parametrize("request_, code", [
    ({"input": ""}, "input_empty"), ({"input": ["a", ""]}, "input_empty"), ({"input": [[]]}, "input_empty"),
    ({"input": [[999_999]]}, "bad_token"), ({"input": [[-1]]}, "bad_token"), ({"input": "word " * 600}, "context_length_exceeded"),
    ({"input": "a", "dimensions": 8}, "unsupported_parameter"), ({"input": {}}, "invalid_value"),
    ({"input": ["a"] * 2_049}, "too_many_inputs"), ({"input": "a", "encoding_format": "xml"}, "invalid_value"),
])
def test_what_cannot_be_done_is_refused_by_name(encoder, request_, code):
    with pytest.raises(openai.BadRequestError) as caught:
        encoder[1].post("/embeddings", cast_to=object, body={"model": "default", **request_})
    assert caught.value.code == code
    assert caught.value.param in ["input", "dimensions", "encoding_format"]


def test_an_encoder_does_not_write(encoder):
    for ask in [
        lambda: encoder[1].chat.completions.create(model="default", messages=[{"role": "user", "content": "hi"}]),
        lambda: encoder[1].completions.create(model="default", prompt="hi"),
    ]:
        with pytest.raises(openai.BadRequestError) as caught:
            ask()
        assert caught.value.code == "model_cannot_write"
    # Nor does it end the host.
    assert encoder[0].json("/health")[0] == 200


@pytest.mark.parametrize("kind, code", [(4, "model_cannot_embed"), (9, "model_cannot_embed"), (0, "model_cannot_embed")])
def test_rerankers_and_unknown_kinds_of_pooling_are_refused(start, tmp_path, kind, code):
    host, api = serve(start, embedding_models.pooled(tmp_path / "odd.gguf", kind))

    with pytest.raises(openai.BadRequestError) as caught:
        vectors(api, CAT)
    assert caught.value.code == code
    assert host.json("/health")[0] == 200
    host.stop()
