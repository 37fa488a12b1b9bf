"""A file server that misbehaves in chosen ways, on loopback."""

import hashlib
import re
import socket
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class RangeServer:
    """Serves `/file` and whatever else is in `routes`. The plan of each request is what `behave(n, headers)` answers:
    a set of words. `requests` keeps what came."""

    def __init__(self, data, address="127.0.0.1", tag='"v1"', modified=None):
        self.data, self.tag, self.modified = data, tag, modified
        self.requests, self.sent = [], 0
        self.behave = lambda number, headers: {}
        self.redirects = {}
        self.piece, self.pause = 64 << 10, 0
        self.gate = None  # an event that the body waits for, once `gate_at` bytes are out
        self.gate_at = 0
        self.lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                owner.answer(self)

        family = socket.AF_INET6 if ":" in address else socket.AF_INET

        class Server(ThreadingHTTPServer):
            address_family = family
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_):
                pass  # a client that was killed

        self.server = Server((address, 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://{'[::1]' if family == socket.AF_INET6 else address}:{self.port}/file"
        threading.Thread(target=lambda: self.server.serve_forever(0.02), daemon=True).start()

    @property
    def sha256(self):
        return hashlib.sha256(self.data).hexdigest()

    def ranges(self):
        return [request["headers"].get("Range") for request in self.requests]

    def close(self):
        if self.gate:
            self.gate.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler):
        with self.lock:
            number = len(self.requests)
            self.requests.append({"path": handler.path, "headers": dict(handler.headers)})
        path = handler.path.split("?")[0]
        if path in self.redirects:
            target = self.redirects[path]
            handler.send_response(302)
            handler.send_header("Location", target(number) if callable(target) else target)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        plan = self.behave(number, dict(handler.headers))
        if "status" in plan:
            body = plan.get("body", b"no")
            handler.send_response(plan["status"])
            for name, value in plan.get("fields", {}).items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
            return
        data = plan.get("data", self.data)
        start, status = 0, 200
        wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        condition = handler.headers.get("If-Range")
        fresh = condition is None or condition in (self.tag, self.modified) or "ignore_if_range" in plan
        if wanted and fresh and "no_ranges" not in plan:
            start, status = int(wanted[1]), 206
            if start >= len(data):
                handler.send_response(416)
                if "bare_416" not in plan:
                    handler.send_header("Content-Range", f"bytes */{len(data)}")
                handler.send_header("Content-Length", "0")
                handler.end_headers()
                return
            start = max(0, start - plan.get("earlier", 0)) + plan.get("later", 0)
        body = data[start:]
        if status == 206 and "most" in plan:
            body = body[: plan["most"]]
        handler.send_response(status)
        if status == 206:
            total = "*" if "no_total" in plan else len(data)
            handler.send_header("Content-Range", plan.get("content_range", f"bytes {start}-{start + len(body) - 1}/{total}"))
        if self.tag:
            handler.send_header("ETag", self.tag)
        if self.modified:
            handler.send_header("Last-Modified", self.modified)
        for name, value in plan.get("fields", {}).items():
            handler.send_header(name, value)
        chunked = "chunked" in plan
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        elif "no_length" not in plan:
            handler.send_header("Content-Length", str(len(body)))
        if "no_length" in plan or "cut" in plan:
            handler.send_header("Connection", "close")
            handler.close_connection = True
        handler.end_headers()
        stop = plan.get("cut", len(body))
        place = 0
        while place < min(stop, len(body)):
            if self.gate and place >= self.gate_at:
                self.gate.wait(60)
            piece = body[place:min(place + self.piece, stop)]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            place += len(piece)
            with self.lock:
                self.sent += len(piece)
            if self.pause:
                time.sleep(self.pause)  # the server's own pace, nothing waits for it
        if chunked and "cut" not in plan:
            handler.wfile.write(b"0\r\n\r\n")
        handler.wfile.flush()
        if "cut" in plan:
            try:
                handler.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def last_modified(ago=3600):
    return formatdate(time.time() - ago, usegmt=True)
