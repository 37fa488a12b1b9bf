"""How long 500 chats of 200 turns take to come in from a file, and how much memory that takes.

    ALCOVE_BIN=.build/release/alcove python3 Benchmarks/chat_import.py [CHATS] [TURNS]
"""

import json
import sys
import tempfile
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Tests/CommandLine"))

from program import Host  # noqa: E402


def chat(turns):
    words = uuid.uuid4().hex
    return {
        "id": uuid.uuid4().hex, "title": "A chat", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z",
        "messages": [
            {"role": "user" if n % 2 == 0 else "assistant", "content": f"Message {n} about {words}, in about as many words as "
             "people use when they ask something short, or are answered so."} for n in range(2 * turns)],
    }


def memory(host, field):
    lines = Path(f"/proc/{host.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def main():
    chats, turns = (int(word) for word in [*sys.argv[1:], 500, 200][:2])
    with tempfile.TemporaryDirectory() as folder:
        host = Host(Path(folder) / "root", "--port", "0", "--no-model").wait()
        host.json("/api/agent/import", "POST", chat(2))
        data = json.dumps({"conversations": [chat(turns) for _ in range(chats)]}).encode()
        before = memory(host, "VmRSS")
        for what in ("new", "again"):
            start = time.monotonic()
            answer = host.json("/api/agent/import", "POST", data)[1]
            print(f"{what}: {chats} chats of {2 * turns} messages, {len(data) / 2**20:.0f} MiB: {time.monotonic() - start:.1f} s, "
                  f"{answer['imported']} imported, {answer['unchanged']} unchanged")
        print(f"memory before {before:.0f} MB, at most {memory(host, 'VmHWM'):.0f} MB")
        start = time.monotonic()
        host.json("/api/agent/conversations")
        print(f"listed in {1000 * (time.monotonic() - start):.0f} ms")
        host.stop()


if __name__ == "__main__":
    main()
