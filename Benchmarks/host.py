"""Figures of the host: start-up, memory, static requests, waiting streams. Usage: host.py PROGRAM

Prints medians. Compare figures of one run only: the machine is shared.
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]


def start(root, *words):
    process = subprocess.Popen(
        [PROGRAM, "serve", "--root", root, "--port", "0", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    process.stdout.readline()
    connection = json.load(open(f"{root}/connection.json"))
    return process, int(connection["url"].rsplit(":", 1)[1]), connection["token"]


def ask(port, path, token=None):
    with socket.create_connection(("127.0.0.1", port)) as wire:
        key = f"Authorization: Bearer {token}\r\n" if token else ""
        wire.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{key}Connection: close\r\n\r\n".encode())
        return wire.recv(65536)


def anonymous(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1000
    return 0.0


def main():
    root = tempfile.mkdtemp()
    print(f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    times = []
    for _ in range(9):
        begin = time.monotonic()
        process, port, token = start(root, "--no-model")
        assert b"200 OK" in ask(port, "/health")
        times.append(1000 * (time.monotonic() - begin))
        process.terminate()
        process.wait()
    print(f"/health after process start   {statistics.median(times):8.1f} ms")

    process, port, token = start(root)
    while b'"Loaded"' not in ask(port, "/api/agent/engine", token):
        time.sleep(0.05)
    print(f"idle memory beside the model  {anonymous(process.pid):8.1f} MB (anonymous; the weights are mapped)")
    if shutil.which("wrk"):
        for path in ["/favicon.svg", "/health"]:
            out = subprocess.run(
                ["wrk", "-t1", "-c64", "-d3", "-H", f"Authorization: Bearer {token}", f"http://127.0.0.1:{port}{path}"],
                capture_output=True, text=True).stdout
            rate = next(line.split()[1] for line in out.splitlines() if "Requests/sec" in line)
            print(f"GET {path:<13} keep-alive  {float(rate):8.0f} requests/s")
    else:
        print("requests a second: not measured; apt-get install wrk")
    process.terminate()
    process.wait()
    shutil.rmtree(root)


main()
