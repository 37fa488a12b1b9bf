"""Guessing ahead through the whole program: a setting, felt with the next reply and told at its end."""

QUESTION = {
    "messages": [{"role": "user", "content": 'Write the numbers from 1 to 30, each on a line, like "Number 1 is a number".'}],
    "temperature": 0, "maxTokens": 200,
}


def test_guessing_ahead_can_be_switched_off_and_changes_no_answer(serve, model):
    host = serve("--port", 0, "--model", model, "--threads", 1).wait()
    host.wait_for_model()
    answers = {}
    for wanted in (True, False, True):
        host.json("/api/agent/settings", "PATCH", {"speculativeDecoding": wanted})
        _, frames = host.chat(host.session()["sessionId"], QUESTION["messages"], temperature=0, maxTokens=QUESTION["maxTokens"])
        done = frames[-1]
        # Switched on, it still depends on what steps cost at the moment.
        assert wanted or done["draftedTokens"] == 0
        assert 0 <= done["acceptedTokens"] <= done["draftedTokens"]
        answers[wanted] = "".join(frame.get("token", "") for frame in frames), done["tokenCount"]
    assert answers[True] == answers[False]
    assert answers[True][1] > 40


def is_mapped(host, file):
    with open(f"/proc/{host.process.pid}/maps") as maps:
        return any(file in line for line in maps)


def test_a_draft_model_is_loaded_used_counted_and_given_back(serve, alcove, model, root):
    draft = model.replace("Q8_0", "Q4_1")
    name = draft.rsplit("/", 1)[-1]
    host = serve("--port", 0, "--model", model, "--draft", draft).wait()
    host.wait_for_model()
    assert is_mapped(host, name)
    answers = {}
    for wanted in (True, False):
        host.json("/api/agent/settings", "PATCH", {"speculativeDecoding": wanted})
        _, frames = host.chat(
            host.session()["sessionId"], [{"role": "user", "content": "Tell me a story about a lighthouse keeper."}], temperature=0, maxTokens=60)
        # Whether it is worth it is measured; that it is tried is not.
        assert (frames[-1]["draftedTokens"] > 0) == wanted
        answers[wanted] = "".join(frame.get("token", "") for frame in frames)
    assert answers[True] == answers[False]
    assert host.json("/api/models/load", "POST", {"model": name})[0] == 200  # its own draft now: the same words
    host.stop()

    # Another vocabulary is found before anything is loaded.
    import struct

    from gguf import changed, text
    from pathlib import Path

    other = changed(Path(model), root / "models/other.gguf", tokenizer__ggml__pre=text("gpt-2"))
    told = alcove("ask", "Hello", "--model", model, "--draft", other, "--root", root)
    assert told.returncode != 0
    assert "other.gguf cannot guess for SmolLM2-135M-Instruct.Q8_0.gguf: it cuts words as gpt2 gpt-2" in told.stderr


def test_the_catalogues_draft_is_used_and_a_head_is_told(serve, model, root):
    import hashlib
    import json
    import shutil
    from pathlib import Path

    from gguf import changed, text

    folder = root / "models/mine"
    folder.mkdir(parents=True)
    shutil.copy(model, folder / "mine.gguf")
    shutil.copy(model.replace("Q8_0", "Q4_1"), folder / "draft.gguf")

    def entry():
        files = [("Weights", "mine.gguf"), ("Draft", "draft.gguf")]
        return {"models": [{"id": "mine", "name": "Mine", "files": [
            {"role": role, "name": name, "url": f"https://example.org/{name}", "bytes": (folder / name).stat().st_size,
             "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(), "optional": role == "Draft"} for role, name in files]}]}

    (root / "catalog.json").write_text(json.dumps(entry()))
    host = serve("--port", 0, "--model", "mine").wait()
    assert host.wait_for_model()["state"] == "Loaded"
    assert is_mapped(host, "models/mine/draft.gguf")
    needs = next(one for one in host.json("/api/agent/catalog")[1]["models"] if one["id"] == "mine")["fit"]["weightBytes"]
    assert needs >= (folder / "mine.gguf").stat().st_size + (folder / "draft.gguf").stat().st_size - (1 << 22)
    host.stop()

    changed(Path(model), folder / "draft.gguf", general__architecture=text("gemma4-assistant"))
    (root / "catalog.json").write_text(json.dumps(entry()))
    host = serve("--port", 0, "--model", "mine").wait()
    found = host.wait_for_model()
    # A draft that cannot guess costs nobody the model.
    assert found["state"] == "Loaded"
    assert not is_mapped(host, "models/mine/draft.gguf")
