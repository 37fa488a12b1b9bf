"""docs/assistant.md says which test shows which sentence of the plan's description; each of them must be there."""

import re

from program import REPOSITORY


def cells():
    text = (REPOSITORY / "docs/assistant.md").read_text().split("## The seed's sentences")[1]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ") and not line.startswith("| the seed")]
    assert len(rows) > 50 and all(len(row) == 3 for row in rows), [row for row in rows if len(row) != 3]
    return [row[2] for row in rows]


def test_every_test_that_is_named_is_there():
    tests = REPOSITORY / "Tests"
    files = {path.stem: path.read_text() for path in tests.rglob("*") if path.suffix in (".swift", ".py")}
    named = 0
    for cell in cells():
        for part in re.findall(r"\w+(?: `\w+`(?:, `\w+`)*)?", cell):
            suite, *names = re.findall(r"\w+", part)
            # A suite is a file, or a structure in one.
            text = files.get(suite) or "".join(text for text in files.values() if f"struct {suite} " in text)
            assert text, f"there are no tests {suite}"
            for name in names:
                named += 1
                assert re.search(rf"\b(?:func|def) {name}\(", text), f"{suite} has no test {name}"
    assert named > 80
