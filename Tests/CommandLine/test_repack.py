"""PrismML's ternary weights, taken in as Q2_0: through the command and the route, with flat memory."""

import json
import os
import random
import struct

import pytest
from program import PROGRAM

TEXT, UINT32, FLOAT = 8, 4, 6


def key(name, kind, data):
    return struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + data


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def block(dice):
    """128 numbers in 28 bytes; every byte is one a quantiser could write, or not: all are read."""
    return dice.randbytes(26) + struct.pack("<e", dice.uniform(-2, 2))


def model(path, rows=64, width=256, kind=143, keys=()):
    """A file with one ternary tensor, a plain one behind it, and what a header needs."""
    dice = random.Random(5)
    facts = [
        key("general.architecture", TEXT, text("llama")), key("general.file_type", UINT32, struct.pack("<I", 143)),
        *(key(f"llama.{name}", UINT32, struct.pack("<I", value)) for name, value in {
            "block_count": 1, "context_length": 512, "embedding_length": width, "attention.head_count": 2}.items()),
        key("llama.attention.layer_norm_rms_epsilon", FLOAT, struct.pack("<f", 1e-5)), *keys]
    blocks = [block(dice) for _ in range(64)]
    size = rows * width // 128
    length = size * 28
    names = [("token_embd.weight", (width, rows), kind, 0), ("output_norm.weight", (width,), 0, -(-length // 32) * 32)]
    infos = b"".join(
        text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape) + struct.pack("<IQ", of, offset)
        for name, shape, of, offset in names)
    head = b"GGUF" + struct.pack("<IQQ", 3, 2, len(facts)) + b"".join(facts) + infos
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % 32))
        for number in range(0, size, 64):
            file.write(b"".join(blocks[: min(64, size - number)]))
        file.write(b"\0" * (-length % 32) + struct.pack(f"<{width}f", *range(width)))
    return blocks


def numbers(data):
    """What a PTQ1_0 block holds, plainly: base-3 digits of a byte, most significant first."""
    found = []
    for first, count, digits in ((0, 16, 5), (16, 8, 5), (24, 2, 4)):
        for place in range(digits):
            for byte in data[first:first + count]:
                found.append((byte * 3 ** place % 256) * 3 // 256 - 1)
    return found


def test_a_file_is_taken_in_number_by_number(alcove, root, tmp_path):
    source = tmp_path / "Ternary-PTQ1_0.gguf"
    blocks = model(source)
    refused = alcove("inspect", source)
    assert refused.returncode != 0 and "alcove models import" in refused.stderr

    told = alcove("models", "import", source, "--root", root, "--json")
    assert told.returncode == 0, told.stderr
    told = json.loads(told.stdout)
    assert told["copied"] and told["model"] == source.name
    copy = root / "models" / source.name
    assert copy.stat().st_size == told["bytes"]
    header = json.loads(alcove("inspect", copy, "--json").stdout)
    tensors = {tensor["name"]: tensor for tensor in header["tensors"]}
    assert tensors["token_embd.weight"]["type"] == 42 and tensors["output_norm.weight"]["type"] == 0

    data = copy.read_bytes()
    # The ternary tensor is the first; its data begin where the plain one's lie behind it.
    length = 64 * 256 // 64 * 18
    start = len(data) - 256 * 4 - -(-length // 32) * 32
    for index, old in enumerate(blocks[:64]):
        values = numbers(old)
        for half in range(2):
            new = data[start + (2 * index + half) * 18:][:18]
            assert new[:2] == old[26:]
            assert [(new[2 + n // 4] >> n % 4 * 2 & 3) - 1 for n in range(64)] == values[64 * half:64 * half + 64]
    assert data[-1024:] == struct.pack("<256f", *range(256))
    assert [name for name in os.listdir(root / "models") if "repacking" in name] == []
    assert alcove("models", "import", source, "--root", root, "--in-place").stderr.count("import_needs_copy") <= 1


def test_what_would_be_noise_is_refused_and_nothing_is_left(serve, alcove, root, tmp_path):
    source = tmp_path / "Ternary-Bonsai-2-27B-PTQ1_0.gguf"
    model(source, keys=[key("prism.hadamard.block_size", UINT32, struct.pack("<I", 1024))])
    told = alcove("models", "import", source, "--root", root)
    assert told.returncode != 0
    assert "keeps its weights in a rotated basis (prism.hadamard.*)" in told.stderr and "noise" in told.stderr
    host = serve("--port", 0, "--no-model").wait()
    status, body = host.json("/api/models/import", "POST", {"path": str(source)})
    assert status == 422 or status == 400, status
    assert body["code"] == "gguf_rotated_weights"
    status, body = host.json("/api/models/import", "POST", {"path": str(tmp_path / "x.gguf")})
    assert body["code"] == "model_missing"
    plain = tmp_path / "plain.gguf"
    model(plain)
    status, body = host.json("/api/models/import", "POST", {"path": str(plain), "copy": False})
    assert body["code"] == "import_needs_copy", body
    status, body = host.json("/api/models/import", "POST", {"path": str(plain)})
    assert status == 200 and body["copied"]
    assert sorted(os.listdir(root / "models")) == ["plain.gguf"]


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the memory of a child is told by wait4")
def test_memory_is_flat(root, tmp_path):
    source = tmp_path / "large.gguf"
    model(source, rows=20_000, width=1024)  # 4.5 MB
    peaks = []
    for file in (source, tmp_path / "small.gguf"):
        if not file.exists():
            model(file)
        child = os.fork()
        if child == 0:
            os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
            os.execv(PROGRAM, [PROGRAM, "models", "import", str(file), "--root", str(root)])
        _, status, usage = os.wait4(child, 0)
        assert status == 0
        peaks.append(usage.ru_maxrss)
    assert (root / "models/large.gguf").stat().st_size > 5_700_000
    assert peaks[0] < peaks[1] + (3 << 10), peaks  # kilobytes
