"""Fast copies: made whole or not at all, checked against the original, listed, switched to, removed."""

import json
import os
import select
import signal
import subprocess
import urllib.request
from pathlib import Path

import gguf
import pytest
from program import MODEL, PROGRAM

SLOW = MODEL.parent / "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "slow.fast-Q8_0.gguf"


@pytest.fixture
def slow(root):
    """The starter model as it is published: most of its weights are Q4_1, which has no fast kernel here."""
    assert SLOW.exists(), "There is no starter model; run `make bootstrap`."
    (root / "models").mkdir(parents=True)
    path = root / "models" / "slow.gguf"
    path.symlink_to(SLOW)
    return path


def optimize(alcove, root, *words):
    return alcove("models", "optimize", *words, "--root", root, "--threads", 1)


def left_over(root):
    """Everything in the models' folder but the model and the lock."""
    return sorted(
        str(path.relative_to(root / "models")) for path in (root / "models").rglob("*")
        if path.is_file() and path.name not in ("slow.gguf", "lock"))


def refusal(done, code_words):
    assert done.returncode != 0
    assert done.stdout == ""
    assert code_words in done.stderr.splitlines()[-1], done.stderr
    assert "ASSERT" not in done.stderr


def listed(alcove, root):
    return {row["name"]: row for row in json.loads(alcove("models", "--root", root, "--json").stdout)}


def test_a_copy_is_made_checked_listed_used_and_removed(alcove, root, slow):
    assert listed(alcove, root)["slow.gguf"]["slowTypes"] == ["Q4_1"]
    made = optimize(alcove, root, "slow", "--json")

    assert made.returncode == 0, made.stderr
    copy = json.loads(made.stdout)
    file = root / "models" / NAME
    assert (copy["name"], copy["path"], copy["bytes"]) == (NAME, str(file), file.stat().st_size)
    assert copy["original"]["name"] == "slow.gguf" and copy["original"]["bytes"] == SLOW.stat().st_size
    measure = copy["measure"]
    assert 1 < measure["originalPerplexity"] < 100
    assert abs(measure["copyPerplexity"] / measure["originalPerplexity"] - 1) < 0.02
    assert measure["prefillGain"] > 0 and measure["decodeGain"] > 0
    assert left_over(root) == [NAME, NAME + ".fastcopy.json"]
    assert "Writing the copy: 100 %" in made.stderr and "Measuring it" in made.stderr
    types = json.loads(alcove("inspect", file, "--json").stdout)["tensors"]
    assert {tensor["type"] for tensor in types} == {0, 8}

    rows = listed(alcove, root)
    assert rows[NAME]["fastCopy"]["original"]["name"] == "slow.gguf"
    assert rows["slow.gguf"]["fastCopy"] is None
    assert "fast copy of slow.gguf: reads " in alcove("models", "--root", root).stdout
    answer = alcove("ask", "Say yes.", "--root", root, "--model", NAME, "--max-tokens", 4, "--threads", 1)
    assert answer.returncode == 0 and answer.stdout.strip()

    refusal(optimize(alcove, root, "slow"), f"slow.gguf has a fast copy already: {NAME}.")
    refusal(optimize(alcove, root, NAME), f"{NAME} is a fast copy itself, of slow.gguf.")
    # By what it is, not by what it is called.
    slow.rename(root / "models" / "renamed.gguf")
    gone = optimize(alcove, root, "renamed", "--remove")
    assert gone.returncode == 0 and gone.stdout == f"{NAME} is deleted.\n"
    assert [path for path in left_over(root) if "fast" in path and not path.startswith(".")] == []
    refusal(optimize(alcove, root, "renamed", "--remove"), "renamed.gguf is no fast copy and has none.")


def test_a_copy_that_lost_too_much_is_refused_and_gone(alcove, root, slow):
    done = optimize(alcove, root, "slow", "--to", "q4_0")

    assert done.returncode == 65
    refusal(done, "The copy of slow.gguf as Q4_0 was removed, because it is worse than the original: its perplexity is ")
    assert left_over(root) == []


def test_what_is_quick_already_is_left_alone(alcove, root, slow):
    done = optimize(alcove, root, MODEL)

    refusal(done, "would not be quicker: its weights (Q8_0) have fast kernels on this processor already")
    assert left_over(root) == []
    assert listed(alcove, root)[MODEL.name]["slowTypes"] == []


def test_no_room_is_said_with_both_numbers_before_anything_is_written(alcove, root, slow):
    models = root / "models"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(models)], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip("only who may mount a small disk can fill one")
    try:
        done = optimize(alcove, root, SLOW)

        free = os.statvfs(models).f_bavail * 4096
        refusal(done, f"There is no room for a copy in {models}: up to ")
        assert f" bytes are needed and {free} are free." in done.stderr
        assert left_over(root) == []
    finally:
        subprocess.run(["umount", "-l", str(models)], check=True)


def start(root, *words):
    process = subprocess.Popen(
        [PROGRAM, "models", "optimize", "slow", "--root", root, "--threads", "1", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return process


def children(process):
    path = Path(f"/proc/{process.pid}/task")
    return [int(pid) for task in path.iterdir() for pid in (task / "children").read_text().split()]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("moment", ["Writing the copy: 0 %", "Writing the copy: 50 %", "Measuring it against"])
def test_ctrl_c_ends_it_and_leaves_nothing(root, slow, moment):
    process = start(root)
    while not process.stderr.readline().startswith(moment):
        assert process.poll() is None
    worker = children(process)
    process.send_signal(signal.SIGINT)

    assert process.wait(30) != 0
    assert "Making the copy was stopped." in process.stderr.read()
    assert worker and not any(alive(pid) for pid in worker)
    assert left_over(root) == []


@pytest.mark.parametrize("moment", ["Writing the copy: 30 %", "Measuring it against"])
def test_a_kill_leaves_no_copy_and_the_rest_is_swept(alcove, root, slow, moment):
    process = start(root)
    while not process.stderr.readline().startswith(moment):
        assert process.poll() is None
    worker = children(process)
    handles = [os.pidfd_open(pid) for pid in worker]
    process.kill()
    process.wait(30)

    for handle in handles:  # the child hears that its parent is gone, and goes too
        assert select.select([handle], [], [], 30)[0]
        os.close(handle)
    part = f".fast-copies/{process.pid}/copy.gguf"
    assert left_over(root) == [part]
    assert listed(alcove, root).keys() == {"slow.gguf", SLOW.name, MODEL.name}
    assert optimize(alcove, root, "slow").returncode == 0
    assert left_over(root) == [NAME, NAME + ".fastcopy.json"]


def test_one_at_a_time(alcove, root, slow):
    process = start(root)
    while not process.stderr.readline().startswith("Writing the copy"):
        assert process.poll() is None
    refusal(optimize(alcove, root, "slow"), "Another fast copy is being made; one is made at a time.")

    process.send_signal(signal.SIGINT)
    process.wait(30)
    assert left_over(root) == []


def test_a_bad_file_is_a_sentence(alcove, root, slow, tmp_path):
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(SLOW.read_bytes()[: 1 << 20])
    done = optimize(alcove, root, bad)
    assert done.returncode == 65
    refusal(done, "bad.gguf")

    # Sound by its header, and what llama.cpp refuses: the child says so.
    odd = gguf.changed(SLOW, tmp_path / "odd.gguf", tokenizer__ggml__pre=gguf.text("nope"))
    refusal(optimize(alcove, root, odd), "nope")
    assert left_over(root) == []


def test_a_worker_that_dies_is_a_sentence(root, slow):
    process = start(root)
    while not process.stderr.readline().startswith("Writing the copy"):
        assert process.poll() is None
    for pid in children(process):
        os.kill(pid, signal.SIGSEGV)

    assert process.wait(30) != 0
    assert "The process that made a copy of slow.gguf ended on a fault (signal 11)." in process.stderr.read()
    assert left_over(root) == []


def test_help_tells_it(alcove):
    assert "optimize" in alcove("models", "--help").stdout
    words = alcove("models", "optimize", "--help").stdout
    assert "--remove" in words and "perplexity" in words
    assert "--to is q8_0 or q4_0" in alcove("models", "optimize", "x", "--to", "q9").stderr


def frames(data):
    return [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: ")]


def test_the_host_makes_tells_switches_and_removes(serve, root, slow):
    host = serve("--no-model").wait()
    before = host.json("/api/models")[1]
    assert {"model": "slow.gguf", "types": ["Q4_1"]} in before["slowModels"]
    assert before["fastCopies"] == [] and before["optimizing"] is None

    status, headers, data = host.request("/api/models/optimize", "POST", {"model": "slow.gguf"})
    assert status == 200 and headers["Content-Type"] == "text/event-stream"
    told = frames(data)
    assert {frame.get("phase") for frame in told[:-1]} == {"quantizing", "measuring"}
    assert all(0 <= frame["fraction"] <= 1 for frame in told[:-1])
    assert told[-1]["done"] and told[-1]["copy"]["name"] == NAME

    after = host.json("/api/models")[1]
    assert NAME in after["models"] and "slow.gguf" in after["models"]
    assert [copy["original"]["name"] for copy in after["fastCopies"]] == ["slow.gguf"]
    assert host.json("/api/models/load", "POST", {"model": NAME})[1]["model"].startswith("slow.fast")
    status, body = host.json(f"/api/models/optimize?model={NAME}", "DELETE")
    assert (status, body["code"]) == (409, "model_in_use")
    assert host.json("/api/models/load", "POST", {"model": MODEL.name})[0] == 200
    assert host.json("/api/models/optimize?model=slow.gguf", "DELETE") == (200, {"ok": True, "removed": [NAME]})
    assert left_over(root) == []
    assert host.json("/api/models/optimize?model=slow.gguf", "DELETE")[1]["code"] == "no_fast_copy"


def test_what_the_host_refuses_has_a_status(serve, slow):
    host = serve("--no-model").wait()

    for body, status, code in [
        ({}, 400, "no_model_named"), ({"model": 3}, 400, "no_model_named"), ({"model": "nobody"}, 404, "model_unknown"),
        ({"model": MODEL.name}, 400, "nothing_to_gain"), ({"model": "slow.gguf", "to": "q9"}, 400, "bad_type"),
        ({"model": "slow.gguf", "to": 8}, 400, "bad_type"),
    ]:
        answer = host.json("/api/models/optimize", "POST", body)
        assert (answer[0], answer[1]["code"]) == (status, code), body
    assert host.json("/api/models/optimize", "DELETE")[1]["code"] == "no_model_named"
    assert host.json("/api/models/optimize/cancel", "POST", {})[1] == {"cancelled": False}


def open_stream(host, body):
    request = urllib.request.Request(host.url + "/api/models/optimize", json.dumps(body).encode(), method="POST")
    request.add_header("Authorization", f"Bearer {host.token}")
    request.add_header("Content-Type", "application/json")
    return urllib.request.urlopen(request, timeout=60)


def test_leaving_stops_nothing_and_cancelling_does(serve, root, slow):
    host = serve("--no-model").wait()
    with open_stream(host, {"model": "slow.gguf"}) as stream:
        assert b"quantizing" in stream.readline()
    assert host.json("/api/models")[1]["optimizing"]["model"] == "slow.gguf"
    status, body = host.json("/api/models/optimize", "POST", {"model": SLOW.name})
    assert (status, body["code"]) == (503, "optimize_busy")
    with open_stream(host, {"model": "slow.gguf"}) as joined:
        assert joined.readline().startswith(b"data: ")
        assert host.json("/api/models/optimize/cancel", "POST", {})[1] == {"cancelled": True}
        assert frames(joined.read())[-1] == {"cancelled": True, "model": "slow.gguf"}
    assert host.json("/api/models")[1]["optimizing"] is None
    assert left_over(root) == []


def test_a_host_that_stops_stops_the_making(serve, root, slow):
    host = serve("--no-model").wait()
    with open_stream(host, {"model": "slow.gguf"}) as stream:
        assert b"quantizing" in stream.readline()
        assert host.stop() == 0
    assert left_over(root) == []


def test_a_starting_host_sweeps_what_a_kill_left(serve, root, slow):
    making = root / "models" / ".fast-copies" / "1"
    making.mkdir(parents=True)
    (making / "copy.gguf").write_bytes(b"half")
    orphan = root / "models" / "gone.fast-Q8_0.gguf.fastcopy.json"
    orphan.write_text("{}")
    host = serve("--no-model").wait()

    assert host.json("/api/models")[1]["fastCopies"] == []
    assert left_over(root) == []
