"""Pictures, videos and sounds that the model is given: real files, decoded in the sandbox, seen through a tiny projector of
random weights beside the starter model."""

import base64
import json

import files
import pytest
from files import upload
from program import MODEL
from projectors import ears, eyes
from test_uploads import scan

PICTURE_TOKENS = 16


def message(text, *attachments):
    return {"role": "user", "content": text, "attachments": list(attachments)}


@pytest.fixture
def seeing(serve, tmp_path, sandbox):
    """A host whose model sees; the same folder, and so the same chats, each time."""
    projector = eyes(tmp_path / "eyes.gguf")

    def start(*more):
        host = serve("--port", 0, "--model", MODEL, "--projector", projector, "--threads", 1, *more).wait()
        assert host.wait_for_model()["state"] == "Loaded"
        return host

    return start


def answer(host, session, messages, **rest):
    status, frames = host.chat(session, messages, temperature=0, maxTokens=12, **rest)
    assert status == 200, frames
    assert frames[-1]["error"] is None, frames[-1]
    text = "".join(frame.get("token", "") for frame in frames)
    return text, frames[-1]


def test_a_picture_is_seen_kept_and_reused_also_after_a_restart(seeing):
    host = seeing()
    models = host.json("/api/models")[1]
    assert models["visionReady"] is True and models["loadedMmProj"] == "eyes.gguf" and models["audioReady"] is False
    red = upload(host, "red.png", files.picture("PNG"))[1]
    turned = upload(host, "turned.jpg", files.picture("JPEG", orientation=3))[1]
    session = host.session()
    plain = answer(host, host.session()["sessionId"], [message("What is this?")])[1]
    first, told = answer(host, session["sessionId"], [message("What is this?", red)])
    assert told["promptTokens"] == plain["promptTokens"] + PICTURE_TOKENS

    # The same in a new chat goes on through the picture, another picture only up to it.
    again, same = answer(host, host.session()["sessionId"], [message("What is this?", red)])
    assert again == first and same["kvReusedTokens"] > told["promptTokens"] - 8
    other = answer(host, host.session()["sessionId"], [message("What is this?", turned)])[1]
    assert other["kvReusedTokens"] < told["promptTokens"] - PICTURE_TOKENS

    history = [message("What is this?", red), {"role": "assistant", "content": first}, message("And this?", turned)]
    warm, told = answer(host, session["sessionId"], history)
    assert told["kvReusedTokens"] > plain["promptTokens"] + PICTURE_TOKENS - 8
    host.stop()

    # Another process has nothing of it, and the chat has its pictures still.
    host = seeing()
    kept = host.json(f"/api/agent/conversations/{session['conversationId']}")[1]
    asked = [each for each in kept["messages"] if each["role"] == "user"]
    assert [each["attachments"][0]["file"] for each in asked] == [red["file"], turned["file"]]
    cold, told = answer(host, host.session()["sessionId"], history)
    assert cold == warm and told["kvReusedTokens"] < PICTURE_TOKENS + plain["promptTokens"]


def test_every_kind_of_file_is_shown(seeing):
    host = seeing()
    plain = answer(host, host.session()["sessionId"], [message("What is this?")])[1]["promptTokens"]

    def tokens(name, data):
        status, reply = upload(host, name, data)
        assert status == 200, reply
        return answer(host, host.session()["sessionId"], [message("What is this?", reply)])[1]["promptTokens"] - plain

    for name, form in (("a.png", "PNG"), ("b.jpg", "JPEG"), ("c.heic", "HEIF"), ("d.webp", "WEBP"), ("e.gif", "GIF")):
        assert tokens(name, files.picture(form)) == PICTURE_TOKENS, name
    clear = files.saved(lambda out: __import__("PIL.Image").Image.new("RGBA", (40, 30), (255, 0, 0, 0)).save(out, "PNG"))
    assert tokens("clear.png", clear) == PICTURE_TOKENS
    # A frame, and when it is.
    assert tokens("clip.mp4", files.video()) > PICTURE_TOKENS
    assert tokens("scan.pdf", scan(3)) == 3 * PICTURE_TOKENS
    assert upload(host, "scan.pdf", scan(2))[1]["renderedAsImages"] is True


def test_a_broken_picture_is_refused_by_name_and_costs_an_old_chat_nothing(seeing):
    host = seeing()
    broken = upload(host, "cut.png", files.picture("PNG")[:60])[1]
    status, refusal = host.chat(host.session()["sessionId"], [message("What is this?", broken)])
    assert (status, refusal["code"]) == (422, "file_cut_off") and refusal["error"].startswith("cut.png cannot be shown")
    history = [message("What is this?", broken), {"role": "assistant", "content": "A thing."}, message("Why?")]
    assert answer(host, host.session()["sessionId"], history)[1]["promptTokens"] > 0


def test_old_pictures_go_before_words_when_the_window_is_full(seeing, tmp_path):
    # Pictures of 64 tokens each: more than what is said in their place.
    host = seeing("--context", 1024, "--projector", eyes(tmp_path / "sharp.gguf", size=128))
    pictures = [upload(host, f"{number}.png", files.picture("PNG", (30 + number, 30)))[1] for number in range(14)]
    history = []
    for number, picture in enumerate(pictures):
        history += [message(f"Number {number}?", picture), {"role": "assistant", "content": "Yes."}]
    status, frames = host.chat(host.session()["sessionId"], history[:-1], temperature=0, maxTokens=8)
    assert status == 200 and frames[-1]["error"] is None
    notices = " ".join(frame["notice"] for frame in frames if "notice" in frame)
    assert "earlier pictures and sounds were left out" in notices, notices
    assert 900 < frames[-1]["promptTokens"] < 1024


def test_without_a_projector_a_picture_is_refused_with_what_to_do(serve, root, tmp_path, sandbox):
    weights = root / "models" / "mine" / "mine.gguf"
    weights.parent.mkdir(parents=True)
    weights.symlink_to(MODEL)
    projector = eyes(tmp_path / "eyes.gguf")
    entry = {
        "id": "mine", "name": "Mine", "sideloadOnly": True, "modalities": ["Image"],
        "files": [
            {"name": "mine.gguf", "bytes": MODEL.stat().st_size, "sha256": "0" * 64},
            {"role": "Projector", "name": "eyes.gguf", "bytes": projector.stat().st_size, "sha256": "1" * 64, "optional": True},
        ],
    }
    (root / "catalog.json").write_text(json.dumps({"models": [entry]}))
    host = serve("--model", "mine").wait()
    host.wait_for_model()
    models = host.json("/api/models")[1]
    assert (models["visionReady"], models["acceptsVisionProjector"], models["loadedMmProj"]) == (False, True, None)
    picture = upload(host, "a.png", files.picture("PNG"))[1]
    status, refusal = host.chat(host.session()["sessionId"], [message("?", picture)])
    assert (status, refusal["code"]) == (400, "vision_not_ready") and "alcove pull mine" in refusal["hint"]
    # Brought, and the model loaded again: nothing else has to be said.
    (weights.parent / "eyes.gguf").write_bytes(projector.read_bytes())
    assert "load Mine again" in host.chat(host.session()["sessionId"], [message("?", picture)])[1]["hint"]
    loaded = host.json("/api/models/load", "POST", b'{"model": "mine"}')[1]
    assert loaded["loadedMmProj"] == "eyes.gguf"
    answer(host, host.session()["sessionId"], [message("What is this?", picture)])


def test_a_projector_beside_its_model_is_found(alcove, root, tmp_path, sandbox):
    model = tmp_path / "some.gguf"
    model.symlink_to(MODEL)
    beside = tmp_path / "mmproj-some.gguf"
    picture = tmp_path / "a.png"
    picture.write_bytes(files.picture("PNG"))

    def ask():
        return alcove("ask", "What is this?", "--image", picture, "--root", root, "--model", model, "-n", 8, "-t", 1)

    eyes(beside)
    done = ask()
    assert done.returncode == 0 and done.stdout, done.stderr
    eyes(beside, width=64)
    done = ask()
    assert done.returncode != 0 and "The model cannot see pictures." in done.stderr
    assert "reads words alone. mmproj-some.gguf" in done.stderr and "embeddings of length 64" in done.stderr


@pytest.mark.parametrize("how, code, words", [
    ({"width": 64}, 65, "gives embeddings of length 64, and the model takes 576"),
    ({"projector": "kimik25"}, 65, "is a projector of the kind kimik25, which is not known here"),
    ({"projector": "gemma3"}, 65, 'it writes "<start_of_image>", and the model has no such token'),
    ({"without": "v.patch_embd.weight"}, 65, "eyes.gguf could not be loaded"),
    # Nothing is said of it, and the library looks at what is not there: only a child ends of it.
    ({"without": "mm.2.weight"}, 65, "eyes.gguf could not be loaded: it ended the program that tried it"),
])
def test_a_projector_that_does_not_fit_is_refused_by_name(alcove, root, tmp_path, how, code, words):
    done = alcove(
        "ask", "Hello", "--projector", eyes(tmp_path / "eyes.gguf", **how), "--root", root, "--model", MODEL, "-n", 4)
    assert words in done.stderr and done.returncode == code and done.stdout == ""
    assert "ASSERT" not in done.stderr


def test_a_terminal_shows_pictures_and_plays_sounds(alcove, root, tmp_path, sandbox):
    for name, data in (("a.heic", files.picture("HEIF")), ("b.mp4", files.video()), ("c.mp3", files.sound(form="mp3"))):
        (tmp_path / name).write_bytes(data)
    common = ["--root", root, "--model", MODEL, "-n", 8, "-t", 1, "--temperature", 0]
    sight = ["--projector", eyes(tmp_path / "eyes.gguf"), *common]
    done = alcove("ask", "What is this?", "--image", f"{tmp_path}/a.heic,{tmp_path}/b.mp4", *sight)
    assert done.returncode == 0 and done.stdout, done.stderr
    done = alcove("ask", "What is this?", "--sound", tmp_path / "c.mp3", "--projector", ears(tmp_path / "ears.gguf"), *common)
    assert done.returncode == 0 and done.stdout, done.stderr
    assert "cannot hear sound" in alcove("ask", "?", "--sound", tmp_path / "c.mp3", *sight).stderr
    assert "none.png cannot be read" in alcove("ask", "?", "--image", tmp_path / "none.png", *sight).stderr
    (tmp_path / "d.png").write_bytes(b"no picture")
    done = alcove("ask", "?", "--image", tmp_path / "d.png", *sight)
    assert done.returncode == 65 and "d.png cannot be shown to the model" in done.stderr


def test_sounds_are_heard(serve, tmp_path, sandbox):
    host = serve("--port", 0, "--model", MODEL, "--projector", ears(tmp_path / "ears.gguf"), "-t", 1).wait()
    host.wait_for_model()
    models = host.json("/api/models")[1]
    assert (models["audioReady"], models["visionReady"]) == (True, False)
    plain = answer(host, host.session()["sessionId"], [message("What is this?")])[1]["promptTokens"]
    for form in ("wav", "mp3", "flac"):
        reply = upload(host, f"tone.{form}", files.sound(form=form))[1]
        assert answer(host, host.session()["sessionId"], [message("What is this?", reply)])[1]["promptTokens"] > plain
    picture = upload(host, "a.png", files.picture("PNG"))[1]
    assert host.chat(host.session()["sessionId"], [message("?", picture)])[1]["code"] == "vision_not_ready"


def data_url(data, kind="image/png"):
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def complete(host, *parts, **rest):
    body = {"model": "default", "messages": [{"role": "user", "content": list(parts)}], "temperature": 0, "max_tokens": 8, **rest}
    return host.json("/v1/chat/completions", "POST", json.dumps(body).encode())


def image(url):
    return {"type": "image_url", "image_url": {"url": url}}


def test_programs_send_pictures_as_openai_does(seeing):
    host = seeing()
    words = {"type": "text", "text": "What is this?"}
    plain = complete(host, words)[1]["usage"]["prompt_tokens"]
    picture = image(data_url(files.picture("PNG")))
    status, first = complete(host, picture, words)
    assert status == 200 and first["usage"]["prompt_tokens"] == plain + PICTURE_TOKENS
    again = complete(host, words, picture)[1]
    assert again["choices"] == first["choices"]
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] > plain
    assert complete(host, image(data_url(files.picture("HEIF"), "image/heic")))[0] == 200

    for part, code, words in (
        (image("https://example.org/a.png"), "remote_picture", "nothing is fetched from there"),
        (image("data:image/png,abc"), "invalid_value", "data:TYPE;base64"),
        (image(data_url(b"no picture")), "invalid_value", "PNG, JPEG"),
        (image(data_url(files.picture("PNG")[:80])), "file_cut_off", "cannot be shown to the model"),
        (image(data_url(files.huge_png())), "file_needs_too_much", "too large"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, "audio_not_ready", "cannot hear"),
        ({"type": "video_url"}, "unsupported_content", "video_url"),
    ):
        status, refusal = complete(host, part)
        assert status in (400, 413, 422) and refusal["error"]["code"] == code, refusal
        assert words in refusal["error"]["message"] and refusal["error"]["param"].startswith("messages[0].content[0]")


def test_a_model_without_eyes_says_so_to_programs(serve, model):
    host = serve("--port", 0, "--model", model).wait()
    host.wait_for_model()
    status, refusal = complete(host, image(data_url(files.picture("PNG"))))
    assert (status, refusal["error"]["code"]) == (400, "vision_not_ready")
