"""Measures a download over loopback: seconds, and how much memory the program holds. Prints a line for each size.

    python3 Benchmarks/download.py .build/release/alcove [MEGABYTES ...]
"""

import hashlib
import http.server
import os
import sys
import tempfile
import threading
import time

PIECE = os.urandom(1 << 20)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        count = int(self.path[1:])
        self.send_response(200)
        self.send_header("Content-Length", str(count << 20))
        self.send_header("ETag", '"1"')
        self.end_headers()
        for _ in range(count):
            self.wfile.write(PIECE)


def main(program, sizes):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for size in sizes:
        digest = hashlib.sha256()
        for _ in range(size):
            digest.update(PIECE)
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            process = os.posix_spawn(
                program, [program, "plumbing", "download", f"http://127.0.0.1:{server.server_port}/{size}",
                          f"{folder}/file", "--sha256", digest.hexdigest(), "--bytes", str(size << 20)], os.environ,
                file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                              (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
            _, status, usage = os.wait4(process, 0)
            seconds = time.perf_counter() - start
            assert status == 0, status
            print(f"{size} MiB: {seconds:.2f} s, check included, {usage.ru_maxrss / 1024:.1f} MB resident at most")


if __name__ == "__main__":
    main(sys.argv[1], [int(word) for word in sys.argv[2:]] or [1, 50, 500])
