"""`alcove plumbing download` against what is hardly HTTP any more, and against TLS."""

import random
import shutil
import ssl
import subprocess
import threading
import socket

import pytest
from range_server import RangeServer

DATA = random.Random(5).randbytes(200_000)
CRLF = b"\r\n"


class RawServer:
    """Answers each connection with the next of some byte strings, whatever was asked."""

    def __init__(self, *answers):
        self.answers, self.heads = list(answers), []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/file"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.heads.append(b"")
            threading.Thread(target=self.answer, args=(connection, len(self.heads) - 1), daemon=True).start()

    def answer(self, connection, number):
        with connection:
            head = b""
            try:
                while b"\r\n\r\n" not in head:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    head += piece
                self.heads[number] = head
                connection.sendall(self.answers[min(number, len(self.answers) - 1)])
            except OSError:
                pass


def response(*fields, body=DATA, status="200 OK"):
    return CRLF.join([f"HTTP/1.1 {status}".encode(), *[field.encode() for field in fields], b"", b""]) + body


@pytest.fixture
def raw():
    servers = []

    def start(*answers):
        servers.append(RawServer(*answers))
        return servers[-1]

    yield start
    for one in servers:
        one.listener.close()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "file"


@pytest.fixture
def download(alcove, target):
    return lambda url, *words, **rest: alcove("plumbing", "download", url, target, *words, **rest)


LENGTH = f"Content-Length: {len(DATA)}"


@pytest.mark.parametrize("answer", [
    b"", b"\0" * 100, b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1\r\n\r\n", b"HTTP/1.1 999999 x\r\n\r\n", b"220 ftp ready\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5", b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000 + b"\r\n", response("Content-Length: -5"),
    response("Content-Length: 99999999999999999999999"), response("Transfer-Encoding: chunked", body=b"zz\r\nhello"),
    response("Transfer-Encoding: chunked", body=b"FFFFFFFFFFFFFFFFFF\r\nhello"), response("Content-Length: 5, 6"),
    response("Content-Length: 4611686018427387904"),
], ids=lambda answer: repr(answer[:30]))
def test_what_is_no_answer_ends_in_a_sentence(raw, download, target, answer):
    one = raw(answer)

    result = download(one.url, "--attempts", 2)

    assert result.returncode in (1, 65, 69), result.stderr
    assert result.stderr.splitlines()[-1].startswith("alcove: ")
    assert not target.exists()


def test_interim_answers_and_trailers_are_passed_over(raw, download, target):
    chunks = b"%x\r\n%s\r\n0\r\nETag: \"trailer\"\r\nContent-Length: 7\r\n\r\n" % (len(DATA), DATA)
    one = raw(
        b"HTTP/1.1 100 Continue\r\nETag: \"no\"\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        + response("Transfer-Encoding: chunked", body=chunks))

    assert download(one.url).returncode == 0
    assert target.read_bytes() == DATA


def test_more_bytes_than_were_announced_are_not_of_the_file(raw, download, target):
    one = raw(response(LENGTH, body=DATA + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"))

    assert download(one.url).returncode == 0
    assert target.read_bytes() == DATA


def test_a_part_longer_than_its_range_is_cut(raw, download, target):
    head = response(LENGTH, 'ETag: "1"', body=DATA[:1000])
    one = raw(
        head, response("Content-Range: bytes 1000-1999/200000", 'ETag: "1"', status="206 Partial",
                       body=DATA[1000:2000] + b"x" * 500),
        response("Content-Range: bytes 2000-199999/200000", 'ETag: "1"', status="206 Partial",
                 body=DATA[2000:]))

    result = download(one.url, "--attempts", 9)

    assert result.returncode == 0, result.stderr
    assert target.read_bytes() == DATA
    assert [head.split(b"Range: ")[1].split(CRLF)[0] for head in one.heads[1:]] == [b"bytes=1000-", b"bytes=2000-"]


def test_header_lines_cannot_be_smuggled_through_a_tag_or_an_address(raw, download, target):
    one = raw(response(LENGTH, 'ETag: "a\tb"', body=DATA[:1000]), response(LENGTH))

    download(one.url + "%0d%0aX-Evil:1")

    assert all(head.count(b"X-Evil:") == 1 and b"\r\nX-Evil" not in head for head in one.heads)


# TLS
@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """One for 127.0.0.1 that nobody but the test trusts."""
    assert shutil.which("openssl"), "The package openssl makes certificates for these tests."
    folder = tmp_path_factory.mktemp("tls")
    for name in ["good", "other"]:
        subject = "IP:127.0.0.1" if name == "good" else "DNS:other.example"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", f"/CN={name}", "-addext", f"subjectAltName={subject}", "-keyout", folder / f"{name}.key",
             "-out", folder / f"{name}.pem"], check=True, capture_output=True)
    return folder


@pytest.fixture
def secure(certificates):
    servers = []

    def start(data=DATA, name="good"):
        one = RangeServer(data)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / f"{name}.pem", certificates / f"{name}.key")
        one.server.socket = context.wrap_socket(one.server.socket, server_side=True)
        one.url = one.url.replace("http:", "https:")
        servers.append(one)
        return one

    yield start
    for one in servers:
        one.close()


def test_an_unknown_authority_is_not_trusted(secure, download, target):
    one = secure()

    result = download(one.url)

    assert result.returncode == 65
    assert "127.0.0.1 cannot be trusted: " in result.stderr and "Check the device's date" in result.stderr
    assert one.requests == [] and not target.exists()


def test_a_certificate_for_another_name_is_not_trusted(secure, download, target, certificates):
    one = secure(name="other")

    result = download(one.url, env={"SSL_CERT_FILE": str(certificates / "other.pem")})

    assert result.returncode == 65 and "cannot be trusted" in result.stderr
    assert one.requests == []


def test_https_is_resumed_and_never_left_for_http(secure, download, target, certificates):
    one, plain = secure(), RangeServer(DATA)
    trusted = {"SSL_CERT_FILE": str(certificates / "good.pem")}
    one.behave = lambda number, headers: {"cut": 80_000} if number == 0 else {}

    result = download(one.url, env=trusted)

    assert result.returncode == 0, result.stderr
    assert target.read_bytes() == DATA
    assert one.ranges() == [None, "bytes=80000-"]
    target.unlink()
    one.redirects["/file"] = plain.url
    refused = download(one.url, env=trusted)
    assert refused.returncode == 1 and "leads from https to the unprotected" in refused.stderr
    assert plain.requests == [] and not target.exists()
    plain.redirects["/file"] = one.url.replace("/file", "/other")
    assert download(plain.url, env=trusted).returncode == 0
    assert target.read_bytes() == DATA
    plain.close()
