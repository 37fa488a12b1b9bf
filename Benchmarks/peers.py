"""Alcove beside other programs: the same model file, threads and words, in one run, in turns.

    python3 Benchmarks/peers.py .build/release/alcove MODEL.gguf [--threads 2] [--runs 3] [--shipped SHIPPED.gguf] [--python]

- the engine (`alcove bench --only speeds`) and the host over HTTP (the page's route, its agent and store attached);
- llama-bench, compiled from the source archive that the engine was built from, against the very library Alcove links
  (Scripts/bootstrap has fetched both);
- with --python llama-cpp-python of the same archive: built by pip into .deps/peers/python, once, in about ten minutes.

A shared machine drifts by a fifth within a minute, more than what is looked for. So everything is run in rounds: llama-bench, one
of the others, llama-bench, the next, and so on; a ratio is of one run to the mean of llama-bench just before and just after it, and
what is shown is the median over the rounds, with the least and the most. With --shipped, a file as its makers ship it, the ratio
of the fast copy to llama-bench on that file is shown as well.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from openai import Host

ROOT = Path(__file__).resolve().parents[1]
DEPS = ROOT / ".deps"
READ, WRITE = 512, 128


def manifest(key):
    for line in (ROOT / "Scripts/dependencies.txt").read_text().splitlines():
        words = line.split()
        if words[:2] == ["file", key]:
            return words[2]
    raise SystemExit(f"Scripts/dependencies.txt has no {key}.")


def archive():
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "alcove/files"
    path = cache / manifest("llama_sha256") / manifest("llama_archive")
    if not path.exists():
        raise SystemExit(f"{path} is not there; run Scripts/bootstrap.")
    return path


def llama_bench():
    program = DEPS / "peers/llama-bench"
    library = DEPS / "llama.artifactbundle/linux/libllama-all.a"
    if program.exists() and program.stat().st_mtime > library.stat().st_mtime:
        return program
    source = DEPS / "peers/source"
    source.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["tar", "xzf", archive(), "-C", source, "--strip-components=3", "--wildcards", "*/vendor/llama.cpp/tools/llama-bench/*",
         "*/vendor/llama.cpp/common/*", "*/vendor/llama.cpp/include/*", "*/vendor/llama.cpp/ggml/include/*",
         "*/vendor/llama.cpp/vendor/*"], check=True)
    print("compiling llama-bench ...", file=sys.stderr)
    subprocess.run(
        ["clang++", "-std=c++17", "-O2", "tools/llama-bench/llama-bench.cpp", "tools/llama-bench/main.cpp", "-Icommon", "-Iinclude",
         "-Iggml/include", "-Ivendor", library, "-lpthread", "-lm", "-ldl", "-o", program], check=True, cwd=source)
    return program


def bench(model, threads):
    """Tokens a second of llama-bench: reading 512, and writing 128 after them, as the others do."""
    found = []
    for what in (["-p", str(READ), "-n", "0"], ["-p", "0", "-n", str(WRITE), "-d", str(READ)]):
        out = subprocess.run(
            [llama_bench(), "-m", model, "-t", str(threads), *what, "-fa", "1", "-r", "1", "-o", "json"],
            capture_output=True, text=True, check=True).stdout
        found.append(statistics.median(json.loads(out)[0]["samples_ts"]))
    return tuple(found)


def engine(program, model, threads):
    out = subprocess.run(
        [program, "bench", "--json", "--model", model, "--threads", str(threads), "--runs", "1", "--only", "speeds"],
        capture_output=True, text=True, check=True)
    found = json.loads(out.stdout)
    words = "1 thread" if threads == 1 else f"{threads} threads"
    return found[f"reading {READ} tokens, {words}"], found[f"writing {WRITE} tokens, {words}"]


class HostRow:
    """The host over HTTP: what the last frame of an answer tells of reading, and tokens that arrived a second."""

    def __init__(self, program, model, threads, root):
        self.server = Host(program, model, root, threads)
        self.server.call("PATCH", "/api/agent/settings", {"speculativeDecoding": False})
        self.number = 0
        self.run()  # warms up

    def run(self):
        self.number += 1
        words = f"Number {self.number}. " + f"the quick brown fox jumps over {self.number} " * 73
        first, rate, done = self.server.timed("/api/chat", {
            "messages": [{"role": "user", "content": words}], "temperature": 0, "maxTokens": WRITE, "stopsRepetition": False})
        return (done["promptTokens"] - done["kvReusedTokens"]) / first, rate

    def end(self):
        self.server.process.terminate()
        self.server.process.wait(30)


PYTHON = """
import json, statistics, sys, time
from llama_cpp import Llama
model, threads, runs, read, write = sys.argv[1], *map(int, sys.argv[2:])
llama = Llama(model, n_ctx=1024, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False, logits_all=False)
reading, writing = [], []
for number in range(runs + 1):
    tokens = [(number * 31 + i * 7) % 40000 + 100 for i in range(read)]
    llama.reset()
    begun = time.perf_counter()
    llama.eval(tokens)
    middle = time.perf_counter()
    for _ in range(write):
        llama.eval([llama.sample(temp=0)])
    end = time.perf_counter()
    if number:
        reading.append(read / (middle - begun)); writing.append(write / (end - middle))
print(json.dumps([statistics.median(reading), statistics.median(writing)]))
"""


def python(model, threads):
    """llama-cpp-python's own `eval` and `sample`, one token after the other."""
    venv = DEPS / "peers/python"
    if not (venv / "bin/pip").exists():
        subprocess.run(["python3", "-m", "venv", venv], check=True)
    if subprocess.run([venv / "bin/python", "-c", "import llama_cpp"], capture_output=True).returncode:
        print("building llama-cpp-python (about ten minutes, once) ...", file=sys.stderr)
        subprocess.run([venv / "bin/pip", "install", "-q", archive()], check=True)
    out = subprocess.run(
        [venv / "bin/python", "-c", PYTHON, model, str(threads), "1", str(READ), str(WRITE)], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--shipped", help="the model as its makers ship it, for the ratio of the fast copy to it")
    parser.add_argument("--python", action="store_true", help="llama-cpp-python as well")
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    model, threads, runs = words.model, words.threads, words.runs
    with tempfile.TemporaryDirectory() as root:
        host = HostRow(words.program, model, threads, root)
        try:
            rows = {"Alcove, engine": lambda: engine(words.program, model, threads), "Alcove, HTTP and agent": host.run}
            if words.python:
                rows["llama-cpp-python"] = lambda: python(model, threads)
            peers, found, shipped = [bench(model, threads)], {name: [] for name in rows}, []
            for _ in range(runs):
                for name, run in rows.items():
                    mine = run()
                    peers.append(bench(model, threads))
                    peer = [(a + b) / 2 for a, b in zip(peers[-2], peers[-1])]
                    found[name].append((*mine, mine[0] / peer[0], mine[1] / peer[1]))
                    if words.shipped and name == "Alcove, engine":
                        other = bench(words.shipped, threads)
                        shipped.append((mine[0] / other[0], mine[1] / other[1]))
        finally:
            host.end()
    middle = lambda values: statistics.median(values)
    result = {name: {
        "reading": middle([run[0] for run in runs_]), "writing": middle([run[1] for run in runs_]),
        "readingRatio": middle([run[2] for run in runs_]), "writingRatio": middle([run[3] for run in runs_]),
        "readingRatios": sorted(run[2] for run in runs_), "writingRatios": sorted(run[3] for run in runs_),
    } for name, runs_ in found.items()}
    result["llama-bench"] = {"reading": middle([peer[0] for peer in peers]), "writing": middle([peer[1] for peer in peers]),
                             "readingRatio": 1.0, "writingRatio": 1.0,
                             "spread": [max(peer[i] for peer in peers) / min(peer[i] for peer in peers) for i in (0, 1)]}
    if words.shipped:
        result["against " + Path(words.shipped).name] = {
            "readingRatio": middle([run[0] for run in shipped]), "writingRatio": middle([run[1] for run in shipped])}
    if words.json:
        return print(json.dumps({"model": model, "threads": threads, "runs": runs, **result}, indent=2))
    print(f"{Path(model).name}, {threads} threads; tokens a second and ratios to llama-bench beside it, medians of {runs} rounds")
    print(f"  {'':28}{'reading ' + str(READ):>12}{'ratio':>8}{'':13}{'writing ' + str(WRITE):>14}{'ratio':>8}")
    for name, row in result.items():
        spread = lambda key: "({:.2f} - {:.2f})".format(row[key][0], row[key][-1]) if key in row else ""
        speed = lambda key: f"{row[key]:.1f}" if key in row else ""
        print(f"  {name:28}{speed('reading'):>12}{row['readingRatio']:8.2f} {spread('readingRatios'):13}{speed('writing'):>13}"
              f"{row['writingRatio']:8.2f} {spread('writingRatios')}")
    print("  llama-bench, its best to its worst: reading {:.2f}, writing {:.2f}".format(*result["llama-bench"]["spread"]))


if __name__ == "__main__":
    main()
