"""LoRA adapters: looked at before they are loaded, and felt in the answer as strongly as was asked."""

import json
import random
import struct
import time

import pytest
from program import MODEL

RANK, WIDTH = 4, 576


@pytest.fixture
def made(tmp_path):
    """Makes a small random adapter for one layer of the starter model."""

    def make(name="adapter.gguf", architecture="llama", kind="adapter", method="lora", tensor="blk.3.attn_output.weight",
             halves="ab", width=WIDTH, rank=RANK, alpha=8.0, seed=1):
        path = tmp_path / name
        dice = random.Random(seed)
        text = lambda value: struct.pack("<Q", len(value)) + value.encode()
        pair = lambda key, value: text(key) + struct.pack("<I", 8) + text(value)
        number = struct.pack("<If", 6, alpha) if isinstance(alpha, float) else struct.pack("<II", 4, alpha)
        pairs = [pair("general.architecture", architecture), pair("general.type", kind), pair("adapter.type", method)]
        pairs.append(text("adapter.lora.alpha") + number)
        shapes = {"a": (width, RANK), "b": (rank, WIDTH)}  # the fastest dimension first
        infos, data = b"", b""
        for half in halves:
            columns, rows = shapes[half]
            infos += text(f"{tensor}.lora_{half}") + struct.pack("<IQQIQ", 2, columns, rows, 0, len(data))
            data += b"".join(struct.pack("<f", dice.gauss(0, 1)) for _ in range(columns * rows))
        head = b"GGUF" + struct.pack("<IQQ", 3, len(halves), len(pairs)) + b"".join(pairs) + infos
        path.write_bytes(head + b"\0" * (-len(head) % 32) + data)
        return path

    return make


def ask(alcove, root, *words):
    return alcove(
        "ask", "Name three colours.", "--root", root, "--model", MODEL, "--temperature", 0, "--max-tokens", 24,
        "--threads", 1, *words)


def test_scale_0_changes_nothing_and_scale_1_does(alcove, root, made):
    adapter = made()
    plain = ask(alcove, root)
    none = ask(alcove, root, "--lora", f"{adapter}:0")
    full = ask(alcove, root, "--lora", adapter)
    same = ask(alcove, root, "--lora", f"{adapter}:1.0")

    assert [done.returncode for done in (plain, none, full, same)] == [0] * 4, full.stderr
    assert none.stdout == plain.stdout
    assert full.stdout != plain.stdout
    assert same.stdout == full.stdout


def test_a_checkpoint_is_of_its_adapter(serve, root, made):
    """A beginning that was computed with one adapter is not gone on from with another, or without."""
    adapter, kept = made(), []
    for option in ([], ["--lora", adapter], ["--lora", adapter], ["--lora", f"{adapter}:0.5"]):
        host = serve("--port", 0, "--model", MODEL, *option).wait()
        assert host.wait_for_model()["state"] == "Loaded"
        deadline = time.monotonic() + 60
        while not host.json("/api/agent/engine")[1]["model"]["prefixCacheWarm"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        question = [{"role": "user", "content": "Say hello."}]
        host.chat(host.session()["sessionId"], question, profile="agent", maxTokens=2)
        host.stop()
        kept.append([path.name for path in (root / "checkpoints").rglob("*.ckpt")])
    # The name is a hash of what it is of and the tokens; what is of something else goes when a model is loaded.
    assert [len(names) for names in kept] == [1, 1, 1, 1]
    assert kept[1] == kept[2]
    assert len({kept[0][0], kept[1][0], kept[3][0]}) == 3


@pytest.mark.parametrize("how, words", [
    ({"architecture": "qwen2"}, "is an adapter for models of the architecture qwen2, and SmolLM2-135M-Instruct.Q8_0.gguf is of llama."),
    ({"kind": "model"}, "adapter.gguf is no LoRA adapter."),
    ({"method": "control"}, "it is an adapter of another kind than LoRA"),
    ({"tensor": "blk.99.attn_output.weight"}, 'the model has no "blk.99.attn_output.weight"'),
    ({"tensor": "blk.3.attn_k.weight"}, '"blk.3.attn_k.weight" has another shape'),
    ({"width": 512}, '"blk.3.attn_output.weight" has another shape'),
    ({"rank": 2}, '"blk.3.attn_output.weight" has another shape'),
    ({"halves": "a"}, 'a half of "blk.3.attn_output.weight" is missing'),
    ({"halves": ""}, "changes nothing"),
    ({"alpha": 8}, "its alpha is no number"),
    ({"alpha": float("nan")}, "its alpha is no number"),
])
def test_what_does_not_fit_is_refused_by_name(alcove, root, made, how, words):
    done = ask(alcove, root, "--lora", made(**how))

    assert done.returncode == 65 and done.stdout == ""
    assert words in done.stderr and "ASSERT" not in done.stderr


def test_a_cut_adapter_and_none_are_sentences(alcove, root, made, tmp_path):
    whole = made()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(whole.read_bytes()[:-100])
    assert ask(alcove, root, "--lora", cut).returncode == 65
    missing = ask(alcove, root, "--lora", tmp_path / "none.gguf:0.5")
    assert missing.returncode != 0 and "There is no model file at" in missing.stderr and "none.gguf" in missing.stderr
    assert "from -100 to 100" in ask(alcove, root, "--lora", f"{whole}:1e9").stderr


def test_the_catalogue_names_an_adapter(alcove, serve, root, made):
    weights = root / "models" / "mine" / "mine.gguf"
    weights.parent.mkdir(parents=True)
    weights.symlink_to(MODEL)
    entry = {
        "id": "mine", "name": "Mine", "sideloadOnly": True, "sampling": {"temperature": 0},
        "files": [{"name": "mine.gguf", "bytes": MODEL.stat().st_size, "sha256": "0" * 64}],
    }

    def answer(**more):
        (root / "catalog.json").write_text(json.dumps({"models": [{**entry, **more}]}))
        host = serve("--model", "mine").wait()
        assert host.wait_for_model()["state"] == "Loaded"
        body = {"messages": [{"role": "user", "content": "Name three colours."}], "temperature": 0, "max_tokens": 24}
        body["model"] = host.json("/v1/models")[1]["data"][0]["id"]
        words = host.json("/v1/chat/completions", "POST", body)[1]["choices"][0]["message"]["content"]
        host.stop()
        return words

    assert answer() != answer(lora=f"{made()}:1")
    assert answer() == answer(lora=[f"{made()}:0"])
    (root / "catalog.json").write_text(json.dumps({"models": [{**entry, "lora": ["relative.gguf"]}]}))
    told = alcove("models", "--root", root, "--catalog").stderr
    assert "\"lora\"" in told and "a whole path, beginning with /" in told
