"""`alcove bench`: every shape is there, reuses what it should, and says the same to people and to programs."""

import json

SHAPES = ["first chat, cold", "first chat, warmed", "follow-up", "new chat", "new chat after unrelated prompts", "after Stop",
          "after a tool round", "thinking toggled", "next launch"]


def test_the_shapes_of_a_conversation(alcove, model):
    done = alcove("bench", "--only", "shapes", "--json", "--model", model, "--threads", 1, "--prefix", 150, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [name for name in found if isinstance(found[name], dict)] == SHAPES
    assert found["first chat, cold"]["reused"] == 0 and found["first chat, cold"]["timesCold"] == 1
    for name in SHAPES[1:]:
        row = found[name]
        assert row["seconds"] > 0 and row["reused"] > 150, (name, row)
        # All but the message: the shared beginning, and where a chat goes on its own words too.
        assert row["prompt"] - row["reused"] < 70, (name, row)


def test_speeds_and_guessing(alcove, model):
    done = alcove("bench", "--only", "speeds", "--json", "--model", model, "--threads", 1, "--runs", 1, timeout=300)
    found = json.loads(done.stdout)
    assert found["reading 512 tokens, 1 thread"] > 0 and found["writing 128 tokens, 1 thread"] > 0
    assert found["writing, 3 answers at once"] > 0 and found["load"] > 0 and found["resident with the model"] > 100 << 20
    done = alcove("bench", "--only", "guessing", "--model", model, "--threads", 1, "--runs", 1, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "quoting, guessing ahead" in done.stdout and "x, " in done.stdout and "came true" in done.stdout
    assert "MB charged to Alcove" in done.stdout


def test_an_unknown_part_is_told(alcove, model):
    done = alcove("bench", "--only", "fun", "--model", model)
    assert done.returncode == 64 and 'speeds, guessing or shapes, not "fun"' in done.stderr
