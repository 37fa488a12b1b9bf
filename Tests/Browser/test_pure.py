"""The page's pure modules, under Node's own test runner."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("suite", sorted(path.name for path in HERE.glob("test_*.mjs")))
def test_pure_module_keeps_its_claims(suite):
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed (apt-get install nodejs), so the page's pure modules go untested here.")

    run = subprocess.run([node, "--test", str(HERE / suite)], capture_output=True, text=True, timeout=120)

    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
