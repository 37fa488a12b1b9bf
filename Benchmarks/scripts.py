"""What a warm start of python3 and node costs in the shell within the program.

    python3 Benchmarks/scripts.py PROGRAM [--count N] [--rounds N]

One process of `alcove sh` runs the same command 1 and N + 1 times; the difference, divided by N, is a warm run. Both are
timed in each round, so that a busy machine slows both. Once back to back, where each run waits until the engine of the next
is ready, and once with a pause of 50 ms before each, which is taken off: that is what a person or a model meets, and what is
held to the limit. Beside them: Debian's own python3 and node in dash, where they are.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

COMMANDS = {"python3 -c 'print(1)'": ("python3", 30), "node -e 1": ("node", 10)}


def seconds(words, folder):
    start = time.perf_counter()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr}")
    return time.perf_counter() - start


PAUSE = 0.05


def loop(command, count, pauses=False):
    pause = f"sleep {PAUSE}; " if pauses else ""
    return f"i=0; while [ $i -lt {count} ]; do {pause}{command} >/dev/null; i=$((i+1)); done"


def warm(shell, command, count, rounds, folder, pauses=False):
    """Milliseconds of a warm run, each round's; and of the first."""
    runs, first = [], []
    for _ in range(rounds):
        one, many = (seconds([*shell, loop(command, times, pauses)], folder) for times in (1, count + 1))
        # The shell's own pauses are measured too: they last longer than they should on a busy machine.
        idle = seconds([*shell, loop(":", count, True)], folder) - seconds([*shell, ":"], folder) if pauses else 0
        runs.append((many - one - idle) / count * 1000)
        first.append(one * 1000)
    return runs, first


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    given.program = os.path.abspath(given.program)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for command, (name, limit) in COMMANDS.items():
            shell = [given.program, "sh", "-c"]
            runs, first = warm(shell, command, given.count, given.rounds, folder)
            paused, _ = warm(shell, command, given.count, given.rounds, folder, pauses=True)
            middle = statistics.median(paused)
            line = f"{command}: warm {middle:.1f} ms ({min(paused):.1f} to {max(paused):.1f}; at most {limit})"
            line += f", back to back {statistics.median(runs):.1f} ms, the first {statistics.median(first):.0f} ms"
            if shutil.which("/usr/bin/" + name) and shutil.which("dash"):
                theirs, _ = warm(["dash", "-c"], command.replace(name, "/usr/bin/" + name, 1), 5, given.rounds, folder)
                line += f"; Debian's {name} in dash {statistics.median(theirs):.1f} ms"
            print(line)
            failed = failed or middle > limit
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
