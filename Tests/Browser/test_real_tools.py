"""A run with tools through the page, with the real program and a scripted model: no model decides what the test sees."""

import json
import os
import subprocess
import time

import pytest
from playwright.sync_api import expect

PROGRAM = os.environ.get("ALCOVE_BIN")
WHY = "ALCOVE_BIN names no program, so the page's tools were not tried against the real one."
SCRIPT = [
    [
        {"text": "I will write it down."},
        {"call": {"name": "write_file", "arguments": {"path": "plan.txt", "content": "one\ntwo\n"}}},
        {"call": {"name": "shell", "arguments": {"command": "rm -rf / # no"}}},
    ],
    [{"text": "The plan is written; nothing was removed."}],
]

pytestmark = pytest.mark.skipif(not PROGRAM, reason=WHY)
if not PROGRAM:
    print(f"\nSKIPPED: {WHY}")


@pytest.fixture
def entry(tmp_path):
    plan = tmp_path / "script.json"
    plan.write_text(json.dumps(SCRIPT))
    root = tmp_path / "root"
    program = subprocess.Popen(
        [PROGRAM, "serve", "--port", "0", "--root", str(root), "--script", str(plan)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert program.stdout.readline().startswith("Alcove is at ")
    found = json.loads((root / "connection.json").read_text())
    yield f"{found['url']}/?token={found['token']}", root
    program.terminate()
    program.wait(20)


def test_one_call_is_approved_one_refused_and_the_receipts_are_there(entry, open_page):
    url, root = entry
    page = open_page(url)
    expect(page.locator("#model")).to_have_attribute("data-state", "Loaded", timeout=20_000)
    page.get_by_role("switch", name="Tools").click()
    page.fill("#box", "Write the plan.")
    page.press("#box", "Enter")
    card = page.get_by_role("group", name="May Alcove do this?")

    expect(card).to_contain_text("plan.txt")
    card.get_by_role("button", name="Allow", exact=True).click()
    expect(card.last).to_contain_text("rm -rf /")
    card.last.get_by_role("button", name="Refuse").click()
    answer = page.locator(".message.assistant").last
    expect(answer.locator(".body").last).to_contain_text("nothing was removed")
    expect(answer.locator("footer")).to_be_visible()

    files = list((root / "workspaces").rglob("plan.txt"))
    assert [file.read_text() for file in files] == ["one\ntwo\n"]
    with page.expect_download() as download:
        answer.get_by_role("link", name="plan.txt").click()
    assert open(download.value.path()).read() == "one\ntwo\n"
    answer.get_by_text("What was done").click()
    expect(answer).to_contain_text("write_file")
    shots = os.environ.get("ALCOVE_SHOTS")
    if shots:
        page.screenshot(path=f"{shots}/real-tools.png")
