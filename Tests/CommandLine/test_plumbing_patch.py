"""`alcove plumbing patch`: in a folder, from a file and from a pipe."""

import os
import subprocess

from program import PROGRAM

PATCH = b"""*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+2
*** Add File: new/b.txt
+b
*** End Patch
"""


def patch(folder, text=None, *words):
    return subprocess.run([PROGRAM, "plumbing", "patch", *words], input=text, cwd=folder, capture_output=True, timeout=60)


def test_a_patch_from_a_pipe_or_a_file_changes_the_current_folder(tmp_path):
    for words, text in ((), PATCH), (("-",), PATCH), (("../p.patch",), None):
        folder = tmp_path / f"f{len(os.listdir(tmp_path))}"
        folder.mkdir()
        (tmp_path / "p.patch").write_bytes(PATCH)
        (folder / "a.txt").write_bytes(b"one\r\ntwo\r\n\xff")

        done = patch(folder, text, *words)

        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == b"Updated a.txt (+1 -1).\nAdded new/b.txt (+1).\n"
        assert (folder / "a.txt").read_bytes() == b"one\r\n2\r\n\xff"
        assert (folder / "new/b.txt").read_bytes() == b"b\n"
        assert sorted(os.listdir(folder)) == ["a.txt", "new"]


def test_a_refused_patch_says_why_and_changes_nothing(tmp_path):
    (tmp_path / "a.txt").write_text("one\nthree\n")

    done = patch(tmp_path, PATCH)

    assert done.returncode != 0 and done.stdout == b""
    assert done.stderr.decode().startswith(
        'Nothing was changed. Hunk 1 of a.txt was not found: no line reads "one" and what follows.\n'
    )
    assert os.listdir(tmp_path) == ["a.txt"] and (tmp_path / "a.txt").read_text() == "one\nthree\n"


def test_nothing_outside_the_folder_is_touched(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "out").symlink_to(tmp_path)
    for path in "../x", str(tmp_path / "x"), "out/x", "a/../../x":
        done = patch(inside, b"*** Begin Patch\n*** Add File: %s\n+x\n*** End Patch\n" % path.encode())
        assert done.returncode != 0 and b"cannot be used" in done.stderr
    assert os.listdir(tmp_path) == ["in"]
