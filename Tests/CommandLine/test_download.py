"""`alcove plumbing download` against a server that misbehaves (T16 to T24, field reports 15 and 16)."""

import base64
import hashlib
import ipaddress
import json
import os
import random
import signal
import socket
import subprocess
import threading

import pytest
from program import PROGRAM
from range_server import RangeServer, last_modified

DATA = random.Random(1).randbytes(1_843_320)
KEPT = 233_624


@pytest.fixture
def server(range_server):
    return lambda data=DATA, **rest: range_server(data, **rest)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "model.gguf"


@pytest.fixture
def download(alcove, target):
    def run(url, *words, **rest):
        return alcove("plumbing", "download", url, target, *words, **rest)

    return run


def begin(server, download, target, kept=KEPT, **plan):
    """Leaves a part of `kept` bytes, as a connection that was cut does."""
    server.behave = lambda number, headers: {"status": 503} if number else {"cut": kept, **plan}
    result = download(server.url, "--attempts", 1)
    assert result.returncode == 69, result.stderr
    assert part(target).stat().st_size == kept
    server.behave = lambda number, headers: {}
    server.requests.clear()
    server.sent = 0


def part(target):
    return target.with_name(target.name + ".part")


def note(target):
    return target.with_name(target.name + ".part.json")


def is_whole(target, data=DATA):
    return target.read_bytes() == data and not part(target).exists() and not note(target).exists()


def test_a_file_arrives_whole(server, download, target):
    one = server()

    result = download(one.url, "--sha256", one.sha256, "--bytes", len(DATA))

    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{target} is complete ({len(DATA)} bytes).\n"
    assert is_whole(target)
    assert one.requests[0]["headers"]["Accept-Encoding"] == "identity"
    assert "Range" not in one.requests[0]["headers"]


def test_a_file_that_is_there_and_right_is_not_fetched_again(server, download, target):
    one = server()
    target.write_bytes(DATA)

    assert download(one.url, "--sha256", one.sha256).returncode == 0
    assert one.requests == []


def test_a_part_is_resumed_under_its_validator(server, download, target):
    one = server()
    begin(one, download, target)

    assert download(one.url).returncode == 0
    assert is_whole(target)
    assert one.requests[0]["headers"]["Range"] == f"bytes={KEPT}-"
    assert one.requests[0]["headers"]["If-Range"] == '"v1"'
    assert one.sent == len(DATA) - KEPT


def test_a_date_is_a_validator_too(server, download, target):
    one = server(tag=None, modified=last_modified())
    begin(one, download, target)

    assert download(one.url).returncode == 0
    assert is_whole(target)
    assert one.requests[0]["headers"]["If-Range"] == one.modified
    assert one.sent == len(DATA) - KEPT


# T16, field report 15
@pytest.mark.parametrize("with_note", [True, False])
def test_the_whole_file_in_answer_to_a_range_replaces_the_part(server, download, target, with_note):
    one = server()
    if with_note:
        begin(one, download, target)
    else:
        part(target).write_bytes(DATA[:KEPT])
    one.behave = lambda number, headers: {"no_ranges": True}

    result = download(one.url, "--sha256", one.sha256, "--bytes", len(DATA))

    assert result.returncode == 0, result.stderr
    assert one.requests[0]["headers"]["Range"] == f"bytes={KEPT}-"
    assert target.stat().st_size == 1_843_320
    assert is_whole(target)


# T17
@pytest.mark.parametrize("earlier", [1, 1_000, KEPT, KEPT + 5])
def test_a_part_that_starts_earlier_is_written_where_it_belongs(server, download, target, earlier):
    one = server()
    begin(one, download, target)
    one.behave = lambda number, headers: {"earlier": earlier}

    assert download(one.url).returncode == 0
    assert is_whole(target)


@pytest.mark.parametrize(
    "plan", [{"later": 10}, {"content_range": "bytes nonsense"}, {"content_range": "bytes 233624-99/1"},
             {"content_range": f"bytes {KEPT}-{len(DATA)}/{len(DATA) + 1}"}])
def test_a_part_that_makes_no_sense_begins_anew(server, download, target, plan):
    one = server()
    begin(one, download, target)
    one.behave = lambda number, headers: plan if "Range" in headers else {}

    result = download(one.url)

    assert result.returncode == 0, result.stderr
    assert is_whole(target)
    assert one.ranges() == [f"bytes={KEPT}-", None]


def test_a_server_that_caps_its_parts_is_asked_for_one_after_another(server, download, target):
    one = server()
    begin(one, download, target)
    one.behave = lambda number, headers: {"most": 400_000}

    assert download(one.url).returncode == 0
    assert is_whole(target)
    assert len(one.requests) == 5


# T18
def test_416_for_a_complete_part_finishes_it(server, download, target):
    one = server()
    begin(one, download, target, kept=len(DATA), no_length=True, chunked=True)

    result = download(one.url)

    assert result.returncode == 0, result.stderr
    assert is_whole(target)
    assert one.ranges() == [f"bytes={len(DATA)}-"] and one.sent == 0


@pytest.mark.parametrize("plan", [{}, {"bare_416": True}])
@pytest.mark.parametrize("extra", [1, 5_000])
def test_416_for_a_part_that_is_too_long_begins_anew(server, download, target, extra, plan):
    one = server(DATA + b"x" * extra)
    begin(one, download, target, kept=len(one.data), no_length=True, chunked=True)
    one.data = DATA
    one.behave = lambda number, headers: plan

    assert download(one.url).returncode == 0
    assert is_whole(target)


def test_a_complete_part_made_by_hand_needs_only_its_hash(server, download, target):
    one = server()
    part(target).write_bytes(DATA)

    assert download(one.url, "--sha256", one.sha256).returncode == 0
    assert is_whole(target)
    assert one.sent == 0


# T19
@pytest.mark.parametrize("ignores", [False, True])
def test_a_changed_file_begins_anew(server, download, target, ignores):
    one = server()
    begin(one, download, target)
    one.data, one.tag = DATA[::-1] + b"longer", '"v2"'
    one.behave = lambda number, headers: {"ignore_if_range": True} if ignores else {}

    result = download(one.url)

    assert result.returncode == 0, result.stderr
    assert is_whole(target, one.data)
    assert one.requests[0]["headers"]["If-Range"] == '"v1"'


def test_a_changed_tag_of_the_same_length_begins_anew_though_the_server_ignores_if_range(server, download, target):
    one = server()
    begin(one, download, target)
    one.data, one.tag = DATA[::-1], '"v2"'
    one.behave = lambda number, headers: {"ignore_if_range": True}

    assert download(one.url).returncode == 0
    assert is_whole(target, one.data)


# T20
@pytest.mark.parametrize("tag", [None, 'W/"weak"'])
def test_without_a_validator_and_a_hash_nothing_is_joined(server, download, target, tag):
    one = server(tag=tag)
    begin(one, download, target)
    one.data = DATA[::-1]

    assert download(one.url).returncode == 0
    assert is_whole(target, one.data)
    assert one.ranges() == [None]


def test_without_a_validator_the_hash_decides(server, download, target):
    one = server(tag=None)
    begin(one, download, target)

    assert download(one.url, "--sha256", one.sha256).returncode == 0
    assert is_whole(target)
    assert one.ranges() == [f"bytes={KEPT}-"] and "If-Range" not in one.requests[0]["headers"]


def test_a_join_that_was_wrong_is_mended_by_a_fresh_start(server, download, target):
    one = server(tag=None)
    part(target).write_bytes(b"\0" * KEPT)

    assert download(one.url, "--sha256", one.sha256).returncode == 0
    assert is_whole(target)
    assert one.ranges() == [f"bytes={KEPT}-", None]


# T21
def test_a_signed_address_that_has_expired_is_asked_for_again(server, download, target):
    one = server()
    valid = {"/signed?n=0"}
    one.redirects["/file"] = lambda number: f"/signed?n={number}"

    def behave(number, headers):
        if one.requests[number]["path"] not in valid:
            return {"status": 403}
        valid.clear()
        valid.add(f"/signed?n={number + 3}")  # the one after the next is refused
        return {"cut": KEPT} if number == 1 else {}

    one.behave = behave
    result = download(one.url)

    assert result.returncode == 0, result.stderr
    assert is_whole(target)
    paths = [request["path"] for request in one.requests]
    assert paths == ["/file", "/signed?n=0", "/file", "/signed?n=2", "/file", "/signed?n=4"]
    assert [request["headers"].get("Range") for request in one.requests[2:]] == [f"bytes={KEPT}-"] * 4


def test_redirects_are_bounded(server, download):
    one = server()
    one.redirects["/file"] = lambda number: f"/file?{number}"

    result = download(one.url)

    assert result.returncode == 1
    assert "was redirected more than 10 times" in result.stderr
    assert len(one.requests) == 11


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/", "http://"])
def test_redirects_lead_to_http_only(server, download, target, location):
    one = server()
    one.redirects["/file"] = location

    result = download(one.url)

    assert result.returncode == 1
    assert "which is not followed" in result.stderr
    assert not target.exists()


@pytest.mark.parametrize("location", ["/other/../file2", "file2", "?x=1", "//HOST/file2", "http://HOST/file2#part"])
def test_relative_redirects_are_resolved(server, download, target, location):
    one = server()
    host = f"127.0.0.1:{one.port}"
    one.redirects["/file"] = location.replace("HOST", host)
    if location == "?x=1":
        one.redirects["/file"] = lambda number: "?x=1" if number == 0 else "/file2"

    assert download(one.url).returncode == 0
    assert is_whole(target)


# T22
@pytest.mark.parametrize("way", ["address", "token"])
def test_credentials_never_go_to_another_host(server, download, target, tmp_path, way):
    one, other = server(), server(address="::1")
    one.redirects["/file"] = "/again"
    one.redirects["/again"] = other.url
    words = []
    if way == "address":
        url = one.url.replace("http://", "http://anna:s%40cret@")
        expected = "Basic " + base64.b64encode(b"anna:s@cret").decode()
    else:
        url, expected = one.url, "Bearer hf_secret"
        (tmp_path / "token").write_text("hf_secret\n")
        words = ["--token-file", tmp_path / "token"]

    result = download(url, *words)

    assert result.returncode == 0, result.stderr
    assert is_whole(target)
    assert [request["headers"].get("Authorization") for request in one.requests] == [expected, expected]
    assert all("Authorization" not in request["headers"] for request in other.requests)
    assert "s%40cret" not in result.stderr + result.stdout


def test_another_port_is_another_host(server, download, target):
    one, other = server(), server()
    one.redirects["/file"] = other.url

    assert download(one.url.replace("http://", "http://a:b@")).returncode == 0
    assert "Authorization" in one.requests[0]["headers"]
    assert "Authorization" not in other.requests[0]["headers"]


# T23, field report 16
def test_a_flipped_byte_is_found_and_only_the_bad_file_goes(server, download, target, tmp_path):
    one = server()
    (tmp_path / "other.gguf").write_bytes(b"mine")
    bad = bytearray(DATA)
    bad[1_000_000] ^= 1
    one.behave = lambda number, headers: {"data": bytes(bad)}

    result = download(one.url, "--sha256", one.sha256, "--bytes", len(DATA))

    assert result.returncode == 65
    actual = hashlib.sha256(bad).hexdigest()
    assert result.stderr.splitlines()[-1] == (
        f"alcove: The check of model.gguf failed: its SHA-256 is {actual} and should be {one.sha256}. The bad file was "
        "deleted. Start it again, which begins anew; if that fails too, the file at the source was changed.")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.gguf"]
    one.behave = lambda number, headers: {}
    one.requests.clear()
    assert download(one.url, "--sha256", one.sha256).returncode == 0
    assert one.ranges() == [None]
    assert is_whole(target)


def test_a_byte_flipped_in_a_resumed_part_is_found(server, download, target):
    one = server()
    begin(one, download, target)
    bytes_there = bytearray(part(target).read_bytes())
    bytes_there[5] ^= 1
    part(target).write_bytes(bytes_there)

    assert download(one.url, "--sha256", one.sha256).returncode == 65
    assert not target.exists() and not part(target).exists()
    assert download(one.url, "--sha256", one.sha256).returncode == 0
    assert is_whole(target)


@pytest.mark.parametrize("plan", [{}, {"chunked": True}])
def test_an_empty_file_is_called_empty(server, download, target, plan):
    one = server(b"")
    one.behave = lambda number, headers: plan

    result = download(one.url, "--sha256", hashlib.sha256(DATA).hexdigest(), "--bytes", len(DATA), "--attempts", 1)

    assert result.returncode == (65 if not plan else 69)
    if not plan:
        assert "The server sent an empty file for model.gguf." in result.stderr
    result = download(one.url, "--sha256", hashlib.sha256(DATA).hexdigest())
    assert result.returncode == 65
    assert "The server sent an empty file for model.gguf." in result.stderr
    assert not target.exists()


@pytest.mark.parametrize("plan", [{}, {"chunked": True}, {"no_length": True}])
def test_another_length_than_the_catalogue_says_is_refused(server, download, target, plan):
    one = server()
    part(target).write_bytes(DATA[:KEPT])
    one.behave = lambda number, headers: {**plan, "no_ranges": True}

    result = download(one.url, "--bytes", len(DATA) - 1, "--sha256", one.sha256)

    assert result.returncode == 65
    assert f"model.gguf should have {len(DATA) - 1} bytes, and the server's file has" in result.stderr
    assert not target.exists()
    if not plan:
        assert part(target).stat().st_size == KEPT


def test_a_web_page_in_place_of_the_file_is_named_and_costs_no_part(server, download, target):
    one = server()
    begin(one, download, target)
    one.behave = lambda number, headers: {
        "data": b"<html>Sign in</html>", "no_ranges": True, "fields": {"Content-Type": "text/html; charset=utf-8"}}

    result = download(one.url, "--bytes", len(DATA))

    assert result.returncode == 65
    assert "was answered with a web page in place of the file. Perhaps the network asks you to sign in" in result.stderr
    assert part(target).stat().st_size == KEPT


# T24: disk full
@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], capture_output=True)
    if made.returncode != 0:
        print("\nSKIPPED: no small disk can be mounted here.")
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_disk_that_is_too_small_is_known_before(server, alcove, small_disk):
    one = server()

    result = alcove("plumbing", "download", one.url, small_disk / "model.gguf")

    assert result.returncode == 1
    assert f"{len(DATA)} more bytes are needed and" in result.stderr
    assert (small_disk / "model.gguf.part").stat().st_size == 0


def test_a_disk_that_fills_up_keeps_what_arrived_and_goes_on_when_there_is_room(server, alcove, small_disk):
    one = server()
    file = small_disk / "model.gguf"
    one.behave = lambda number, headers: {"chunked": True}

    result = alcove("plumbing", "download", one.url, file)

    assert result.returncode == 1
    assert "There is no room left on the disk" in result.stderr and "Make room" in result.stderr
    kept = part(file).stat().st_size
    assert 800_000 < kept < 1 << 20
    assert not file.exists()
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    one.requests.clear()
    assert alcove("plumbing", "download", one.url, file).returncode == 0
    assert file.read_bytes() == DATA
    assert one.ranges() == [f"bytes={kept}-"]


# T24: kills
def test_a_download_killed_at_random_points_becomes_the_original(server, target):
    data = random.Random(2).randbytes(10_000_000)
    one = server(data)
    one.piece, one.pause = 16 << 10, 0.0002
    chance = random.Random(3)
    kills = 0
    words = [PROGRAM, "plumbing", "download", one.url, str(target), "--sha256", one.sha256]
    while True:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if kills < 30:
            # Killed when so many more bytes have left the server, wherever the program is with them then.
            goal = one.sent + chance.randrange(1, 350_000)
            while one.sent < goal and process.poll() is None:
                pass
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
        _, error = process.communicate(timeout=60)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, error
    assert kills >= 20
    assert is_whole(target, data)
    resumed = [text for text in one.ranges() if text]
    assert len(resumed) >= 15
    print(f"\n{kills} kills, {len(resumed)} resumed, {one.sent - len(data)} bytes sent twice")


def test_a_kill_between_notes_and_bytes_is_harmless(server, download, target):
    one = server()
    note(target).write_text(json.dumps({"url": one.url, "etag": '"v1"', "total": len(DATA)}))
    part(target).write_bytes(b"")
    assert download(one.url).returncode == 0
    assert is_whole(target)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "nonsense", '{"url": 5}', '{"url": "URL", "etag": "\\"v1\\"\\r\\nX-Evil: 1"}',
             '{"url": "URL", "total": -5, "etag": "\\"v1\\""}', '{"url": "URL", "total": 7, "etag": "\\"v1\\""}'])
def test_a_note_that_is_damaged_leads_to_the_right_file(server, download, target, text):
    one = server()
    part(target).write_bytes(b"\0" * KEPT)
    note(target).write_text(text.replace("URL", "http://elsewhere/"))

    assert download(one.url).returncode == 0
    assert is_whole(target)
    assert all("X-Evil" not in request["headers"] for request in one.requests)


# Connections
@pytest.mark.parametrize("plan", [{}, {"chunked": True}])
def test_a_connection_closed_early_is_resumed_by_itself(server, download, target, plan):
    one = server()
    one.behave = lambda number, headers: {**plan, "cut": 300_000}

    result = download(one.url)

    assert result.returncode == 0, result.stderr
    assert is_whole(target)
    assert len(one.requests) >= 7


def test_attempts_without_gain_are_bounded(server, download, target):
    one = server()
    begin(one, download, target)
    one.behave = lambda number, headers: {"cut": 0}

    result = download(one.url, "--attempts", 3)

    assert result.returncode == 69
    assert len(one.requests) == 3
    assert f"was tried 3 times and is not complete: the connection was closed early; the first {KEPT} bytes are kept." in (
        result.stderr)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_server_that_is_busy_is_asked_again(server, download, target, status):
    one = server()
    one.behave = lambda number, headers: {"status": status, "fields": {"Retry-After": "0"}} if number < 2 else {}

    assert download(one.url).returncode == 0
    assert is_whole(target)
    assert len(one.requests) == 3


@pytest.mark.parametrize("status, code", [(401, 1), (403, 1), (404, 66), (410, 66), (451, 1), (204, 1), (304, 1)])
def test_a_refusal_is_final(server, download, target, status, code):
    one = server()
    one.behave = lambda number, headers: {"status": status, "body": b""}

    result = download(one.url)

    assert result.returncode == code
    assert str(status) in result.stderr
    assert len(one.requests) == 1 and not target.exists()


def test_nobody_there(download, target):
    result = download("http://127.0.0.1:9/file", "--attempts", 2)

    assert result.returncode == 69
    assert "nobody answers there" in result.stderr


def test_bytes_that_were_compressed_unasked_are_refused(server, download, target):
    one = server()
    one.behave = lambda number, headers: {"fields": {"Content-Encoding": "gzip"}}

    result = download(one.url)

    assert result.returncode == 65 and "encoded as gzip" in result.stderr
    assert not target.exists()


def test_a_file_of_unknown_length_is_refused_unless_its_end_is_marked(server, download, target):
    one = server()
    one.behave = lambda number, headers: {"no_length": True}
    result = download(one.url)
    assert result.returncode == 65 and "does not say how long" in result.stderr

    assert download(one.url, "--bytes", len(DATA)).returncode == 0
    assert is_whole(target)
    target.unlink()
    one.behave = lambda number, headers: {"chunked": True}
    assert download(one.url).returncode == 0
    assert is_whole(target)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/y", "model.gguf", "http://", "http://a b/", "http://x:99999/",
                                 "http://user@/x", "http://[::1/x"])
def test_an_address_that_is_none_is_a_sentence(download, target, url):
    result = download(url)

    assert result.returncode == 1
    assert "cannot be downloaded from" in result.stderr
    assert not part(target).exists()


# Addresses of this device
@pytest.mark.parametrize(
    "location", ["http://10.255.255.1/x", "http://169.254.169.254/latest/meta-data", "http://192.168.0.1/",
                 "http://[fe80::1]/", "http://[::ffff:10.0.0.1]/", "http://0x0a000001/", "http://100.64.0.1/",
                 "http://[fd00::1]/x", "http://0.0.0.0/x"])
def test_a_redirect_into_the_own_network_is_refused(server, download, target, location):
    one = server()
    one.redirects["/file"] = location

    result = download(one.url)

    assert result.returncode == 1, result.stderr
    assert "nobody has allowed it" in result.stderr
    assert not target.exists()


@pytest.fixture
def own_name():
    """A name that this machine knows as an address of its own, and that does not say so."""
    for name in [os.uname().nodename, "ip6-loopback", "ip6-localhost", "localhost.localdomain"]:
        try:
            found = {item[4][0].split("%")[0] for item in socket.getaddrinfo(name, 80)}
        except OSError:
            continue
        if name != "localhost" and all(not ipaddress.ip_address(address).is_global for address in found):
            return name
    print("\nSKIPPED: this machine knows itself by no name.")
    pytest.skip("this machine knows itself by no name")


def test_a_name_that_leads_to_this_device_is_refused_on_the_connected_address(server, download, target, own_name):
    one = server()
    name = own_name
    url = one.url.replace("127.0.0.1", name)

    result = download(url)

    assert result.returncode == 1, result.stderr
    assert f"{name.lower()} is at " in result.stderr and "nobody has allowed it" in result.stderr
    assert f"--allow-host {name.lower()}" in result.stderr
    assert one.requests == []
    # Once a person has added it, it is only a question of who listens there.
    assert "nobody has allowed it" not in download(url, "--allow-host", name, "--attempts", 1).stderr


def test_what_is_typed_plainly_is_meant(server, download, target):
    one = server()

    assert download(one.url.replace("127.0.0.1", "localhost")).returncode == 0
    assert is_whole(target)


# Two at once, and stopping
def test_two_downloads_never_write_one_file(server, download, target):
    one = server()
    one.gate, one.gate_at = threading.Event(), KEPT
    first = subprocess.Popen(
        [PROGRAM, "plumbing", "download", one.url, str(target)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (part(target).exists() and part(target).stat().st_size > 0):
        pass

    second = download(one.url)

    assert second.returncode == 69
    assert "Another download is writing" in second.stderr
    one.gate.set()
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert is_whole(target)


def test_ctrl_c_stops_at_once_and_keeps_the_part(server, download, target):
    one = server()
    one.gate, one.gate_at = threading.Event(), KEPT  # nothing more will ever come
    process = subprocess.Popen(
        [PROGRAM, "plumbing", "download", one.url, str(target)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (part(target).exists() and part(target).stat().st_size >= KEPT):
        pass
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)

    assert process.returncode == 69
    assert "was stopped; what has arrived is kept." in error
    assert part(target).stat().st_size >= KEPT
    one.gate.set()
    assert download(one.url).returncode == 0
    assert is_whole(target)


def test_links_are_not_followed(server, download, target, tmp_path):
    one = server()
    (tmp_path / "precious").write_bytes(b"mine")
    part(target).symlink_to(tmp_path / "precious")

    assert download(one.url).returncode == 1
    assert (tmp_path / "precious").read_bytes() == b"mine"
