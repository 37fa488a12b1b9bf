"""The script that bundles the page's libraries."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "Scripts/stage-web-libraries"
INSTALLED = (
    "esbuild installed 0.17.0-1+b2\nnode-dompurify installed {purify}\n"
    "libjs-katex installed 0.16.4+~cs6.1.0-1\nnode-highlight.js installed 9.18.5+dfsg1-2\nnode-markdown-it installed 22.2.3+dfsg+~12.2.3-2\n"
)


@pytest.fixture
def copy(tmp_path):
    """The script in a folder of its own, where `dpkg-query` says what the test lets it say."""
    (tmp_path / "Scripts").mkdir()
    (tmp_path / "Web").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / SCRIPT, tmp_path / SCRIPT)

    def run(packages=None):
        environment = dict(os.environ)
        if packages is not None:
            fake = tmp_path / "bin/dpkg-query"
            fake.write_text(f"#!/bin/sh\ncat <<'LIST'\n{packages}LIST\n")
            fake.chmod(0o755)
            environment["PATH"] = f"{tmp_path / 'bin'}:{environment['PATH']}"
        return subprocess.run([tmp_path / SCRIPT], capture_output=True, text=True, env=environment)

    run.web = tmp_path / "Web"
    return run


def test_a_second_run_is_silent_and_quick(copy):
    first = copy()
    assert first.returncode == 0, first.stderr
    before = sorted((file.name, file.stat().st_mtime_ns) for file in (copy.web / "vendor").iterdir())

    took = []
    for _ in range(3):
        began = time.monotonic()
        second = copy()
        took.append(time.monotonic() - began)

    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert sorted((file.name, file.stat().st_mtime_ns) for file in (copy.web / "vendor").iterdir()) == before
    assert min(took) < 0.1
    assert [name for name, _ in before if name.endswith(".js")] == ["highlight.js", "katex.js", "markdown-it.js", "purify.js"]


def test_a_missing_package_is_named_with_the_command_that_installs_it(copy):
    run = copy("esbuild installed 0.17.0-1+b2\nnode-dompurify installed 2.4.1+dfsg+~2.4.0-2+deb12u2\n")

    assert run.returncode == 1
    assert run.stderr == (
        "stage-web-libraries: the page's libraries need the Debian package(s) node-markdown-it node-highlight.js libjs-katex. "
        "Install with: apt-get install node-markdown-it node-highlight.js libjs-katex\n"
    )


def test_the_sanitiser_that_throws_on_everything_is_refused(copy):
    run = copy(INSTALLED.format(purify="2.4.1+dfsg+~2.4.0-2+deb12u1"))

    assert run.returncode == 1
    assert "cannot sanitise anything" in run.stderr
