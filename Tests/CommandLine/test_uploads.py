"""Uploads: what is taken, how it is kept, how it is served, what happens to files made to do harm."""

import http.client
import io
import os
import random
import re
import signal
import socket
import time
import urllib.parse

import files
import pytest
from files import form, upload

STORED = re.compile(r"[0-9a-f]{32}\.[a-z0-9]+")


@pytest.fixture
def host(serve):
    return serve("--port", 0, "--no-model").wait()


def kept(host):
    """The names in the folder of uploads; nothing may be left among those that come in."""
    folder = host.root / "uploads"
    assert not folder.exists() or list((folder / ".incoming").iterdir()) == []
    return sorted(path.name for path in folder.glob("[0-9a-f]*")) if folder.exists() else []


def test_a_text_file_is_kept_served_and_read(host):
    status, reply = upload(host, "notes é.TXT", "ünï\r\n".encode(), "application/octet-stream")

    assert status == 200 and reply["ok"] is True
    assert STORED.fullmatch(reply["file"]) and reply["file"].endswith(".txt")
    assert reply["url"] == "/uploads/" + reply["file"]
    assert (reply["mediaType"], reply["fileName"], reply["textContent"]) == ("text", "notes é.TXT", "ünï\r\n")
    assert reply["truncated"] is False and reply["originalTokenCount"] is None
    assert kept(host) == [reply["file"]]

    status, headers, data = host.request(reply["url"] + "?name=" + urllib.parse.quote('a"b\r\nX: y/é.txt'))
    assert (status, data) == (200, "ünï\r\n".encode())
    assert headers["Content-Type"] == "text/plain; charset=utf-8" and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X"] is None
    assert headers["Content-Disposition"] == "inline; filename=\"_.txt\"; filename*=UTF-8''%C3%A9.txt"
    assert host.request(reply["url"], "HEAD")[1]["Content-Length"] == "7"
    status, headers, data = host.request(reply["url"], headers={"Range": "bytes=0-1"})
    assert (status, data, headers["Content-Range"]) == (206, "ü".encode(), "bytes 0-1/7")


def test_pages_of_strangers_are_never_pages_of_ours(host):
    _, reply = upload(host, "page.html", b"<script>alert(1)</script>", "text/html")

    assert host.request(reply["url"])[1]["Content-Type"] == "text/plain; charset=utf-8"
    assert upload(host, "x.svg", b"<svg/>", "image/svg+xml")[1]["code"] == "unsupported_file"
    (host.root / "uploads" / ("0" * 32 + ".svg")).write_text("<svg/>")
    for name in [
        "0" * 32 + ".svg", "0" * 32, "%2e%2e%2falcove.db", ".incoming", "../alcove.db", reply["file"] + "%00.png",
        "%c0%ae%c0%ae/alcove.db", reply["file"].upper(), "x" + reply["file"],
    ]:
        assert host.request("/uploads/" + name)[0] in (400, 404), name
    assert host.request(reply["url"], token=False)[0] == 401


@pytest.mark.parametrize(
    "name, data, kind, ending",
    [
        ("a.JPEG", "JPEG", None, ".jpeg"), ("photo", "JPEG", "image/jpeg", ".jpg"), ("photo", "PNG", None, ".png"),
        ("photo.png", "HEIF", "image/png", ".heic"), ("a.gif", "PNG", None, ".png"), ("..", "PNG", None, ".png"),
        ("photo", "HEIF", "application/octet-stream", ".heic"), ("x.webp", "WEBP", None, ".webp"),
    ],
)
def test_kinds_by_name_then_type_then_bytes(host, name, data, kind, ending):
    status, reply = upload(host, name, files.picture(data), kind)

    assert status == 200, reply
    assert reply["file"].endswith(ending) and reply["mediaType"] == "image"


@pytest.mark.parametrize(
    "name, data, code",
    [
        ("Makefile", b"all:\n", "no_extension"), ("x.exe", b"MZ", "unsupported_file"), ("a.txt", b"", "empty_file"),
        ("a.png", b"not a picture", "file_not_as_named"), ("a.pdf", b"hello", "file_not_as_named"),
        ("a.docx", b"\xd0\xcf\x11\xe0old", "file_not_as_named"), ("", b"", "no_file"), ("", b"x", "no_extension"),
    ],
)
def test_what_is_refused_leaves_nothing(host, name, data, code):
    status, reply = upload(host, name, data)

    assert (status, reply["code"]) == (400, code), reply
    assert kept(host) == []


@pytest.mark.parametrize(
    "sent, shown",
    [
        (b'filename="../../etc/passwd.txt"', "passwd.txt"), (b'filename="C:\\Users\\me\\a.txt"', "a.txt"),
        (b'filename="a%0D%0AX: y.txt"', "aX: y.txt"), (b'filename="q%22uote.txt"', 'q"uote.txt'),
        (b"filename*=UTF-8''%e2%80%aeabc%00.txt", "abc.txt"), (b'filename="' + b"x" * 5_000 + b'.txt"', "x" * 176 + ".txt"),
        (b'filename="x/.txt"', ".txt"), (b"filename*=UTF-8''%F0%9F%98%80.txt", "😀.txt"),
    ],
)
def test_odd_names_become_plain_ones(host, sent, shown):
    status, reply = upload(host, sent, b"hello", "text/plain")

    assert status == 200, reply
    assert reply["fileName"] == shown
    assert [name for name in kept(host)] == [reply["file"]]


def test_several_files_are_kept_together_or_not_at_all(host):
    headers, body = form(("a.txt", b"1", None), ("b.png", files.picture("PNG"), None))
    status, reply = host.json("/api/upload", "POST", body, headers=headers)
    assert status == 200 and [item["fileName"] for item in reply["files"]] == ["a.txt", "b.png"]
    before = kept(host)

    headers, body = form(("c.txt", b"1" * 100_000, None), ("d.exe", b"2", None))
    assert host.json("/api/upload", "POST", body, headers=headers)[1]["code"] == "unsupported_file"
    headers, body = form(*[("e.txt", b"1", None)] * 21)
    assert host.json("/api/upload", "POST", body, headers=headers)[1]["code"] == "too_many_files"
    headers, body = form(*[("e.txt", b"1", None)] * 10_000)
    assert host.json("/api/upload", "POST", body, headers=headers)[0] == 400
    assert kept(host) == before


def test_other_types_of_body_are_refused(host):
    assert host.request("/api/upload", "POST", {"file": "x"})[0] == 415
    assert host.json("/api/upload", "POST", b"x", headers={"Content-Type": "multipart/form-data"})[1]["code"] == "bad_boundary"


def test_a_body_that_ends_early_leaves_nothing(host):
    headers, body = form(("a.txt", b"hello world" * 20, "text/plain"))
    for count in [*range(0, len(body) - 2, 9), len(body) - 3]:
        status, reply = host.json("/api/upload", "POST", body[:count] or b"-", headers=headers)
        assert (status, reply["code"]) == (400, "multipart_incomplete"), count
    assert kept(host) == []


def send(host, body, length, headers):
    connection = socket.create_connection(("127.0.0.1", int(host.url.rsplit(":", 1)[1])))
    lines = ["POST /api/upload HTTP/1.1", f"Host: {host.url[7:]}", f"Authorization: Bearer {host.token}"]
    lines += [f"{name}: {value}" for name, value in headers.items()] + [f"Content-Length: {length}", "", ""]
    connection.sendall("\r\n".join(lines).encode() + body)
    return connection


def test_a_client_that_leaves_leaves_nothing(host):
    headers, body = form(("a.bin.txt", b"x" * 400_000, None))
    for count in (10, 300, 100_000, len(body) - 5):
        send(host, body[:count], len(body), headers).close()
    assert upload(host, "b.txt", b"1")[0] == 200
    deadline = time.monotonic() + 20
    while any((host.root / "uploads" / ".incoming").glob("*")):
        assert time.monotonic() < deadline, "an upload of a client that has left is still there"
        time.sleep(0.02)  # until the host has noticed
    host.stop()  # whatever was still to be noticed has been
    assert len(kept(host)) == 1


def test_too_large_and_too_much(serve, root):
    host = serve("--port", 0, "--no-model").wait()
    headers, _ = form()
    connection = send(host, b"", 502 << 20, headers)
    assert b" 413 " in connection.recv(100)
    assert host.json("/api/agent/settings", "PATCH", {"uploadQuotaMB": 1})[0] == 200

    status, reply = upload(host, "a.txt", b"x" * (1 << 20))
    assert (status, reply["code"]) == (507, "upload_quota")
    assert kept(host) == []
    assert upload(host, "a.txt", b"x" * 700_000)[0] == 200
    assert upload(host, "a.txt", b"x" * 700_000)[0] == 507
    assert upload(host, "a.txt", b"x" * 100_000)[0] == 200


def test_a_body_of_unknown_length_is_taken(host):
    headers, body = form(("a.txt", b"hello " * 200_000, None))
    connection = http.client.HTTPConnection(host.url[7:])
    pieces = (body[place : place + 70_001] for place in range(0, len(body), 70_001))
    connection.request(
        "POST", "/api/upload", pieces, {**headers, "Authorization": f"Bearer {host.token}"}, encode_chunked=True)
    answer = connection.getresponse()

    assert answer.status == 200, answer.read()
    (name,) = kept(host)
    assert (host.root / "uploads" / name).read_bytes() == b"hello " * 200_000


def test_many_at_once_share_the_room_and_mix_nothing(serve, root):
    from concurrent.futures import ThreadPoolExecutor

    host = serve("--port", 0, "--no-model").wait()
    wanted = {number: bytes([65 + number]) * (50_000 + 777 * number) for number in range(12)}
    with ThreadPoolExecutor(6) as pool:
        answers = dict(zip(wanted, pool.map(lambda item: upload(host, f"{item[0]}.txt", item[1]), wanted.items())))
    for number, (status, reply) in answers.items():
        assert status == 200 and reply["fileName"] == f"{number}.txt"
        assert host.request(reply["url"])[2] == wanted[number]
    host.json("/api/agent/settings", "PATCH", {"uploadQuotaMB": 2})
    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(lambda number: upload(host, "a.txt", b"x" * 600_000)[0], range(6)))
    assert set(statuses) == {200, 507}
    assert sum(path.stat().st_size for path in (root / "uploads").glob("[0-9a-f]*")) <= 2 << 20


def resident(host):
    return int(re.search(r"VmRSS:\s+(\d+)", (open(f"/proc/{host.process.pid}/status").read()))[1]) << 10


def test_half_a_gigabyte_passes_through_flat_memory(host):
    upload(host, "warm.txt", b"x" * 1_000_000)
    size = 499 << 20
    headers, body = form(("large.log", b"@@", "text/plain"))
    before, after = body.split(b"@@")
    connection = send(host, before, len(before) + size + len(after), headers)
    start, most = resident(host), 0
    piece = b"\r\n------alcov" + random.Random(3).randbytes((1 << 20) - 13)
    for number in range(size >> 20):
        connection.sendall(piece)
        if number % 20 == 0:
            most = max(most, resident(host))
    connection.sendall(after)
    answer = connection.recv(65_536)

    assert b" 200 " in answer, answer
    (stored,) = [name for name in kept(host) if name.endswith(".log")]
    assert (host.root / "uploads" / stored).stat().st_size == size
    assert most - start < 16 << 20, (most - start) >> 20


def test_documents_are_read(host, sandbox):
    _, reply = upload(host, "a.pdf", files.pdf("Page one", "Page two"))
    assert (reply["mediaType"], reply["pageCount"], reply["extractedPageCount"], reply["complete"]) == ("pdf", 2, 2, True)
    assert "Page one" in reply["textContent"] and "Page two" in reply["textContent"] and reply["renderedAsImages"] is False
    family = [name for name in kept(host) if name.startswith(reply["file"][:32])]
    assert family == [reply["file"][:32] + "-text.txt", reply["file"]]
    _, reply = upload(host, "a.docx", files.docx())
    assert (reply["mediaType"], reply["textContent"]) == ("document", "# The title\nHello from a document.\nleft | right")
    _, reply = upload(host, "a.xlsx", files.xlsx())
    assert reply["textContent"] == '## Prices\napple,1.5\n"a ""b"", c",,3'
    _, reply = upload(host, "a.pptx", files.pptx())
    assert reply["textContent"] == "## Slide 1\nSlide title\nNotes: a note"


def scan(pages, size=(600, 800), resolution=72):
    """A PDF of nothing but pictures, each page in a shade of its own."""
    from PIL import Image

    pictures = [Image.new("RGB", size, (250 - 5 * number, 10, 5 * number)) for number in range(pages)]
    out = io.BytesIO()
    pictures[0].save(out, "PDF", save_all=True, append_images=pictures[1:], resolution=resolution)
    return out.getvalue()


def test_a_scanned_pdf_is_kept_as_pictures_of_its_pages(host, sandbox):
    from PIL import Image

    status, reply = upload(host, "scan.pdf", scan(3))

    assert status == 200 and reply["needsVision"] is True and reply["textContent"] == "" and "no text" in reply["warning"]
    assert (reply["pageCount"], reply["extractedPageCount"]) == (3, 3) and len(reply["frames"]) == 3
    for number, (name, url) in enumerate(zip(reply["frames"], reply["frameUrls"])):
        assert name == f"{reply['file'][:32]}-page-{number + 1}.jpg" and url == "/uploads/" + name
        image = Image.open(io.BytesIO(host.request(url)[2]))
        assert image.format == "JPEG" and 1_400_000 < image.width * image.height <= 1_500_000 and image.height > image.width
        red, _, blue = image.getpixel((50, 50))
        assert abs(red - (250 - 5 * number)) < 12 and abs(blue - 5 * number) < 12


@pytest.mark.parametrize("pages, size, resolution, drawn", [
    (40, (60, 80), 72, 16), (2, (200, 200), 1, 2), (2, (3, 9_000), 72, 0), (1, (8_000, 100), 72, 1)])
def test_a_scan_is_drawn_within_bounds(host, sandbox, pages, size, resolution, drawn):
    from PIL import Image

    status, reply = upload(host, "scan.pdf", scan(pages, size, resolution))

    assert status == 200 and reply["needsVision"] is True and len(reply["frames"]) == drawn, reply
    assert reply["pageCount"] == pages and reply["extractedPageCount"] == drawn
    if 0 < drawn < pages:
        assert f"The first {drawn} of its {pages} pages" in reply["warning"]
    for url in reply["frameUrls"]:
        image = Image.open(io.BytesIO(host.request(url)[2]))
        assert image.width * image.height <= 1_500_000


def test_pictures_get_upright_previews_without_their_secrets(host, sandbox):
    from PIL import Image

    for form_name, file_name, ending in [("JPEG", "a.jpg", "jpg"), ("PNG", "a.png", "jpg"), ("HEIF", "a.heic", "png")]:
        _, reply = upload(host, file_name, files.picture(form_name, (1600, 800), orientation=6))
        assert reply["previewUrl"] == f"/uploads/{reply['file'][:32]}-preview.{ending}"
        _, headers, data = host.request(reply["previewUrl"])
        image = Image.open(io.BytesIO(data))
        assert headers["Content-Type"] == ("image/jpeg" if ending == "jpg" else "image/png")
        assert image.width * image.height <= 768 * 768
        assert not image.getexif() and b"a camera" not in data
        if form_name == "HEIF":
            continue  # turned by a box of its own, which the encoder here cannot write; what EXIF says does not count
        assert image.height > image.width
        top, bottom = image.getpixel((image.width // 2, 5)), image.getpixel((image.width // 2, image.height - 5))
        assert top[2] > 200 > top[0] and bottom[0] > 200 > bottom[2]


@pytest.mark.parametrize("form_name, codec", [("mp4", "mpeg4"), ("matroska", "libvpx"), ("avi", "mpeg4")])
def test_a_video_gives_pictures(host, sandbox, form_name, codec):
    from PIL import Image

    name = {"mp4": "a.mp4", "matroska": "a.mkv", "avi": "a.avi"}[form_name]
    status, reply = upload(host, name, files.video(2, (1280, 960), form_name, codec))

    assert status == 200 and reply["mediaType"] == "video", reply
    stem = reply["file"][:32]
    assert reply["frames"] == [f"{stem}-frame-{number}.jpg" for number in range(1, 9)]
    assert reply["frameUrls"] == ["/uploads/" + name for name in reply["frames"]]
    reds = []
    for url in reply["frameUrls"]:
        image = Image.open(io.BytesIO(host.request(url)[2]))
        assert image.size == (886, 665)
        reds.append(image.getpixel((5, 5))[0])
    assert reds[0] > 230 and reds[-1] < 60 and reds == sorted(reds, reverse=True)


def test_what_is_no_video_is_refused_and_gone(host, sandbox):
    for data in (os.urandom(20_000), files.video()[:200], files.picture("PNG")[:0] + b"\0\0\0\x18ftypmp42" + bytes(50)):
        status, reply = upload(host, "a.mp4", data)
        assert (status, reply["code"]) == (400, "video_unreadable"), reply
        assert reply["error"].startswith("a.mp4 is no video that can be read: it ") and "Error" not in reply["error"]
    assert kept(host) == []


@pytest.mark.parametrize(
    "name, make, code, words",
    [
        ("huge.png", files.huge_png, "file_needs_too_much", "too large to be looked into: it has "),
        ("bomb.docx", files.bomb_docx, "file_needs_too_much", "it unpacks to "),
        ("lying.docx", files.lying_docx, None, ""),
        ("broken.pdf", lambda: b"%PDF-1.7\n" + os.urandom(50_000), "file_cut_off", "it ends too early"),
        ("wrong.pdf", lambda: b"%PDF-1.7\n" + os.urandom(50_000) + b"\n%%EOF\n", "file_damaged", "it is damaged"),
        ("broken.heic", lambda: files.picture("HEIF")[:300] + os.urandom(2_000), None, ""),
        ("cut.jpg", lambda: files.picture("JPEG")[:200], "file_cut_off", "it ends too early"),
        ("cut.png", lambda: files.picture("PNG")[:-30], "file_cut_off", "it ends too early"),
        ("wrong.png", lambda: files.picture("PNG").replace(b"IHDR", b"IHDX"), "file_damaged", "it is damaged"),
        ("broken.xlsx", lambda: files.xlsx()[:3_000] + os.urandom(2_000), "file_cut_off", "it ends too early"),
    ],
)
def test_a_bad_file_hurts_nobody_is_kept_and_told_in_words_of_ours(host, sandbox, name, make, code, words):
    status, reply = upload(host, name, make())

    assert status == 200, reply
    assert reply["warning"].count(name) == 1 and words in reply["warning"], reply
    assert "previewUrl" not in reply and not reply.get("textContent")
    assert reply["warningCode"] == code or code is None and reply["warningCode"] in ("file_damaged", "file_needs_too_much")
    # Nothing of what a library said: no exception's name, no place in our sandbox.
    assert not re.search(r"Error|Exception|/run/|Image size|cannot identify|PDFium|\\x", reply["warning"]), reply
    assert kept(host) == [reply["file"]]
    assert host.json("/health")[0] == 200


def test_a_workbook_that_says_it_is_vast_is_read(host, sandbox):
    _, reply = upload(host, "sparse.xlsx", files.sparse_xlsx())

    assert "first" in reply["textContent"]


def test_files_with_changed_bytes_are_answered(host, sandbox):
    """Some dozens of files of each kind with a few bytes changed: read, told unreadable, or refused; never a fault of ours."""
    generator = random.Random(13)
    makers = {
        "a.pdf": files.pdf("one", "two"), "a.docx": files.docx(), "a.xlsx": files.xlsx(), "a.pptx": files.pptx(),
        "a.png": files.picture("PNG"), "a.heic": files.picture("HEIF"), "a.webp": files.picture("WEBP"),
        "a.mp4": files.video(1, (64, 48)),
    }
    for name, whole in makers.items():
        for _ in range(6):
            data = bytearray(whole)
            for _ in range(generator.randrange(1, 30)):
                data[generator.randrange(len(data))] = generator.randrange(256)
            status, reply = upload(host, name, bytes(data))
            assert status in (200, 400), reply
            assert status == 200 or reply["code"] in ("file_not_as_named", "video_unreadable"), reply
    assert host.json("/health")[0] == 200
    kept(host)


def test_an_endless_pdf_ends(host, sandbox):
    status, reply = upload(host, "endless.pdf", files.endless_pdf())

    assert status == 200 and reply["fileName"] == "endless.pdf"
    assert host.json("/health")[0] == 200


def test_without_the_reader_the_file_is_kept_and_a_sentence_says_why(serve, tmp_path):
    host = serve("--port", 0, "--no-model", env={"ALCOVE_MEDIA": str(tmp_path / "nowhere")}).wait()

    status, reply = upload(host, "a.pdf", files.pdf("x"))

    assert status == 200 and "could not be looked into" in reply["warning"] and reply["textContent"] == ""
    assert host.request(reply["url"])[2] == files.pdf("x")


def test_what_was_acknowledged_survives_kills_and_nothing_half_is_seen(serve, root):
    """20 kills at random moments while files come in."""
    generator = random.Random(5)
    known = {}
    for _ in range(20):
        host = serve("--port", 0, "--no-model").wait()
        for name, data in known.items():
            assert host.request("/uploads/" + name)[2] == data
        # Whatever else has a name is whole: every file here is its number, over and over.
        for path in (root / "uploads").glob("[0-9a-f]*"):
            data = path.read_bytes()
            assert len(data) % 1_000 == 0 and len(set(data[i : i + 4] for i in range(0, len(data), 4))) == 1, path
        stop_after = generator.randrange(1, 12)
        connections = []
        for number in range(stop_after):
            data = f"{generator.randrange(1000, 9999)}".encode() * (250 * generator.randrange(1, 400))
            if number == stop_after - 1:
                headers, body = form(("a.txt", data, None))
                connections.append(send(host, body[: generator.randrange(len(body) + 1)], len(body), headers))
                break
            status, reply = upload(host, "a.txt", data)
            assert status == 200
            known[reply["file"]] = data
        host.stop(signal.SIGKILL)
        for connection in connections:
            connection.close()
    host = serve("--port", 0, "--no-model").wait()
    upload(host, "last.txt", b"1")
    assert len(known) > 40 and set(known) <= set(kept(host))
