"""The program as a person or a script uses it."""

import json
import re
import signal
import subprocess
import time

import pytest
from program import PROGRAM, REPOSITORY

COMMANDS = ["serve", "chat", "ask", "run", "share", "tasks", "knowledge", "handoff", "activity", "models", "pull", "bench", "inspect", "doctor", "plumbing"]


def test_ask_answers_on_standard_output(alcove, model):
    done = alcove("ask", "What is the capital of France? Answer in one word.", "--model", model, "-t", 1)

    assert done.returncode == 0
    assert "Paris" in done.stdout
    assert done.stderr == ""


def test_ask_reads_what_is_piped_in(alcove, model):
    done = alcove("ask", "--model", model, "-t", 1, input="What is the capital of France? Answer in one word.\n")

    assert done.returncode == 0
    assert "Paris" in done.stdout


def test_ask_puts_what_is_piped_in_after_the_question(alcove, model):
    done = alcove("ask", "Repeat this word:", "--model", model, "-t", 1, "-n", 12, input="banana")

    assert done.returncode == 0
    assert "anana" in done.stdout.lower()


def test_ask_cut_at_the_limit_says_so_beside_the_answer(alcove, model):
    done = alcove("ask", "Tell me a long story.", "--model", model, "-t", 1, "-n", 3)

    assert done.returncode == 0
    assert done.stderr == "(The answer was cut at the token limit.)\n"


def test_ask_without_a_question_is_a_usage_error(alcove):
    done = alcove("ask")

    assert done.returncode == 64
    assert done.stderr == 'alcove: There is no question. Write alcove ask "Why is the sky blue?"\n'


def test_ctrl_c_ends_ask_with_130(model):
    process = subprocess.Popen(
        [PROGRAM, "ask", "Tell me a very long story.", "--model", model, "-t", "1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    assert process.stdout.read(1)
    process.send_signal(signal.SIGINT)

    assert process.wait(30) == 130
    assert b"(Stopped.)" in process.stderr.read()


def test_chat_remembers_what_was_said_and_keeps_it(alcove, model, root):
    done = alcove(
        "chat", "--root", root, "--model", model, "-t", 1, "--temperature", 0,
        input="What is the capital of France? Answer in one word.\nWhat did I just ask about? One word.\n",
    )

    assert done.returncode == 0
    assert "Paris" in done.stdout.split("\n")[0]
    assert len([line for line in done.stdout.split("\n") if line]) >= 2


def test_ctrl_c_stops_a_chat_answer_and_a_second_one_leaves(model, root):
    process = subprocess.Popen(
        [PROGRAM, "chat", "--root", str(root), "--model", model, "-t", "1"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    process.stdin.write(b"Tell me a very long story about the sea.\n")
    process.stdin.flush()
    assert process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    seen = b""
    while b"(Stopped.)" not in seen:
        piece = process.stderr.read(1)
        assert piece, seen
        seen += piece
    assert process.poll() is None
    process.send_signal(signal.SIGINT)

    assert process.wait(30) == 130


@pytest.mark.parametrize("words", [[], *[[command] for command in COMMANDS], ["plumbing", "http"]], ids=" ".join)
def test_help_is_everywhere(alcove, words):
    done = alcove(*words, "--help")

    assert done.returncode == 0
    assert f"Usage: {' '.join(['alcove', *words])}" in done.stdout
    assert "-h, --help" in done.stdout


def test_help_lists_every_command_and_exit_code(alcove):
    text = alcove("--help").stdout

    for command in COMMANDS:
        assert re.search(rf"^  {command} ", text, re.M)
    for code in [0, 1, 64, 65, 66, 69, 130]:
        assert re.search(rf"^  {code} ", text, re.M)


def test_version(alcove):
    assert re.fullmatch(r"alcove \d+\.\d+\.\d+\n", alcove("--version").stdout)


MISTAKES = [
    (["servee"], 'alcove: alcove has no command "servee". Did you mean serve?'),
    (["xyz"], 'alcove: alcove has no command "xyz". alcove --help lists them.'),
    (["serve", "--prot", "1"], "alcove: alcove serve has no option --prot. Did you mean --port?"),
    (["serve", "--port"], "alcove: --port needs a value. Write --port N."),
    (["serve", "--port", "70000"], 'alcove: --port is a number from 0 to 65535, not "70000".'),
    (["ask", "Hi", "--temperature", "nan"], 'alcove: --temperature is a number from 0 to 5, not "nan".'),
    (["serve", "--root", ""], "alcove: --root needs a value, not an empty one. Write --root FOLDER."),
    (["models", "--root="], "alcove: --root needs a value, not an empty one. Write --root FOLDER."),
    (["inspect", ""], "alcove: alcove inspect needs FILE, not an empty one. alcove inspect --help shows how it is used."),
    (["serve", "--open=yes"], "alcove: --open takes no value. Write it alone."),
    (["ask", "a", "b"], 'alcove: alcove ask does not know what to do with "b". Put words that belong together in quotes.'),
    (["inspect"], "alcove: alcove inspect needs FILE. alcove inspect --help shows how it is used."),
    (["ask", "-q"], "alcove: alcove ask has no option -q. alcove ask --help lists what it has."),
]


@pytest.mark.parametrize("words, sentence", MISTAKES, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_a_mistake_is_a_sentence_that_says_what_to_try(alcove, words, sentence):
    done = alcove(*words)

    assert done.returncode == 64
    assert done.stderr == sentence + "\n"
    assert done.stdout == ""


def test_an_unknown_model_names_a_near_one(alcove, root):
    done = alcove("ask", "Hi", "--root", root, "--model", "SmolLM2-135M-Instruct.Q80")

    assert done.returncode == 66
    assert 'There is no model named "SmolLM2-135M-Instruct.Q80".' in done.stderr
    assert "Did you mean SmolLM2-135M-Instruct.Q8_0.gguf?" in done.stderr


def test_an_absent_model_file_names_its_path(alcove, tmp_path):
    done = alcove("ask", "Hi", "--model", tmp_path / "none.gguf")

    assert done.returncode == 66
    assert f"There is no model file at {tmp_path}/none.gguf." in done.stderr


def test_a_file_that_is_no_model_is_refused_by_name(alcove, tmp_path):
    page = tmp_path / "page.gguf"
    page.write_text("<!DOCTYPE html><html><body>404</body></html>")

    done = alcove("ask", "Hi", "--model", page)

    assert done.returncode == 65
    assert "page.gguf" in done.stderr
    assert "Fatal" not in done.stderr and "Backtrac" not in done.stderr


def test_models_lists_the_starter_and_ones_own(alcove, root, model):
    (root / "models").mkdir(parents=True)
    (root / "models" / "broken.gguf").write_bytes(b"GGUF")

    listed = json.loads(alcove("models", "--root", root, "--json").stdout)

    names = {entry["name"]: entry for entry in listed}
    assert names["SmolLM2-135M-Instruct.Q8_0.gguf"]["bundled"] is True
    assert "134 M parameters" in names["SmolLM2-135M-Instruct.Q8_0.gguf"]["about"]
    assert names["broken.gguf"]["about"] is None
    assert "broken.gguf" in names["broken.gguf"]["error"]


def test_inspect_tells_what_a_file_is(alcove, model):
    text = alcove("inspect", model).stdout
    header = json.loads(alcove("inspect", model, "--json").stdout)

    assert "llama" in text and "Q8_0" in text
    assert header["version"] == 3
    assert header["metadata"]["general.architecture"] == "llama"
    assert header["metadata"]["tokenizer.ggml.tokens"] == {"count": 49152}
    assert len(header["tensors"]) == 272
    assert header["tensors"][0].keys() == {"name", "shape", "type", "offset"}


def test_inspect_of_a_bad_file_fails_with_a_sentence(alcove, tmp_path):
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF\x03\0\0\0" + b"\xff" * 16)

    done = alcove("inspect", bad, "--json")

    assert done.returncode == 65
    assert done.stdout == ""
    assert done.stderr.startswith("alcove: bad.gguf")


def test_doctor_names_what_is_there(alcove, root):
    found = json.loads(alcove("doctor", "--root", root, "--json").stdout)

    subjects = {finding["subject"]: finding for finding in found}
    assert subjects["model"]["ok"] is True
    assert subjects["root folder"]["ok"] is True
    assert all(finding["ok"] or finding["remedy"] for finding in found)


def test_a_closed_pipe_is_no_crash(model):
    done = subprocess.run(
        f"{PROGRAM} ask 'Count from one to a hundred.' --model {model} -t 1 -n 60 | head -c 1",
        shell=True, capture_output=True, timeout=120,
    )

    assert done.returncode == 0
    assert b"Fatal" not in done.stderr


def test_more_threads_than_cores_do_not_stall_the_answer(alcove, model):
    done = alcove("ask", "Hi", "--model", model, "--threads", 1024, "--max-tokens", 2, timeout=15)

    assert done.returncode == 0
    assert done.stdout.strip()
