"""`alcove plumbing template`: one process, a line for each rendering."""

import json
import os
import pathlib
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ALCOVE_BIN", str(ROOT / ".build/debug/alcove"))
TEMPLATES = ROOT / ".deps/llama-testdata/templates"


def ask(lines):
    """The answers to many lines, in order."""
    process = subprocess.Popen(
        [PROGRAM, "plumbing", "template"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "TZ": "UTC"}
    )

    def feed():
        for number, line in enumerate(lines):
            process.stdin.write(json.dumps({"id": number, **line}).encode() + b"\n")
        process.stdin.close()

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    answers = [json.loads(line) for line in process.stdout]
    feeder.join()
    assert process.wait() == 0
    assert [answer["id"] for answer in answers] == list(range(len(lines)))
    return answers
