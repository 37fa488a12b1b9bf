"""A server of OpenAI's API that misbehaves in chosen ways, on loopback."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class OpenAIServer:
    """`answer(handler, body)` writes each answer to a chat by itself; `asked` keeps what came, `left` is set when a client
    closed its connection in the middle of `hold`."""

    def __init__(self, answer):
        self.answer, self.asked, self.headers = answer, [], []
        self.left, self.begun = threading.Event(), threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                owner.headers.append(dict(self.headers))
                self.whole(200, {"data": [{"id": "elsewhere", "context_length": 4096}]})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.asked.append(body)
                owner.headers.append(dict(self.headers))
                try:
                    owner.answer(self, body)
                except (BrokenPipeError, ConnectionResetError):
                    owner.left.set()
                self.close_connection = True

            def whole(self, status, value):
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def stream(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()

            def line(self, value):
                data = value if isinstance(value, bytes) else f"data: {json.dumps(value)}\n\n".encode()
                self.wfile.write(data)
                self.wfile.flush()

            def say(self, text, **rest):
                self.line({"choices": [{"index": 0, "delta": {"content": text}, **rest}]})

            def done(self):
                self.line(b"data: [DONE]\n\n")

            def hold(self):
                """Until the client leaves: a closed connection reads as the end."""
                owner.begun.set()
                self.connection.settimeout(60)
                try:
                    if self.connection.recv(1) == b"":
                        owner.left.set()
                except OSError:
                    owner.left.set()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
