"""A model on this device beside the same model on workers, on loopback: what the way there and back costs.

    python3 Benchmarks/workers.py .build/release/alcove MODEL.gguf [--runs 5]

Each host and each worker computes with one thread, and only one of them at a time, so that the ratio is of equal processors. Hosts are asked
in turn; medians of the runs and of the ratios.
"""

import argparse
import statistics
import subprocess
import tempfile

from openai import Host

WRITE = 64


class Row:
    def __init__(self, program, model, count):
        self.workers = [
            subprocess.Popen([program, "worker", "--listen", "127.0.0.1:0", "--threads", "1"], stdout=subprocess.PIPE, text=True)
            for _ in range(count)]
        addresses = [worker.stdout.readline().split()[3] for worker in self.workers]
        self.root = tempfile.TemporaryDirectory()
        self.host = Host(program, model, self.root.name, 1, *(["--rpc", ",".join(addresses)] if count else []))
        self.host.call("PATCH", "/api/agent/settings", {"speculativeDecoding": False})
        self.number = 0

    def run(self):
        self.number += 1
        words = f"Number {self.number}. " + f"the quick brown fox jumps over {self.number} " * 40
        first, rate, done = self.host.timed("/api/chat", {
            "messages": [{"role": "user", "content": words}], "temperature": 0, "maxTokens": WRITE, "stopsRepetition": False})
        return (done["promptTokens"] - done["kvReusedTokens"]) / first, rate

    def end(self):
        for process in [self.host.process, *self.workers]:
            process.terminate()
            process.wait(30)
        self.root.cleanup()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--runs", type=int, default=5)
    words = parser.parse_args()
    rows = {count: Row(words.program, words.model, count) for count in (0, 1, 2)}
    try:
        found = {count: [] for count in rows}
        for number in range(words.runs + 1):
            for count, row in rows.items():
                numbers = row.run()
                if number:  # the first warms up
                    found[count].append(numbers)
    finally:
        for row in rows.values():
            row.end()
    print(f"one thread each, tokens a second, medians of {words.runs}")
    print(f"  {'':16}{'reading':>10}{'ratio':>8}{'writing ' + str(WRITE):>14}{'ratio':>8}")
    for count, runs in found.items():
        name = ["this device", "one worker", "two workers"][count]
        ratios = [statistics.median(mine[i] / own[i] for mine, own in zip(runs, found[0])) for i in (0, 1)]
        reading, writing = (statistics.median(run[i] for run in runs) for i in (0, 1))
        print(f"  {name:16}{reading:10.1f}{ratios[0]:8.2f}{writing:14.1f}{ratios[1]:8.2f}")


if __name__ == "__main__":
    main()
