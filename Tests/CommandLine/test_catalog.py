"""The catalogue, its downloads and imports, through the host's routes and the commands."""

import hashlib
import http.client
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import threading

import pytest
from program import MODEL, PROGRAM

WEIGHTS = random.Random(11).randbytes(900_000)
PROJECTOR = random.Random(12).randbytes(300_000)
BUILT_IN = {
    "gemma-4-e2b-q8": (12, 8192, "Image, Audio, Video", [
        ("gemma-4-E2B-it-Q8_0.gguf", 4967497152, "996d08777aadc6bfd3c7375ef70ba25a0f55240075860754fdb18d6d860aa63a", False),
        ("mmproj-gemma-4-E2B-it-Q8_0.gguf", 557368064, "9406f99c16d68cda4f1f0552192dcc99021ea1fc6d2fd50b1dc3ccf30d04b292", False)]),
    "gemma-4-e4b-iq4xs": (12, 8192, "Image, Audio, Video", [
        ("gemma-4-E4B-it-IQ4_XS.gguf", 4715416704, "0847f7300471e9a61abaeb46b45b3d61e393af8fa6d6aa70c563623773670dd9", False),
        ("mmproj-gemma-4-E4B-it-Q8_0.gguf", 559874816, "197f49a93027f9843772bd24a6a9e0be2a32a788de5a3def330e9c585d86edd1", False),
        ("mtp-gemma-4-E4B-it-Q8_0.gguf", 98653280, "f38ae62962657c7a6303c49bbb147e9ae23634e911cfa532fac0818c2e18b665", True)]),
    "gemma-4-12b-iq2m": (12, 32768, "Image, Video", [
        ("gemma-4-12b-it-UD-IQ2_M.gguf", 4213353280, "4bd2461d35398dbcf5f3d5f0c9ad91cac78ae35b556e3a81f315a0cc0815ae8c", False),
        ("mmproj-F16.gguf", 175115840, "91f086971e56d7a7d8d39e271873fccdb49541bd259d6e02c401a4f1cb7a219e", True),
        ("mtp-gemma-4-12b-it.gguf", 465109248, "145db9094bc0f85f1701e255a2ed216dcc9800fc8bc8631ad00905b456bd451b", True)]),
    "bonsai-2-27b-ptq1-0": (16, 32768, "Image", [
        ("Ternary-Bonsai-2-27B-PTQ1_0.gguf", 5946648928, "53107f530aa52eb00912263ab1ee29bd199261c87cd7b4ad4ca1318c1fe33ee3", False),
        ("Ternary-Bonsai-2-27B-mmproj-Q8_0.gguf", 629246976, "6807ede61d570bb86ba34b756a0fa109edc33668604de867c6ea6d8f1d631903", True)]),
    "qwen3.5-9b-iq4xs": (12, 32768, "Image, Video", [
        ("Qwen3.5-9B-IQ4_XS.gguf", 5168653536, "7e918aeca06c52bcb528ea6b04b4ec957e75ee8c0a73138854c0dfcf371ea429", False),
        ("mmproj-F16.gguf", 918166080, "f70dc3509053962b0d0d3ee8a7eacebf5d60aa560cad78254ae8698516ae029f", True)]),
}


def file(name, data, url, **rest):
    return {"name": name, "url": url, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), **rest}


def write(root, *models, **rest):
    root.mkdir(exist_ok=True)
    (root / "catalog.json").write_text(json.dumps({"models": list(models), **rest}))


@pytest.fixture
def two(range_server, root):
    """A model of two files on two servers, in the person's own catalogue."""
    weights, projector = range_server(WEIGHTS), range_server(PROJECTOR)
    write(root, {
        "id": "tiny", "name": "Tiny", "modalities": ["Image"], "license": "MIT", "files": [
            file("tiny.gguf", WEIGHTS, weights.url),
            file("mmproj-tiny.gguf", PROJECTOR, projector.url, role="Projector", optional=True)],
    }, allowedHosts=["127.0.0.1"])
    return weights, projector


def frames(host, path, body=None):
    """The frames of a stream as they come."""
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=60)
    headers = {"Authorization": f"Bearer {host.token}"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    connection.request("POST", path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    if answer.status != 200:
        raise AssertionError((answer.status, answer.read()))

    def read():
        for line in answer:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])
        connection.close()

    return read()


def entry(host, id):
    return host.json(f"/api/agent/catalog/{id}")[1]


def test_the_five_built_in_models_are_exactly_these(serve):
    host = serve("--port", 0, "--no-model").wait()

    status, catalog = host.json("/api/agent/catalog")

    assert status == 200 and catalog["errors"] == []
    models = {model["id"]: model for model in catalog["models"]}
    assert set(models) == {*BUILT_IN, "smollm2-135m-q8"}
    for id, (tier, context, modalities, files) in BUILT_IN.items():
        model = models[id]
        assert (model["minDeviceMemoryGB"], model["contextLength"], model["modalities"]) == (tier, context, modalities)
        assert [(f["name"], f["bytes"], f["sha256"], f["optional"]) for f in model["files"]] == files
        assert all(f["url"].startswith("https://huggingface.co/") and f["url"].endswith(f"/resolve/main/{f['name']}")
                   for f in model["files"])
        assert model["totalBytes"] == model["remainingBytes"] == sum(f[1] for f in files if not f[3])
        assert model["state"] == "NotInstalled" and model["path"] is None and model["download"] is None
        assert model["fit"]["needBytes"] > model["totalBytes"] - 1
    starter = models["smollm2-135m-q8"]
    assert starter["state"] == "Installed" and starter["path"] == str(MODEL)
    assert sum(model["recommended"] for model in models.values()) <= 3
    flags = [model["recommended"] for model in catalog["models"]]
    assert flags == sorted(flags, reverse=True)
    memory = catalog["device"]
    assert memory["memoryBytes"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    tiers = [0, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]
    assert memory["tierGB"] == max(t for t in tiers if memory["memoryBytes"] / 1e9 + 0.75 >= t)
    assert 0 < memory["freeBytes"] <= memory["memoryBytes"]


def test_a_model_too_big_says_so_with_both_numbers(serve, root, alcove):
    write(root, {"id": "huge", "name": "Huge", "minDeviceMemoryGB": 1024, "files": [
        file("huge.gguf", b"x", "https://example.org/huge.gguf")]})
    host = serve("--port", 0, "--no-model").wait()

    fit = entry(host, "huge")["fit"]

    assert fit["verdict"] == "tooBig" and fit["label"] == "Too big"
    assert fit["sentence"].startswith("Too big: it is made for 1024 GB of memory, and this device has ")
    assert not entry(host, "huge")["recommended"]
    pulled = alcove("pull", "huge", "--root", root)
    assert pulled.returncode == 1 and "Too big: it is made for 1024 GB" in pulled.stderr


@pytest.mark.parametrize("change, sentence", [
    ({"id": "../x"}, '"id" should be 1 to 64'), ({"id": "gemma-4-e2b-q8"}, "is taken by another model"),
    ({"id": 5}, '"id" should be a text'), ({"name": None}, '"name" should be there'), ({"files": []}, "1 to 16 files"),
    ({"files": [{"name": "../../x.gguf"}]}, "cannot be the name of a file here"),
    ({"files": [{"name": "x.gguf", "url": "file:///etc/passwd"}]}, "http or https address"),
    ({"files": [file("x.gguf", b"x", "https://u:p@example.org/x")]}, "without a password"),
    ({"files": [{**file("x.gguf", b"x", "https://example.org/x"), "sha256": "12"}]}, "64 hexadecimal digits"),
    ({"files": [{**file("x.gguf", b"x", "https://example.org/x"), "bytes": -1}]}, '"bytes" should be a whole number'),
    ({"files": [file("x.gguf", b"x", "https://example.org/x", role="Draft")]}, "exactly one file of role Weights"),
    ({"files": [file("x.gguf", b"x", "https://e.org/x"), file("X.GGUF", b"x", "https://e.org/x", role="Draft")]}, "listed twice"),
    ({"kvCacheDtype": "q3"}, '"kvCacheDtype" should be f16, q4_0, q8_0'), ({"kind": "Odd"}, '"kind" should be Dense'),
    ({"modalities": ["Smell"]}, "Image, Audio, Video"), ({"sampling": {"topP": 7}}, '"topP" should be a number'),
    ("text", "It should be a JSON object"),
])
def test_a_bad_entry_is_told_and_hides_no_other(serve, root, change, sentence):
    good = {"id": "good", "name": "Good", "files": [file("good.gguf", b"x", "https://example.org/good.gguf")], "unknown": 1}
    bad = {**good, "id": "bad", **change} if isinstance(change, dict) else change
    if isinstance(bad, dict):
        bad = {key: value for key, value in bad.items() if value is not None}
    write(root, bad, good)
    host = serve("--port", 0, "--no-model").wait()

    catalog = host.json("/api/agent/catalog")[1]

    assert len(catalog["errors"]) == 1
    assert "catalog.json, model 1" in catalog["errors"][0]["path"] and sentence in catalog["errors"][0]["message"]
    assert "good" in [model["id"] for model in catalog["models"]] and len(catalog["models"]) == 7


def test_a_catalogue_that_is_no_json_is_told(serve, root):
    root.mkdir()
    (root / "catalog.json").write_text('{"models": [')
    host = serve("--port", 0, "--no-model").wait()

    catalog = host.json("/api/agent/catalog")[1]

    assert len(catalog["errors"]) == 1 and len(catalog["models"]) == 6


def test_a_model_is_brought_with_progress_and_deleted(serve, root, two):
    host = serve("--port", 0, "--no-model").wait()

    seen = list(frames(host, "/api/agent/catalog/tiny/download"))

    assert seen[-1] == {"done": True, "id": "tiny"}
    first, last = seen[0], seen[-2]
    assert set(first) == {
        "file", "fileIndex", "fileCount", "phase", "received", "total", "fraction", "bytesPerSecond", "etaSeconds", "reason"}
    assert first["total"] == len(WEIGHTS) + len(PROJECTOR) and first["fileCount"] == 2
    assert last["file"] == "" and last["received"] == last["total"] and last["fraction"] == 1
    received = [frame["received"] for frame in seen[:-1]]
    assert received == sorted(received)
    model = entry(host, "tiny")
    assert model["state"] == "Installed" and model["path"] == str(root / "models/tiny/tiny.gguf")
    assert (root / "models/tiny/tiny.gguf").read_bytes() == WEIGHTS
    assert (root / "models/tiny/mmproj-tiny.gguf").read_bytes() == PROJECTOR
    assert model["download"]["state"] == "Completed" and not model["download"]["running"]
    # It is there: nothing is asked of the server again.
    two[0].requests.clear()
    assert list(frames(host, "/api/agent/catalog/tiny/download")) == [{"done": True, "id": "tiny"}]
    assert two[0].requests == []
    # The projector belongs beside it and is no model to choose.
    assert "mmproj-tiny.gguf" not in host.json("/api/models")[1]["models"]
    (root / "models/tiny/mine.txt").write_text("mine")
    status, deleted = host.json("/api/agent/catalog/tiny", "DELETE")
    assert status == 200 and deleted["state"] == "NotInstalled" and deleted["installedBytes"] == 0
    assert [path.name for path in (root / "models/tiny").iterdir()] == ["mine.txt"]


def test_optional_files_are_left_out_when_asked(serve, root, two):
    host = serve("--port", 0, "--no-model").wait()

    assert list(frames(host, "/api/agent/catalog/tiny/download", {"optional": []}))[-1]["done"]
    assert two[1].requests == []
    assert entry(host, "tiny")["state"] == "Installed"
    assert host.json("/api/agent/catalog/tiny/download", "POST", {"optional": ["Nose"]})[0] == 400
    assert list(frames(host, "/api/agent/catalog/tiny/download", {"optional": ["Projector"]}))[-1]["done"]
    assert (root / "models/tiny/mmproj-tiny.gguf").exists()


def test_many_watch_one_download_and_leaving_stops_nothing(serve, root, two):
    weights, _ = two
    weights.gate, weights.gate_at = threading.Event(), 400_000
    host = serve("--port", 0, "--no-model").wait()
    watchers = [frames(host, "/api/agent/catalog/tiny/download") for _ in range(4)]
    for watcher in watchers:
        assert next(watcher)["total"] == len(WEIGHTS) + len(PROJECTOR)

    watchers.pop(0).close()
    listed = host.json("/api/agent/downloads")[1]["downloads"]
    assert [(job["id"], job["state"], job["running"], job["error"]) for job in listed] == [("tiny", "Running", True, None)]
    weights.gate.set()

    assert [list(watcher)[-1] for watcher in watchers] == [{"done": True, "id": "tiny"}] * 3
    assert len(weights.requests) == 1


def test_a_cancel_keeps_the_part_and_starting_again_goes_on(serve, root, two):
    weights, _ = two
    weights.gate, weights.gate_at = threading.Event(), 400_000
    host = serve("--port", 0, "--no-model").wait()
    watcher = frames(host, "/api/agent/catalog/tiny/download")
    part = root / "models/tiny/tiny.gguf.part"
    for frame in watcher:
        if part.exists() and part.stat().st_size >= 200_000:
            break
        if frame["phase"] == "downloading":
            while part.stat().st_size < 200_000:
                pass
            break

    assert host.json("/api/agent/catalog/tiny/download/cancel", "POST") == (200, {"cancelled": True, "id": "tiny"})

    assert list(watcher)[-1] == {"cancelled": True, "id": "tiny"}
    kept = part.stat().st_size
    assert kept >= 200_000
    model = entry(host, "tiny")
    assert model["state"] == "Partial" and model["installedBytes"] == kept
    assert model["remainingBytes"] == len(WEIGHTS) - kept
    assert model["download"]["state"] == "Cancelled"
    assert host.json("/api/agent/catalog/tiny/download/cancel", "POST")[1]["cancelled"] is False
    status, refusal = host.json("/api/models/load", "POST", {"model": "tiny"})
    assert status == 404 and refusal["code"] == "model_not_installed"
    assert refusal["error"] == "Tiny is not complete on this device yet." and "alcove pull tiny" in refusal["hint"]
    weights.gate.set()
    assert list(frames(host, "/api/agent/catalog/tiny/download"))[-1]["done"]
    assert weights.ranges()[-1] == f"bytes={kept}-"
    assert (root / "models/tiny/tiny.gguf").read_bytes() == WEIGHTS


def test_a_failed_check_is_told_and_only_that_file_goes(serve, root, two):
    weights, projector = two
    bad = bytearray(PROJECTOR)
    bad[7] ^= 1
    projector.behave = lambda number, headers: {"data": bytes(bad)}
    host = serve("--port", 0, "--no-model").wait()

    seen = list(frames(host, "/api/agent/catalog/tiny/download"))

    assert seen[-1]["code"] == "download_wrong_hash" and seen[-1]["id"] == "tiny"
    assert "The check of mmproj-tiny.gguf failed" in seen[-1]["error"]
    job = host.json("/api/agent/downloads")[1]["downloads"][0]
    assert job["state"] == "Failed" and "The check of mmproj-tiny.gguf failed" in job["error"]
    assert sorted(path.name for path in (root / "models/tiny").iterdir()) == ["tiny.gguf"]
    projector.behave = lambda number, headers: {}
    assert list(frames(host, "/api/agent/catalog/tiny/download"))[-1]["done"]
    assert projector.ranges() == [None, None]


def test_a_host_of_the_own_network_must_be_added(serve, root, range_server):
    one = range_server(WEIGHTS)
    model = {"id": "tiny", "name": "Tiny", "files": [file("tiny.gguf", WEIGHTS, one.url)]}
    write(root, model)
    host = serve("--port", 0, "--no-model").wait()

    last = list(frames(host, "/api/agent/catalog/tiny/download"))[-1]

    assert last["code"] == "download_private_address" and one.requests == []
    write(root, model, allowedHosts=["127.0.0.1"])
    assert list(frames(host, "/api/agent/catalog/tiny/download"))[-1]["done"]


def test_a_killed_host_leaves_parts_that_go_on(serve, root, two):
    weights, _ = two
    weights.gate, weights.gate_at = threading.Event(), 500_000
    host = serve("--port", 0, "--no-model").wait()
    watcher = frames(host, "/api/agent/catalog/tiny/download")
    next(watcher)
    part = root / "models/tiny/tiny.gguf.part"
    while not part.exists() or part.stat().st_size < 300_000:
        pass
    host.stop(signal.SIGKILL)
    weights.gate.set()
    kept = part.stat().st_size

    host = serve("--port", 0, "--no-model").wait()

    assert entry(host, "tiny")["state"] == "Partial"
    assert list(frames(host, "/api/agent/catalog/tiny/download"))[-1]["done"]
    assert weights.ranges()[-1] == f"bytes={kept}-"
    assert (root / "models/tiny/tiny.gguf").read_bytes() == WEIGHTS


def test_a_host_that_is_told_to_end_ends_its_downloads(serve, root, two):
    weights, _ = two
    weights.gate, weights.gate_at = threading.Event(), 300_000
    host = serve("--port", 0, "--no-model").wait()
    watcher = frames(host, "/api/agent/catalog/tiny/download")
    next(watcher)
    while not weights.requests:
        pass

    assert host.stop() == 0
    assert (root / "models/tiny/tiny.gguf.part").exists()


@pytest.mark.parametrize("method, path", [
    ("GET", ""), ("POST", "/download"), ("DELETE", "")])
@pytest.mark.parametrize("id", ["unknown", "..%2f..%2fetc", "%00"])
def test_unknown_models_are_not_found(serve, method, path, id):
    host = serve("--port", 0, "--no-model").wait()

    assert host.request(f"/api/agent/catalog/{id}{path}", method)[0] in (400, 404)


def test_what_came_with_alcove_is_neither_brought_nor_deleted(serve):
    host = serve("--port", 0, "--no-model").wait()

    assert list(frames(host, "/api/agent/catalog/smollm2-135m-q8/download")) == [{"done": True, "id": "smollm2-135m-q8"}]
    status, refusal = host.json("/api/agent/catalog/smollm2-135m-q8", "DELETE")
    assert status == 409 and refusal["code"] == "comes_with_alcove"
    assert MODEL.exists()


def test_models_load_by_their_id(serve, root, model):
    data = MODEL.read_bytes()
    write(root, {
        "id": "own", "name": "Own", "contextLength": 1024, "sampling": {"temperature": 0.1}, "files": [
            file("own.gguf", data, "https://example.org/own.gguf")]})
    (root / "models/own").mkdir(parents=True)
    shutil.copy(MODEL, root / "models/own/own.gguf")
    host = serve("--port", 0, "--model", "own").wait()

    assert host.wait_for_model()["state"] == "Loaded"
    assert host.json("/api/models")[1]["contextTokens"] == 1024
    status, loaded = host.json("/api/models/load", "POST", {"model": "smollm2-135m-q8"})
    assert status == 200 and loaded["model"] == MODEL.name
    assert host.json("/api/models/load", "POST", {"model": "own"})[1]["model"] == "own.gguf"
    fit = entry(host, "own")["fit"]
    assert fit["cacheIsGuess"] is False
    # 30 layers of 3 heads of 64 numbers, keys and values, two bytes each, for three chats of 1,024 tokens
    assert fit["cacheBytes"] == 30 * 3 * 64 * 2 * 2 * 1024 * 3
    status, refusal = host.json("/api/models/load", "POST", {"model": "qwen3.5-9b-iq4xs"})
    assert status == 404 and refusal["error"] == "Qwen3.5 9B is not on this device yet."


# Import
@pytest.mark.parametrize("copy", [True, False])
def test_a_local_file_is_taken_in(serve, root, tmp_path, copy):
    mine = tmp_path / "Mein Modell (fein).gguf"
    os.link(MODEL, mine) if os.stat(MODEL).st_dev == os.stat(tmp_path).st_dev else shutil.copy(MODEL, mine)
    host = serve("--port", 0, "--no-model").wait()

    status, taken = host.json("/api/models/import", "POST", {"path": str(mine), "copy": copy})

    assert status == 200, taken
    assert taken["model"] == mine.name and taken["copied"] is copy
    path = root / "models" / mine.name
    assert path.is_symlink() is not copy and path.read_bytes()[:1000] == MODEL.read_bytes()[:1000]
    assert sorted(p.name for p in (root / "models").iterdir()) == [mine.name]
    assert mine.name in host.json("/api/models")[1]["models"]
    assert host.json("/api/models/load", "POST", {"model": mine.name})[1]["ok"] is True
    # Again: in place it is there already, a copy gets another name.
    again = host.json("/api/models/import", "POST", {"path": str(mine), "copy": copy})[1]
    assert again["model"] == ("Mein Modell (fein) (2).gguf" if copy else mine.name)


def test_a_file_used_in_place_is_copied_when_that_is_asked_for(serve, root, tmp_path):
    mine = tmp_path / "mine.gguf"
    shutil.copy(MODEL, mine)
    host = serve("--port", 0, "--no-model").wait()
    host.json("/api/models/import", "POST", {"path": str(mine), "copy": False})
    path = root / "models" / "mine.gguf"
    assert path.is_symlink()

    status, taken = host.json("/api/models/import", "POST", {"path": str(mine), "copy": True})

    assert (status, taken["model"], taken["copied"]) == (200, "mine.gguf", True), taken
    assert not path.is_symlink() and os.listdir(root / "models") == ["mine.gguf"]
    mine.unlink()
    assert path.stat().st_size == MODEL.stat().st_size
    assert host.json("/api/models/load", "POST", {"model": "mine.gguf"})[1]["ok"] is True


def test_what_cannot_be_loaded_is_not_taken_in(serve, root, tmp_path):
    host = serve("--port", 0, "--no-model").wait()
    (tmp_path / "page.gguf").write_text("<html>")
    (tmp_path / "short.gguf").write_bytes(MODEL.read_bytes()[:100_000])
    cases = [
        ({"path": str(tmp_path / "page.gguf")}, 422, "gguf_web_page"),
        ({"path": str(tmp_path / "short.gguf")}, 422, "gguf_truncated"),
        ({"path": str(tmp_path / "none.gguf")}, 404, "model_missing"), ({"path": str(tmp_path)}, 422, "gguf_not_a_file"),
        ({"path": "short.gguf"}, 400, "bad_path"), ({"path": ""}, 400, "no_path"), ({}, 400, "no_path"),
        ({"path": str(MODEL), "copy": "yes"}, 400, "bad_copy"), ({"path": "/dev/zero"}, 422, "gguf_not_a_file"),
    ]

    for body, status, code in cases:
        found, refusal = host.json("/api/models/import", "POST", body)
        assert (found, refusal["code"]) == (status, code), (body, refusal)
    assert list((root / "models").iterdir()) == []


def test_a_copy_that_does_not_fit_is_refused_with_both_numbers(serve, root):
    (root / "models").mkdir(parents=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", root / "models"], capture_output=True)
    if made.returncode != 0:
        print("\nSKIPPED: no small disk can be mounted here.")
        pytest.skip("no small disk can be mounted here")
    try:
        host = serve("--port", 0, "--no-model").wait()
        status, refusal = host.json("/api/models/import", "POST", {"path": str(MODEL)})
        assert status == 507 and refusal["code"] == "import_disk_full"
        assert f"{MODEL.stat().st_size} bytes are needed and 1048576 are free" in refusal["error"]
        assert host.json("/api/models/import", "POST", {"path": str(MODEL), "copy": False})[0] == 200
        host.stop()
    finally:
        subprocess.run(["umount", root / "models"], check=True)


# Commands
def test_pull_brings_a_model(alcove, root, two):
    pulled = alcove("pull", "tiny", "--root", root)

    assert pulled.returncode == 0, pulled.stderr
    assert pulled.stdout == f"Tiny is ready: {root}/models/tiny/tiny.gguf\n"
    lines = pulled.stderr.splitlines()
    assert lines[0].startswith("Tiny: 1.2 MB, licence MIT. It needs about ")
    assert "\r" not in pulled.stderr and 3 < len(lines) < 40
    again = alcove("pull", "tiny", "--root", root)
    assert again.returncode == 0 and "Tiny is on this device" in again.stdout


def test_pull_goes_on_after_ctrl_c(alcove, root, two):
    weights, _ = two
    weights.gate, weights.gate_at = threading.Event(), 300_000
    process = subprocess.Popen(
        [PROGRAM, "pull", "tiny", "--root", str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    part = root / "models/tiny/tiny.gguf.part"
    while not part.exists() or part.stat().st_size < 100_000:
        pass
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 69 and "was stopped; what has arrived is kept" in error
    weights.gate.set()

    assert alcove("pull", "tiny", "--root", root).returncode == 0
    assert weights.ranges()[-1].startswith("bytes=")
    assert (root / "models/tiny/tiny.gguf").read_bytes() == WEIGHTS


def test_pull_of_an_unknown_model_suggests_one(alcove, root):
    pulled = alcove("pull", "gemma-4-e2b", "--root", root)

    assert pulled.returncode == 66
    assert 'There is no model "gemma-4-e2b" in the catalogue. Did you mean gemma-4-e2b-q8?' in pulled.stderr


def test_models_lists_what_fits_first(alcove, root, two):
    listed = alcove("models", "--root", root).stdout

    recommended = listed.split("alcove pull ID):\n")[1].split("\n")
    shown = [line for line in recommended if line.startswith("  ")]
    assert 1 <= len(shown) <= 3
    assert all("are free" in line and "not here" in line for line in shown)
    assert "more with: alcove models --all" in listed
    everything = alcove("models", "--root", root, "--all").stdout
    assert all(id in everything for id in [*BUILT_IN, "tiny", "smollm2-135m-q8"])
    catalog = json.loads(alcove("models", "--root", root, "--catalog", "--json").stdout)
    assert {model["id"] for model in catalog} == {*BUILT_IN, "tiny", "smollm2-135m-q8"}


def test_what_a_load_will_take_is_known_before(serve, root, model):
    host = serve("--port", 0, "--no-model").wait()

    status, fit = host.json("/api/models/fit?model=SmolLM2-135M-Instruct.Q8_0.gguf")

    assert status == 200 and fit["verdict"] == "fits"
    # 30 layers of 3 heads of 64 numbers, keys and values, two bytes each, for three chats of the 8,192 tokens it was made for
    assert fit["cacheBytes"] == 30 * 3 * 64 * 2 * 2 * 8192 * 3
    assert fit["needBytes"] == fit["weightBytes"] + fit["cacheBytes"] + fit["computeBytes"]
    assert "are free" in fit["sentence"] and fit["freeBytes"] > 0
    assert host.json("/api/models/fit")[0] == 400
    assert host.json("/api/models/fit?model=none.gguf")[0] == 404
    (root / "models/bad.gguf").write_text("<html>")
    assert host.json("/api/models/fit?model=bad.gguf")[1]["code"] == "gguf_web_page"


def test_on_a_terminal_one_line_is_rewritten(root, two):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "pull", "tiny", "--root", str(root)], stdout=subprocess.DEVNULL, stderr=follower, stdin=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(leader)

    assert process.wait(30) == 0
    lines = shown.decode().split("\r\x1b[K")
    assert len(lines) > 2 and any("(100 %)" in line for line in lines)
    assert all("\n" not in line for line in lines[1:-1])
