"""Alcove beside other programs: the same model file, threads and words, in one run, in turns.

    python3 Benchmarks/peers.py .build/release/alcove MODEL.gguf [--threads 2] [--runs 3] [--shipped SHIPPED.gguf] [--python]

- the engine (`alcove bench --only speeds`) and the host over HTTP (the page's route, its agent and store attached);
- llama-bench, compiled from the source archive that the engine was built from, against the very library Alcove links
  (Scripts/bootstrap has fetched both);
- with --python llama-cpp-python of the same archive: built by pip into .deps/peers/python, once, in about ten minutes.

llama-bench is run before and after, so that a machine that slows down meanwhile shows. With --shipped, a file as its makers
ship it, the ratio of the fast copy to llama-bench on that file is shown as well.
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


def bench(model, threads, runs):
    """Tokens a second of llama-bench: reading 512, and writing 128 after them, as the others do."""
    found = []
    for what in (["-p", str(READ), "-n", "0"], ["-p", "0", "-n", str(WRITE), "-d", str(READ)]):
        out = subprocess.run(
            [llama_bench(), "-m", model, "-t", str(threads), *what, "-fa", "1", "-r", str(runs), "-o", "json"],
            capture_output=True, text=True, check=True).stdout
        found.append(statistics.median(json.loads(out)[0]["samples_ts"]))
    return tuple(found)


def engine(program, model, threads, runs):
    out = subprocess.run(
        [program, "bench", "--json", "--model", model, "--threads", str(threads), "--runs", str(runs), "--only", "speeds"],
        capture_output=True, text=True, check=True)
    found = json.loads(out.stdout)
    words = "1 thread" if threads == 1 else f"{threads} threads"
    return found[f"reading {READ} tokens, {words}"], found[f"writing {WRITE} tokens, {words}"]


def host(program, model, threads, runs):
    """The host over HTTP: what the last frame of an answer tells of reading, and tokens that arrived a second."""
    with tempfile.TemporaryDirectory() as root:
        server = Host(program, model, root, threads)
        try:
            server.call("PATCH", "/api/agent/settings", {"speculativeDecoding": False})
            reading, writing = [], []
            for number in range(runs + 1):
                words = f"Number {number}. " + f"the quick brown fox jumps over {number} " * 73
                first, rate, done = server.timed("/api/chat", {
                    "messages": [{"role": "user", "content": words}], "temperature": 0, "maxTokens": WRITE, "stopsRepetition": False})
                if number:  # the first warms up
                    reading.append((done["promptTokens"] - done["kvReusedTokens"]) / first)
                    writing.append(rate)
            return statistics.median(reading), statistics.median(writing)
        finally:
            server.process.terminate()
            server.process.wait(30)


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


def python(model, threads, runs):
    """llama-cpp-python's own `eval` and `sample`, one token after the other."""
    venv = DEPS / "peers/python"
    if not (venv / "bin/pip").exists():
        subprocess.run(["python3", "-m", "venv", venv], check=True)
    if subprocess.run([venv / "bin/python", "-c", "import llama_cpp"], capture_output=True).returncode:
        print("building llama-cpp-python (about ten minutes, once) ...", file=sys.stderr)
        subprocess.run([venv / "bin/pip", "install", "-q", archive()], check=True)
    out = subprocess.run(
        [venv / "bin/python", "-c", PYTHON, model, str(threads), str(runs), str(READ), str(WRITE)], capture_output=True, text=True, check=True)
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
    before = bench(model, threads, runs)
    rows = {"Alcove, engine": engine(words.program, model, threads, runs), "Alcove, HTTP and agent": host(words.program, model, threads, runs)}
    if words.python:
        rows["llama-cpp-python"] = python(model, threads, runs)
    after = bench(model, threads, runs)
    peer = tuple((a + b) / 2 for a, b in zip(before, after))
    rows["llama-bench"] = peer
    result = {name: {"reading": r, "writing": w, "readingRatio": r / peer[0], "writingRatio": w / peer[1]} for name, (r, w) in rows.items()}
    result["llama-bench"]["drift"] = [b / a for a, b in zip(before, after)]
    if words.shipped:
        shipped = bench(words.shipped, threads, runs)
        mine = rows["Alcove, engine"]
        result["against " + Path(words.shipped).name] = {"readingRatio": mine[0] / shipped[0], "writingRatio": mine[1] / shipped[1]}
    if words.json:
        return print(json.dumps({"model": model, "threads": threads, "runs": runs, **result}, indent=2))
    print(f"{Path(model).name}, {threads} threads; tokens a second and ratios to llama-bench, medians of {runs}")
    print(f"  {'':28}{'reading ' + str(READ):>12}{'ratio':>8}{'writing ' + str(WRITE):>14}{'ratio':>8}")
    for name, row in result.items():
        numbers = f"{row['reading']:12.1f}{row['readingRatio']:8.2f}{row['writing']:14.1f}{row['writingRatio']:8.2f}" if "reading" in row else \
            f"{'':12}{row['readingRatio']:8.2f}{'':14}{row['writingRatio']:8.2f}"
        print(f"  {name:28}{numbers}")
    print("  llama-bench after to before: reading {:.2f}, writing {:.2f}".format(*result["llama-bench"]["drift"]))


if __name__ == "__main__":
    main()
