"""Standard input, output and error that are closed, full or left."""

import os
import subprocess

from program import PROGRAM


def closed(words, *descriptors, **rest):
    """Runs the program as a shell does after `<&-` or `>&-`."""
    shut = " ".join(f"{number}>&-" for number in descriptors)
    command = f'exec "$0" "$@" {shut}'
    return subprocess.run(["sh", "-c", command, PROGRAM, *words], timeout=60, **rest)


def test_a_closed_input_is_an_empty_one(model):
    done = closed(["ask", "Hi", "--model", model, "--max-tokens", "2", "--threads", "1"], 0, capture_output=True)

    assert done.returncode == 0
    assert done.stdout.strip()


def test_closed_output_does_not_go_into_a_file_of_ours(root, model):
    words = ["chat", "--root", str(root), "--model", model, "--max-tokens", "2", "--threads", "1"]
    done = closed(words, 0, 1, 2)

    assert done.returncode == 0
    for file in root.iterdir():
        if file.is_file() and file.stat().st_size:
            assert not file.read_bytes().startswith(b"\n"), file
    assert (root / "alcove.db").read_bytes().startswith(b"SQLite format 3")


def test_output_that_cannot_be_written_is_said(alcove):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "models"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)

    assert done.returncode == 1
    assert done.stderr == "alcove: The output could not be written: No space left on device.\n"


def test_a_reader_that_leaves_stops_the_answer(model):
    words = ["ask", "Write a long story.", "--model", model, "--max-tokens", "100000", "--threads", "1"]
    process = subprocess.Popen(
        [PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(1)
    process.stdout.close()

    assert process.wait(30) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_no_home_is_the_one_on_record(alcove):
    environment = {key: value for key, value in os.environ.items() if key not in ("HOME", "ALCOVE_ROOT", "XDG_DATA_HOME")}
    done = subprocess.run(
        [PROGRAM, "models", "--root", "~/x"], env=environment, capture_output=True, text=True, timeout=60)

    home = os.path.expanduser(f"~{__import__('pwd').getpwuid(os.getuid()).pw_name}")
    assert f"{home}/x/models" in done.stdout


def test_a_root_that_is_a_device_is_missing_to_the_doctor(alcove):
    done = alcove("doctor", "--root", "/dev/null")

    assert done.returncode == 69
    assert "missing root folder: /dev/null is no folder" in done.stdout
