"""Alcove beside llama-bench: the same library, file, threads and numbers of tokens, in one run.

    python3 Benchmarks/peers.py .build/release/alcove MODEL.gguf [THREADS] [SHIPPED.gguf]

llama-bench is compiled from the source archive that the engine was built from, against the very library Alcove links
(Scripts/bootstrap has fetched both). With SHIPPED.gguf, a file as its makers ship it, the ratio of the fast copy to
llama-bench on that file is shown as well.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEPS = ROOT / ".deps"


def manifest(key):
    for line in (ROOT / "Scripts/dependencies.txt").read_text().splitlines():
        words = line.split()
        if words[:2] == ["file", key]:
            return words[2]
    raise SystemExit(f"Scripts/dependencies.txt has no {key}.")


def llama_bench():
    program = DEPS / "peers/llama-bench"
    library = DEPS / "llama.artifactbundle/linux/libllama-all.a"
    if program.exists() and program.stat().st_mtime > library.stat().st_mtime:
        return program
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "alcove/files"
    archive = cache / manifest("llama_sha256") / manifest("llama_archive")
    if not archive.exists():
        raise SystemExit(f"{archive} is not there; run Scripts/bootstrap.")
    source = DEPS / "peers/source"
    source.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["tar", "xzf", archive, "-C", source, "--strip-components=3", "--wildcards", "*/vendor/llama.cpp/tools/llama-bench/*",
         "*/vendor/llama.cpp/common/*", "*/vendor/llama.cpp/include/*", "*/vendor/llama.cpp/ggml/include/*",
         "*/vendor/llama.cpp/vendor/*"], check=True)
    print("compiling llama-bench ...", file=sys.stderr)
    subprocess.run(
        ["clang++", "-std=c++17", "-O2", "tools/llama-bench/llama-bench.cpp", "tools/llama-bench/main.cpp", "-Icommon", "-Iinclude",
         "-Iggml/include", "-Ivendor", library, "-lpthread", "-lm", "-ldl", "-o", program], check=True, cwd=source)
    return program


def peer(model, threads, runs=3):
    """Tokens a second, reading 512 and writing 128."""
    out = subprocess.run(
        [llama_bench(), "-m", model, "-t", str(threads), "-p", "512", "-n", "128", "-r", str(runs), "-o", "json"],
        capture_output=True, text=True, check=True).stdout
    reading = writing = None
    for row in json.loads(out):
        speed = sorted(row["samples_ts"])[len(row["samples_ts"]) // 2]
        if row["n_gen"] == 0:
            reading = speed
        else:
            writing = speed
    return reading, writing


def ours(program, model, threads, *words):
    out = subprocess.run(
        [program, "bench", "--json", "--model", model, "--threads", str(threads), *words], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def main():
    program, model = sys.argv[1:3]
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count()
    # One, the other, and the first again: a machine that slows down meanwhile shows.
    before = peer(model, threads)
    mine = ours(program, model, threads)
    after = peer(model, threads)
    reading, writing = ((a + b) / 2 for a, b in zip(before, after))
    print(f"{Path(model).name}, {threads} threads; tokens a second")
    print(f"  {'':10}{'Alcove':>10}{'llama-bench':>14}{'ratio':>8}{'its own drift':>16}")
    for name, key, theirs, first, last in [
        ("reading", "reading 512 tokens", reading, before[0], after[0]), ("writing", "writing 128 tokens", writing, before[1], after[1])]:
        print(f"  {name:10}{mine[key]:10.1f}{theirs:14.1f}{mine[key] / theirs:8.2f}{last / first:16.2f}")
    if len(sys.argv) > 4:
        shipped = peer(sys.argv[4], threads)
        print(f"  against {Path(sys.argv[4]).name}: reading {mine['reading 512 tokens'] / shipped[0]:.2f}x, writing {mine['writing 128 tokens'] / shipped[1]:.2f}x")
    print("time to the first token:")
    for name, row in mine.items():
        if isinstance(row, dict):
            print(f"  {name:34}{1000 * row['seconds']:8.0f} ms{row['reused']:7} of {row['prompt']} reused{row['timesCold']:8.1f}x")


main()
