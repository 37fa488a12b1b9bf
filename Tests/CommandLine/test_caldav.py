"""Calendars of CalDAV servers: a real one on loopback, and ones that misbehave."""

import base64
import datetime
import json
import shutil
import ssl
import subprocess
import threading
import time
import wsgiref.simple_server
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zoneinfo import ZoneInfo

import icalendar
import pytest
import radicale
from icalendar import Calendar, Event
from radicale import config
from test_agent import decide
from test_assistant import command

PASSWORD = "correct horse: battery"
UTC = datetime.timezone.utc
BERLIN = ZoneInfo("Europe/Berlin")
# Monday, 30 November 2026, 00:00 in UTC.
START = 1_795_996_800
WEEK = 7 * 86_400


def event(uid, title, start, end=None, **rest):
    made = Event()
    made.add("uid", uid)
    made.add("summary", title)
    made.add("dtstamp", datetime.datetime(2026, 1, 1, tzinfo=UTC))
    made.add("dtstart", start)
    if end:
        made.add("dtend", end)
    for name, value in rest.items():
        made.add(name.replace("_", "-"), value)
    return made


def calendar(*events):
    made = Calendar()
    made.add("prodid", "-//tests//")
    made.add("version", "2.0")
    for one in events:
        made.add_component(one)
    made.add_missing_timezones()
    return made.to_ical()


class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *words):
        pass


class Radicale:
    """Radicale as it is, served from a free port; what it was asked is kept."""

    def __init__(self, folder):
        (folder / "users").write_text(f"ann:{PASSWORD}\n")
        settings = config.load()
        settings.update({
            "auth": {"type": "htpasswd", "htpasswd_filename": str(folder / "users"), "htpasswd_encryption": "plain", "delay": "0"},
            "storage": {"filesystem_folder": str(folder / "collections")}, "rights": {"type": "owner_only"},
            "logging": {"level": "critical"},
        }, "test", privileged=True)
        application = radicale.Application(settings)
        self.asked = []

        def noted(environ, start):
            self.asked.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
            return application(environ, start)

        self.server = wsgiref.simple_server.make_server("127.0.0.1", 0, noted, handler_class=Quiet)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def send(self, method, path, body=b"", kind="text/calendar"):
        import urllib.request

        name = base64.b64encode(f"ann:{PASSWORD}".encode()).decode()
        request = urllib.request.Request(
            self.address + path, data=body or None, method=method,
            headers={"Authorization": f"Basic {name}", "Content-Type": kind})
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status < 300

    def add(self, name, *texts):
        self.send("MKCALENDAR", f"/ann/{name}/")
        for number, text in enumerate(texts):
            self.send("PUT", f"/ann/{name}/{number}.ics", text)


@pytest.fixture
def caldav(tmp_path):
    made = Radicale(tmp_path)
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def account(tmp_path):
    path = tmp_path / "account"
    path.write_text(f"ann:{PASSWORD}\n")
    return path


@pytest.fixture
def read(alcove):
    def run(path, account=None, start=START, end=START + WEEK, zone="America/New_York", trust=None, **rest):
        line = {"path": path, "from": start, "to": end, **rest}
        if account:
            line["credentials"] = str(account)
        done = alcove("plumbing", "calendar", input=json.dumps(line) + "\n", env={"TZ": zone, **({"SSL_CERT_FILE": str(trust)} if trust else {})})
        assert done.returncode == 0 and PASSWORD not in done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


def times(answer):
    assert "error" not in answer, answer
    return [
        f"{datetime.datetime.fromtimestamp(one['start'], UTC):%d %H:%M} {(one['end'] - one['start']) // 60} {one['title']}"
        for one in answer["events"]
    ]


def walk():
    """Daily at nine in Berlin: one left out, one moved, one cancelled, one added."""
    first = event(
        "walk", "Walk", datetime.datetime(2026, 11, 28, 9, tzinfo=BERLIN),
        datetime.datetime(2026, 11, 28, 9, 45, tzinfo=BERLIN), rrule={"freq": "daily", "count": 7},
        exdate=datetime.datetime(2026, 12, 1, 9, tzinfo=BERLIN), rdate=datetime.datetime(2026, 12, 5, 18, tzinfo=BERLIN))
    moved = event(
        "walk", "Walk, later", datetime.datetime(2026, 12, 2, 15, tzinfo=BERLIN),
        datetime.datetime(2026, 12, 2, 15, 45, tzinfo=BERLIN), recurrence_id=datetime.datetime(2026, 12, 2, 9, tzinfo=BERLIN))
    cancelled = event(
        "walk", "Walk", datetime.datetime(2026, 12, 3, 9, tzinfo=BERLIN), status="CANCELLED",
        recurrence_id=datetime.datetime(2026, 12, 3, 9, tzinfo=BERLIN))
    return calendar(first, moved, cancelled)


WALKS = ["30 08:00 45 Walk", "02 14:00 45 Walk, later", "04 08:00 45 Walk", "05 17:00 45 Walk"]


@pytest.mark.parametrize("path", ["", "/", "/ann/", "/ann/home/"])
def test_every_way_to_a_calendar_leads_to_its_events(caldav, account, read, path):
    caldav.add("home", walk())

    assert times(read(caldav.address + path, account)) == WALKS


@pytest.fixture
def secure(caldav, tmp_path):
    """The server behind a certificate of its own, for localhost."""
    assert shutil.which("openssl"), "The package openssl makes certificates for these tests."
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    caldav.add("home", walk())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    caldav.server.socket = context.wrap_socket(caldav.server.socket, server_side=True)
    return f"https://localhost:{caldav.server.server_port}/", certificate


def test_over_tls_only_a_server_that_can_prove_its_name_gets_the_password(secure, caldav, account, read):
    address, certificate = secure
    asked = len(caldav.asked)

    assert read(address, account)["code"] == "calendar_untrusted"
    wrong = read(address.replace("localhost", "127.0.0.1"), account, trust=certificate)
    assert wrong["code"] == "calendar_untrusted" and len(caldav.asked) == asked
    assert times(read(address, account, trust=certificate)) == WALKS


def test_several_calendars_zones_and_whole_days(caldav, account, read):
    caldav.add("home", walk(), calendar(event("old", "Old", datetime.datetime(2026, 11, 1, 9, tzinfo=UTC))))
    caldav.add(
        "work",
        calendar(event("day", "Holiday", datetime.date(2026, 12, 1))),
        calendar(event("float", "Where I am", datetime.datetime(2026, 12, 1, 20), datetime.datetime(2026, 12, 1, 21))),
        calendar(event("edge", "Late, here", datetime.datetime(2026, 12, 6, 18, 59, tzinfo=ZoneInfo("America/New_York")),
                       datetime.datetime(2026, 12, 6, 19, 30, tzinfo=ZoneInfo("America/New_York")))),
        calendar(event("after", "Too late", datetime.datetime(2026, 12, 7, 0, 0, tzinfo=UTC))),
        calendar(event("year", "Anniversary", datetime.date(1980, 12, 2), rrule={"freq": "yearly"})))

    put = len(caldav.asked)
    answer = read(caldav.address, account)

    assert times(answer) == [
        WALKS[0], "01 05:00 1440 Holiday", "02 01:00 60 Where I am", "02 05:00 1440 Anniversary", *WALKS[1:],
        "06 23:59 31 Late, here",
    ]
    assert [one["allDay"] for one in answer["events"]].count(True) == 2 and "warning" not in answer
    # The server was asked for the span, and for nothing to be changed.
    assert {method for method, _ in caldav.asked[put:]} == {"PROPFIND", "REPORT"}


def test_a_hundred_events_are_a_moment(caldav, account, read):
    caldav.add("home", *[
        calendar(event(f"{n}", f"n{n}", datetime.datetime(2026, 12, 1, n % 24, tzinfo=UTC))) for n in range(100)])

    assert len(times(read(caldav.address + "/ann/home/", account))) == 100


def test_names_and_passwords(caldav, account, read, tmp_path):
    caldav.add("home", walk())

    asked = read(caldav.address + "/ann/")
    assert asked["code"] == "calendar_unauthorised" and "asks for a name and a password" in asked["error"]
    account.write_text("ann:wrong")
    assert "does not accept the name and password" in read(caldav.address + "/ann/", account)["error"]
    for text in ["", "ann", ":x", "ann:a\nb", "ann:\x07"]:
        account.write_text(text)
        assert read(caldav.address, account)["code"] == "calendar_bad_credentials"
    assert read(caldav.address, tmp_path / "nowhere")["code"] == "calendar_bad_credentials"
    assert read(caldav.address.replace("//", f"//ann:{PASSWORD.split()[0]}@"))["code"] == "calendar_bad_address"


@pytest.mark.parametrize(("address", "code"), [
    ("ftp://127.0.0.1/", "calendar_bad_address"), ("calendar", "calendar_bad_address"),
    # Nothing is sent: the connected address is asked before.
    ("http://192.0.43.7/", "calendar_plain_http"), ("http://127.0.0.1:1/", "calendar_unreachable"),
])
def test_addresses_that_are_not_asked(read, address, code):
    assert read(address)["code"] == code


class Misbehaving:
    """Answers what it is told to; keeps who asked."""

    def __init__(self, answer):
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self):
                outer.asked.append((self.command, self.path, self.headers.get("Authorization")))
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                try:
                    answer(self)
                except OSError:
                    pass

            do_PROPFIND = do_REPORT = do_GET = handle_any

            def log_message(self, *words):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def misbehaving():
    made = []

    def start(answer):
        made.append(Misbehaving(answer))
        return made[-1]

    yield start
    for one in made:
        one.close()


def says(status, body=b"", **fields):
    def answer(request):
        request.send_response(status)
        for name, value in fields.items():
            request.send_header(name, value)
        request.send_header("Content-Length", len(body))
        request.end_headers()
        request.wfile.write(body)

    return answer


def multistatus(inner, head=""):
    return (f'<?xml version="1.0"?>{head}<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'
            f"{inner}</multistatus>").encode()


BOMB = ('<!DOCTYPE m [<!ENTITY a "' + "a" * 1000 + '">'
        + "".join(f'<!ENTITY {x} "{f"&{y};" * 100}">' for x, y in zip("bcdefgh", "abcdefg")) + "]>")


@pytest.mark.parametrize(("answer", "code", "words"), [
    (says(500), "calendar_refused", "status 500"),
    (says(404), "calendar_refused", "nothing at this address"),
    (says(200, b"<html>hello</html>"), "calendar_refused", "status 200"),
    (says(207, b"{}"), "calendar_damaged", "no XML (line 1:"),
    (says(207, b""), "calendar_damaged", "no element found"),
    (says(207, b"<html/>"), "calendar_damaged", "no list of things"),
    (says(207, multistatus("<response><href>/x</href>")[:-20]), "calendar_damaged", "no XML"),
    (says(207, multistatus("&h;", head=BOMB)), "calendar_damaged", "document type"),
    (says(207, multistatus("<a>" * 5000 + "</a>" * 5000)), "calendar_damaged", "too deep"),
    (says(207, multistatus("")), "calendar_empty", "No calendar was found at http://127.0.0.1"),
    (says(302, Location="/ann/"), "calendar_damaged", "place to place"),
    (says(302), "calendar_damaged", "does not say where"),
    (says(302, Location="http://["), "calendar_damaged", "cannot be read"),
])
def test_a_server_that_misbehaves_is_told_of_in_a_sentence(read, misbehaving, account, answer, code, words):
    found = read(misbehaving(answer).address + "/ann/", account)

    assert (found["code"], words in found["error"]) == (code, True), found


def test_a_server_that_says_nothing_is_given_up_in_time(read, misbehaving):
    over = threading.Event()
    server = misbehaving(lambda request: over.wait(60))

    begun = time.monotonic()
    found = read(server.address, patience=1)
    over.set()

    assert found["code"] == "calendar_slow" and "1 seconds" in found["error"]
    assert time.monotonic() - begun < 20


def test_a_server_that_drips_is_given_up_in_time(read, misbehaving):
    over = threading.Event()

    def drip(request):
        request.send_response(207)
        request.end_headers()
        while not over.wait(0.05):
            request.wfile.write(b" ")

    found = read(misbehaving(drip).address, patience=1)
    over.set()

    assert found["code"] in ("calendar_slow", "calendar_damaged"), found


@pytest.mark.parametrize(("begin", "code", "words"), [
    ("<x>", "calendar_too_large", "16 MB"), ("<response><propstat><prop><C:calendar-data>", "calendar_too_large", "16 MB"),
    # Read again from its beginning with each piece, as Expat does, one tag of that length would take minutes.
    ('<x y="', "calendar_damaged", "a tag longer than 256 KB"), ("<!-- ", "calendar_damaged", "a tag longer"),
])
def test_an_answer_of_fifty_megabytes_is_not_read_to_its_end(read, misbehaving, begin, code, words):
    sent = []

    def pour(request):
        request.send_response(207)
        request.end_headers()
        request.wfile.write(multistatus(begin)[:-len("</multistatus>")])
        for _ in range(50):
            request.wfile.write(b"x" * (1 << 20))
            sent.append(1)

    found = read(misbehaving(pour).address + "/ann/")

    assert (found["code"], words in found["error"]) == (code, True), found
    assert len(sent) < 40 and found["ms"] < 5000


def test_another_host_never_gets_the_password(read, misbehaving, account):
    other = misbehaving(says(207, multistatus("")))
    # The same device under another port is another server.
    moved = misbehaving(says(301, Location=other.address + "/ann/"))
    named = misbehaving(says(207, multistatus(
        "<response><href>/</href><propstat><prop><resourcetype/><current-user-principal><href>"
        f"{other.address}/ann/</href></current-user-principal></prop><status>HTTP/1.1 200 OK</status></propstat></response>")))

    for server in (moved, named):
        found = read(server.address + "/a/", account)
        assert found["code"] == "calendar_elsewhere" and other.address in found["error"]
        assert all(name for _, _, name in server.asked)
    assert other.asked == []


def test_redirects_within_the_server_are_followed(read, misbehaving, account):
    def answer(request):
        if request.path == "/old/":
            return says(308, Location="../new/")(request)
        text = calendar(event("a", "Tea", datetime.datetime(2026, 12, 1, 9, tzinfo=UTC))).decode()
        data = f"<C:calendar-data>{text}</C:calendar-data>" if request.command == "REPORT" else ""
        says(207, multistatus(
            f"<response><href>/new/</href><propstat><prop><resourcetype><C:calendar/></resourcetype>{data}</prop>"
            "<status>HTTP/1.1 200 OK</status></propstat><propstat><prop><getetag/></prop>"
            "<status>HTTP/1.1 404 Not Found</status></propstat></response>"))(request)

    server = misbehaving(answer)

    assert times(read(server.address + "/old/", account)) == ["01 09:00 0 Tea"]
    assert [(method, path) for method, path, _ in server.asked] == [
        ("PROPFIND", "/old/"), ("PROPFIND", "/new/"), ("REPORT", "/new/")]


def test_entries_that_are_no_calendar_are_told(read, misbehaving):
    def answer(request):
        good = calendar(event("a", "Tea", datetime.datetime(2026, 12, 1, 9, tzinfo=UTC))).decode()
        inner = "".join(
            f"<response><href>/c/{n}</href><propstat><prop><resourcetype><C:calendar/></resourcetype>"
            f"<C:calendar-data>{text}</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>"
            for n, text in enumerate([good, "hello", ""]))
        says(207, multistatus(inner))(request)

    found = read(misbehaving(answer).address + "/c/")

    assert times(found) == ["01 09:00 0 Tea"]
    assert "2 of its entries could not be read" in found["warning"]


def test_through_the_gates_on_a_running_host(caldav, account, serve, root):
    today = datetime.datetime.now(UTC)
    caldav.add("home", calendar(event(
        "tea", "Tea with Ann", today.date(), location="a secret place", description="secret words")))
    host = serve("--port", 0, "--no-model", env={"TZ": "UTC"}).wait()

    def ask(outcome="allowed"):
        seen = []
        for frame in command(host, host.session()["sessionId"], "what's on my calendar for the next seven days"):
            seen.append(frame)
            if "approval" in frame and "outcome" not in frame["approval"]:
                decide(host, frame["approval"], outcome)
        return json.dumps(seen, ensure_ascii=False)

    bad = {"calendarPath": caldav.address.replace("//", "//ann:x@")}
    assert host.json("/api/agent/settings", "PATCH", bad)[1]["code"] == "bad_setting"
    assert host.json("/api/agent/settings", "PATCH", {"calendarCredentials": "account"})[1]["code"] == "bad_setting"
    told = {"calendarEnabled": False, "calendarPath": caldav.address, "calendarCredentials": str(account)}
    assert host.json("/api/agent/settings", "PATCH", told)[0] == 200
    asked = len(caldav.asked)
    assert "not open to the assistant" in ask()
    assert host.json("/api/agent/settings", "PATCH", {"calendarEnabled": True})[0] == 200
    ask("refused")
    assert len(caldav.asked) == asked
    seen = ask()
    assert "all day: Tea with Ann" in seen and "secret" not in seen and PASSWORD not in seen
    assert f"The server {caldav.address[7:]} is asked for them." in seen
    account.write_text("ann:wrong")
    assert "does not accept the name and password" in ask()
    host.stop()
    for file in root.rglob("*"):
        if file.is_file():
            assert PASSWORD.encode() not in file.read_bytes(), file
