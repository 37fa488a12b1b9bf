"""The page's route and OpenAI's, asked in turn of one host: time to the first token, and tokens a second.

    python3 Benchmarks/openai.py PROGRAM MODEL

Every prompt is new, so that none of it is reused; the sampling is greedy and both routes are given the same words.
"""

import http.client
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS, TOKENS = 12, 128


class Host:
    def __init__(self, program, model, root, threads=1, *words):
        self.process = subprocess.Popen(
            [program, "serve", "--root", root, "--port", "0", "--model", model, "--threads", str(threads), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.process.stderr.readline()  # "... answers (loaded in ...)"
        connection = json.loads((Path(root) / "connection.json").read_text())
        self.address, self.token = connection["url"].removeprefix("http://"), connection["token"]

    def call(self, method, path, body):
        link = http.client.HTTPConnection(self.address)
        link.request(method, path, json.dumps(body), {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        answer = link.getresponse()
        text = answer.read().decode()
        link.close()
        assert answer.status == 200, text
        return text

    def timed(self, path, body):
        """Seconds to the first token, tokens a second after it by the clock of this side, and the last frame."""
        link = http.client.HTTPConnection(self.address)
        link.connect()
        start = time.perf_counter()
        link.request("POST", path, json.dumps(body), {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        answer = link.getresponse()
        assert answer.status == 200, answer.read()
        first = last = done = None
        for line in answer:
            if not line.startswith(b"data: {"):
                continue
            if b'"token":' in line:
                last = time.perf_counter()
                first = first or last
            else:
                done = line
        link.close()
        done = json.loads(done[6:])
        return first - start, (done["tokenCount"] - 1) / (last - first), done

    def stream(self, path, body, is_token):
        """Seconds to the first token, and tokens a second from there on."""
        link = http.client.HTTPConnection(self.address)
        link.connect()
        start = time.perf_counter()
        link.request("POST", path, json.dumps(body), {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        answer = link.getresponse()
        assert answer.status == 200, answer.read()
        times = []
        for line in answer:
            if line.startswith(b"data: {") and is_token(line):
                times.append(time.perf_counter())
        link.close()
        return times[0] - start, (len(times) - 1) / (times[-1] - times[0])


def main(program, model):
    with tempfile.TemporaryDirectory() as root:
        host = Host(program, model, root)
        routes = {
            "/api/chat": ({"maxTokens": TOKENS}, lambda line: b'"token":' in line),
            "/v1/chat/completions": (
                {"model": "default", "stream": True, "max_tokens": TOKENS}, lambda line: b'"content":"' in line and b'"role"' not in line),
            "/v1/chat/completions, top_logprobs 5": (
                {"model": "default", "stream": True, "max_tokens": TOKENS, "logprobs": True, "top_logprobs": 5},
                lambda line: b'"content":"' in line and b'"role"' not in line),
        }
        figures = {name: [] for name in routes}
        number = 0
        for turn in range(ROUNDS + 1):
            for name, (body, is_token) in routes.items():
                number += 1
                words = f"{1000 + number} foxes live in the wood. Tell their story at length, and leave nothing out."
                figure = host.stream(
                    name.split(",")[0],
                    {**body, "messages": [{"role": "user", "content": words}], "temperature": 0}, is_token)
                if turn:  # the first round warms up
                    figures[name].append(figure)
        for name, values in figures.items():
            first, rate = (statistics.median(column) for column in zip(*values))
            print(f"{name}: first token {1000 * first:.1f} ms, {rate:.1f} tokens/s (medians of {len(values)})")
        host.process.terminate()
        host.process.wait(30)


if __name__ == "__main__":
    main(*sys.argv[1:])
