"""Model files made to break the program: each ends in a sentence."""

import http.client
import os
import shutil
from pathlib import Path

import gguf
import pytest

TEMPLATE = "tokenizer__chat_template"


@pytest.fixture
def made(model, tmp_path):
    """Makes the file, which is large, and takes it away again."""
    file = tmp_path / "made.gguf"
    yield lambda **keys: gguf.changed(Path(model), file, **keys)
    file.unlink(missing_ok=True)


def ask(alcove, file, **rest):
    return alcove("ask", "boom", "--model", file, "--max-tokens", 2, "--threads", 1, **rest)


def assert_is_a_sentence(done):
    assert done.returncode in (0, 1, 65), done.stderr
    assert done.stderr.count("\n") <= 2, done.stderr
    for trace in ["ASSERT", "Fatal", "what()", "racing", "gdb", "\x1b"]:
        assert trace not in done.stderr


def test_an_empty_template_is_none(alcove, made):
    done = ask(alcove, made(**{TEMPLATE: gguf.text("")}))

    assert_is_a_sentence(done)
    assert done.stdout.strip()
    assert "brings no chat template" in done.stderr


def test_a_vocabulary_that_cannot_spell_is_refused(alcove, made):
    done = ask(alcove, made(tokenizer__ggml__model=gguf.text("llama")))

    assert_is_a_sentence(done)
    assert done.returncode == 65
    assert "its vocabulary cannot spell every text" in done.stderr


def test_the_words_of_a_template_cannot_steer_the_terminal(alcove, made):
    source = "{{ raise_exception('no \x1b[31m way') }}"
    done = ask(alcove, made(**{TEMPLATE: gguf.text(source)}))

    assert_is_a_sentence(done)
    assert "no \ufffd[31m way" in done.stderr


def test_a_load_that_fails_says_why(alcove, made):
    done = ask(alcove, made(tokenizer__ggml__pre=gguf.text("nope")))

    assert_is_a_sentence(done)
    assert "unknown pre-tokenizer type: 'nope'" in done.stderr


def test_a_bad_file_costs_nobody_the_model_that_answers(serve, model, tmp_path):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(100))

    status, answer = host.json("/api/models/load", "POST", {"model": str(tmp_path / "bad.gguf")})

    assert (status, answer["ok"]) == (422, False)
    assert host.json("/api/agent/engine")[1]["model"]["state"] == "Loaded"
    assert host.chat(host.session()["sessionId"], [{"role": "user", "content": "Hi"}], maxTokens=1)[0] == 200


@pytest.mark.parametrize("name, status", [("/nowhere/a.gguf", 404), ("nothing", 404), ("a\0.gguf", 400), ("/", 422)])
def test_a_name_that_is_no_model_is_a_refusal(serve, name, status):
    host = serve("--port", 0, "--no-model").wait()

    answered, answer = host.json("/api/models/load", "POST", {"model": name})

    assert answered == status
    assert answer["error"].endswith(".")


def test_models_that_were_replaced_leave_no_memory_behind(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    sizes = []
    for _ in range(6):
        # A turn is kept for an hour, and may hold on to nothing of its model.
        assert host.chat(host.session()["sessionId"], [{"role": "user", "content": "Hi"}], maxTokens=1)[0] == 200
        assert host.json("/api/models/load", "POST", {"model": model})[0] == 200
        sizes.append(host.json("/api/agent/engine")[1]["model"]["memory"] >> 20)

    assert sizes[-1] - sizes[0] < 150, sizes


def test_a_model_cut_short_while_it_answers_ends_in_a_sentence(serve, model, tmp_path):
    file = tmp_path / "m.gguf"
    shutil.copy(model, file)
    host = serve("--port", 0, "--model", file).wait()
    host.wait_for_model()
    os.truncate(file, 2_000_000)

    with pytest.raises((OSError, http.client.HTTPException)):
        host.chat(host.session()["sessionId"], [{"role": "user", "content": "Hi"}], maxTokens=1)

    host.process.wait(30)
    file.unlink()
    last = host.process.stderr.read().splitlines()[-1]
    assert last.startswith("alcove: A file was cut short while it was in use, most likely the model's.")


WAITS_FOR_A_WORD = """
{%- if messages[-1].content == 'boom' %}ATTACK{% endif -%}
{%- for message in messages %}{{ message.role + ': ' + message.content + '\\n' }}{% endfor -%}"""


@pytest.mark.parametrize("attack, limits", [
    ("{% for i in range(1000000000) %}{% endfor %}", ("it computed for more than", "it needs more memory")),
    ("{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", ("it is nested too deeply",)),
])
def test_a_template_that_waits_for_a_word_hurts_nobody(serve, made, attack, limits):
    file = made(**{TEMPLATE: gguf.text(WAITS_FOR_A_WORD.replace("ATTACK", attack))})
    host = serve("--port", 0, "--model", file).wait()
    assert host.wait_for_model()["state"] == "Loaded"

    status, refusal = host.chat(host.session()["sessionId"], [{"role": "user", "content": "boom"}], maxTokens=1)

    assert status == 422
    # Time or memory, whichever this machine reaches first.
    assert any(limit in refusal["error"] for limit in limits)
    assert host.chat(host.session()["sessionId"], [{"role": "user", "content": "Hi"}], maxTokens=1)[0] == 200
    assert host.stop() == 0


def test_a_hole_of_half_a_terabyte_behind_a_model_is_refused_at_once(alcove, model, tmp_path):
    file = tmp_path / "hole.gguf"
    shutil.copyfile(model, file)
    os.truncate(file, 500 << 30)

    done = alcove("ask", "Hi", "--model", file, timeout=20)

    assert done.returncode == 65
    assert "behind its last tensor" in done.stderr
