"""How long a token takes from the engine to a reader, and what the host itself costs a token, with one reader and with a hundred.

    python3 Benchmarks/frames.py PROGRAM MODEL [READERS]

The moment of a token is the one its event has in the turn's log (in whole milliseconds); the reader's is when its frame was read.
What the host costs is measured with a scripted model, which takes no time of its own. Compare figures of one run only.
"""

import http.client
import json
import os
import selectors
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ["ALCOVE_BIN"] = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Tests/CommandLine"))

from program import Host  # noqa: E402

READERS = int(sys.argv[3]) if len(sys.argv) > 3 else 100
TOKENS = 20_000


def ask(host, body):
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=300)
    connection.request(
        "POST", "/api/chat", json.dumps(body), {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    return connection, answer


def follow(host, turn):
    """A raw socket that reads a turn from its beginning."""
    connection = http.client.HTTPConnection(host.url.removeprefix("http://"), timeout=300)
    connection.connect()
    wire = connection.sock
    wire.sendall(
        f"GET /api/agent/turns/{turn} HTTP/1.1\r\nHost: {host.url.removeprefix('http://')}\r\n"
        f"Authorization: Bearer {host.token}\r\nConnection: close\r\n\r\n".encode())
    wire.setblocking(False)
    return wire


def read_all(wires):
    """Reads every wire to its end; for each, when each token's frame was there, in milliseconds since 1970."""
    select = selectors.DefaultSelector()
    arrivals, rest = {}, {}
    for wire in wires:
        select.register(wire, selectors.EVENT_READ)
        arrivals[wire], rest[wire] = [], b""
    while select.get_map():
        for key, _ in select.select():
            try:
                data = key.fileobj.recv(1 << 16)
            except BlockingIOError:
                continue
            now = time.time() * 1000
            if not data:
                select.unregister(key.fileobj)
                continue
            # A frame may come in two pieces; it is there when its end is.
            whole, end, rest[key.fileobj] = (rest[key.fileobj] + data).rpartition(b"\n\n")
            arrivals[key.fileobj] += [now] * (whole + end).count(b'data: {"token"')
    return list(arrivals.values())


def latency(program, model, readers):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        host = Host(root, "--port", "0", "--threads", "1", "--model", model).wait()
        host.wait_for_model()
        session = host.session()["sessionId"]
        story = [{"role": "user", "content": "Tell me a long story about a lighthouse."}]
        connection, answer = ask(host, {"sessionId": session, "messages": story, "maxTokens": 200, "temperature": 0})
        turn = answer.getheader("X-Alcove-Turn")
        arrivals = read_all([follow(host, turn) for _ in range(readers)])
        answer.read()
        connection.close()
        host.stop()
        store = sqlite3.connect(root / "alcove.db")
        told = [row[0] for row in store.execute("SELECT at FROM turn_events WHERE kind = 'text' ORDER BY seq")]
        # The first frames were there before these readers were.
        late = [arrived - at for one in arrivals for arrived, at in list(zip(one, told))[20:]]
        late.sort()
        print(f"{readers:>4} readers, real model:    token to reader {statistics.median(late):6.2f} ms (median), "
              f"{late[int(0.99 * len(late))]:6.2f} ms (99th of 100), {late[-1]:6.2f} ms (worst) of {len(late)}")


def cost(readers):
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps([[{"text": f"word{n} "} for n in range(TOKENS)]]))
        host = Host(Path(folder) / "root", "--port", "0", "--script", script).wait()
        host.wait_for_model()
        session = host.session()["sessionId"]
        begin = time.monotonic()
        connection, answer = ask(host, {"sessionId": session, "messages": [{"role": "user", "content": "Go."}]})
        wires = [follow(host, answer.getheader("X-Alcove-Turn")) for _ in range(readers - 1)]
        told = [len(one) for one in read_all(wires)] + [answer.read().count(b'data: {"token"')]
        seconds = time.monotonic() - begin
        assert set(told) == {TOKENS}, f"a reader missed tokens: {sorted(set(told))}"
        connection.close()
        host.stop()
        print(f"{readers:>4} readers, scripted model: {1000 * seconds / TOKENS:6.3f} ms a token, all readers served "
              f"({TOKENS} tokens in {seconds:.2f} s)")


def main():
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for readers in (1, READERS):
        latency(sys.argv[1], sys.argv[2], readers)
    for readers in (1, READERS):
        cost(readers)


main()
