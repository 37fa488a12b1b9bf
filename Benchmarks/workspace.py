"""What search over kept items costs, and how well it ranks. Usage: workspace.py PROGRAM [ITEMS] [FOLDER OF TEXTS]

Speed: fills a store with ITEMS (100,000) made-up items and asks 300 queries of several kinds; prints p50 and p95.
Quality: paragraphs of the texts (*.txt, or the licences every Debian has) are kept; for each of some 240 queries made of a
paragraph's own words (as they stand, a phrase, cut, mistyped) that paragraph is the right answer. Prints nDCG@10 beside
that of plain FTS5 bm25. All draws come from a fixed seed.
"""

import json
import math
import pathlib
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
TEXTS = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else "/usr/share/common-licenses")


class Store:
    def __init__(self, root):
        self.process = subprocess.Popen(
            [PROGRAM, "plumbing", "kept", "--root", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, answer
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def made_up(draw, count):
    """Words by Zipf's law, so that some are everywhere and most are rare; a tenth of the items is Chinese."""
    letters = "bcdfghklmnprstvw"
    words = ["".join(draw.choice(letters) + draw.choice("aeiou") for _ in range(draw.randint(1, 4))) for _ in range(20_000)]
    weights = [1 / (rank + 2) for rank in range(len(words))]
    characters = [chr(0x4E00 + n) for n in range(3_000)]
    han = [1 / (rank + 5) for rank in range(len(characters))]
    for _ in range(count):
        if draw.random() < 0.1:
            yield "".join(draw.choices(characters, han, k=draw.randint(20, 80)))
        else:
            yield " ".join(draw.choices(words, weights, k=draw.randint(10, 60)))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def speed():
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as root:
        store = Store(root)
        texts = list(made_up(draw, COUNT))
        for start in range(0, COUNT, 2_000):
            store.ask(op="add", items=[{"type": "note", "text": text} for text in texts[start:start + 2_000]])
        captures = [store.ask(op="add", items=[{"text": text}])["ms"] for text in draw.sample(texts, 200)]
        kinds = {"one word": [], "three words": [], "eight words": [], "part of a word": [], "mistyped": [], "Chinese": [],
                 "common words": [], "one kind only": []}
        latin = [text for text in texts if text.isascii()]
        chinese = [text for text in texts if not text.isascii()]
        for number in range(40):
            words = draw.choice(latin).split()
            long = max(words, key=len)
            queries = {
                "one word": draw.choice(words), "three words": " ".join(draw.sample(words, 3)),
                "eight words": " ".join(draw.sample(words, 8)), "part of a word": long[1:-1],
                "mistyped": long[:3] + "x" + long[4:], "Chinese": draw.choice(chinese)[5:5 + draw.randint(1, 6)],
                "common words": " ".join(words[:5]), "one kind only": " ".join(draw.sample(words, 2)),
            }
            for kind, query in queries.items():
                extra = {"kinds": ["task"]} if kind == "one kind only" else {}
                kinds[kind].append(store.ask(op="search", query=query, **extra)["ms"])
        store.close()
    everything = [value for values in kinds.values() for value in values]
    print(f"{COUNT} items; capture p50 {statistics.median(captures):.2f} ms, p95 {percentile(captures, 0.95):.2f} ms")
    print(f"search: p50 {statistics.median(everything):.2f} ms, p95 {percentile(everything, 0.95):.2f} ms")
    for kind, values in kinds.items():
        print(f"  {kind}: p50 {statistics.median(values):.2f} ms, p95 {percentile(values, 0.95):.2f} ms")


def paragraphs():
    found = []
    for path in sorted(TEXTS.rglob("*")):
        if path.is_file() and not path.is_symlink():
            for part in re.split(r"\n\s*\n", path.read_text(errors="ignore")):
                text = " ".join(part.split())
                if 80 <= len(text) <= 1_200 and text not in found:
                    found.append(text)
    return found


def mistype(draw, word):
    place = draw.randrange(1, len(word) - 1)
    return word[:place] + word[place + 1] + word[place] + word[place + 2:]


def quality():
    draw = random.Random(2)
    texts = paragraphs()
    plain = sqlite3.connect(":memory:")
    plain.execute("CREATE VIRTUAL TABLE t USING fts5 (x)")
    plain.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(texts))
    queries = []
    for _ in range(60):
        index = draw.randrange(len(texts))
        words = [word for word in re.findall(r"[a-z]+", texts[index].lower())]
        long = [word for word in words if len(word) > 4]
        if len(long) < 6:
            continue
        start = draw.randrange(len(words) - 4)
        queries += [
            ("words", index, " ".join(draw.sample(long, 3))), ("phrase", index, " ".join(words[start:start + 4])),
            ("cut", index, " ".join(word[:-1] if len(word) > 6 else word for word in draw.sample(long, 4))),
            ("mistyped", index, " ".join([mistype(draw, long[0])] + draw.sample(long[1:], 2))),
        ]
    gains = {}
    with tempfile.TemporaryDirectory() as root:
        store = Store(root)
        ids = store.ask(op="add", items=[{"text": text, "title": "-"} for text in texts])["ids"]
        for kind, index, query in queries:
            ours = [hit["id"] for hit in store.ask(op="search", query=query, limit=10)["hits"]]
            match = " OR ".join(f'"{word}"' for word in query.split())
            theirs = [row[0] for row in plain.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (match,))]
            for name, hits, right in (("ours", ours, ids[index]), ("bm25", theirs, index)):
                gain = 1 / math.log2(hits.index(right) + 2) if right in hits else 0
                gains.setdefault((kind, name), []).append(gain)
                gains.setdefault(("all", name), []).append(gain)
        store.close()
    print(f"{len(texts)} paragraphs, {len(queries)} queries; nDCG@10:")
    for kind in ["all", "words", "phrase", "cut", "mistyped"]:
        print(f"  {kind}: ours {statistics.mean(gains[kind, 'ours']):.3f}, bm25 {statistics.mean(gains[kind, 'bm25']):.3f}")


speed()
quality()
