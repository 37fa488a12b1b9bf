"""The shell within the program beside dash with Debian's programs, and beside busybox.

    python3 Benchmarks/shell.py .build/release/alcove [--megabytes 100] [--rounds 3] [--only NAME]

Each command is run in turn with its peer; shown are the medians of the seconds, the median of the rounds' ratios (above 1: we
take longer), and the most memory either held. Outputs must be equal, or the run fails. Needs Debian's busybox.
"""

import argparse
import hashlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

SHORT = "i=0; while [ $i -lt 500 ]; do basename /usr/lib/x$i.c .c; cat small; i=$((i+1)); done"
MUCH = {
    "grep literal": "grep -c fisherman big",
    "wc -w": "wc -w < big",
    "sort": "sort big",
    "sort -n": "sort -n -k2 big",
    "awk sum": "awk '{s += $2} END {print s}' big",
    "sed s///": "sed 's/sea/ocean/' big",
    "cut": "cut -d' ' -f2,3 big",
    "tr": "tr a-z A-Z < big",
    "uniq -c": "uniq -c same",
    "sha256sum": "sha256sum big",
    "gzip -d": "gzip -dc big.gz",
}


def measured(words, folder):
    """Seconds, the most memory in MB, and a digest of what was printed."""
    start = time.perf_counter()
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    digest = hashlib.sha256()
    while piece := process.stdout.read(1 << 20):
        digest.update(piece)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words}: {errors.decode(errors='replace')[:500]}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024, digest.hexdigest()


def compare(name, mine, peer, folder, rounds, limit):
    times, ratios, memory = ([], []), [], [0, 0]
    for _ in range(rounds):
        found = [measured(words, folder) for words in (mine, peer)]
        if found[0][2] != found[1][2]:
            raise SystemExit(f"{name}: the two print different things")
        for index, (seconds, held, _) in enumerate(found):
            times[index].append(seconds)
            memory[index] = max(memory[index], held)
        ratios.append(found[0][0] / found[1][0])
    ratio = statistics.median(ratios)
    print(f"  {name:28}{statistics.median(times[0]):9.3f}{statistics.median(times[1]):9.3f}{ratio:8.2f}"
          f"{memory[0]:8.0f}{memory[1]:8.0f}   {'holds' if ratio <= limit else 'missed'} ({limit:g})", flush=True)


def texts(folder, megabytes):
    chance = random.Random(7)
    words = "the fish swam in the sea while an old fisherman told stories of wind and salt".split()
    lines = [f"{chance.choice(words)} {chance.randrange(1_000_000)} {' '.join(chance.choices(words, k=7))}\n" for _ in range(50_000)]
    with open(f"{folder}/big", "w") as file:
        size = 0
        while size < megabytes << 20:
            chance.shuffle(lines)
            piece = "".join(lines)
            file.write(piece)
            size += len(piece)
    with open(f"{folder}/same", "w") as file:
        size = 0
        while size < megabytes << 20:
            line = chance.choice(lines) * chance.randrange(1, 6)
            file.write(line)
            size += len(line)
    subprocess.run(["gzip", "-k", "-1", f"{folder}/big"], check=True)
    with open(f"{folder}/small", "w") as file:
        file.write("one line\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only")
    given = parser.parse_args()
    program = os.path.abspath(given.program)
    with tempfile.TemporaryDirectory() as folder:
        texts(folder, given.megabytes)
        print(f"  {'':28}{'Alcove':>9}{'peer':>9}{'ratio':>8}{'MB':>8}{'MB':>8}")
        if not given.only:
            compare("1,000 short commands (dash)", [program, "sh", "-c", SHORT], ["dash", "-c", SHORT], folder, given.rounds, 1 / 20)
        for name, command in MUCH.items():
            if given.only and given.only != name:
                continue
            try:
                compare(name, [program, "sh", "-c", command], ["busybox", "sh", "-c", f"busybox {command}"], folder, given.rounds, 2)
            except SystemExit as error:
                print(f"  {name:28}{error}", file=sys.stderr)


if __name__ == "__main__":
    main()
