"""The real program, killed in the middle of an answer and started again, through the page.

ALCOVE_BIN names the program; without it these tests are skipped and say so.
"""

import json
import os
import sqlite3
import subprocess
import time

import pytest
from playwright.sync_api import expect

PROGRAM = os.environ.get("ALCOVE_BIN")
WHY = "ALCOVE_BIN names no program, so a killed one was not tried."
START = 60

pytestmark = pytest.mark.skipif(not PROGRAM, reason=WHY)
if not PROGRAM:
    print(f"\nSKIPPED: {WHY}")

ROUNDS = [[{"reasoning": "Let me count."}, *[{"text": f"number{number} "} for number in range(30)], {"wait": True}], [{"text": "And on."}]]


@pytest.fixture
def start(tmp_path):
    """Starts the program in one folder, as often as it is called; answers its process and the link a person would open."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps(ROUNDS))
    root = tmp_path / "root"
    running = []

    def started():
        (root / "connection.json").unlink(missing_ok=True)
        program = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", "--root", str(root), "--script", str(script)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        running.append(program)
        deadline = time.monotonic() + START
        while True:
            assert program.poll() is None and time.monotonic() < deadline, "the program did not start"
            try:
                found = json.loads((root / "connection.json").read_text())
                return program, f"{found['url'].rstrip('/')}/?token={found['token']}"
            except (FileNotFoundError, json.JSONDecodeError):
                time.sleep(0.05)

    yield started
    for program in running:
        program.kill()
        program.wait()


def kept(root, words):
    """Waits until words of an answer are in the log."""
    store = sqlite3.connect(f"file:{root / 'root/alcove.db'}?mode=ro", uri=True)
    deadline = time.monotonic() + START
    while store.execute("SELECT count(*) FROM turn_events WHERE payload LIKE ?", (f"%{words}%",)).fetchone()[0] == 0:
        assert time.monotonic() < deadline, "the words are not in the log"
        time.sleep(0.02)
    store.close()


def test_a_killed_host_is_told_of_and_its_words_are_there_when_it_is_back(open_page, start, tmp_path):
    program, entry = start()
    page = open_page(entry, allow=["Failed to load resource", "net::ERR"])
    expect(page.locator("#model")).to_have_attribute("data-state", "Loaded")
    page.fill("#box", "Count, please.")
    page.press("#box", "Enter")
    answer = page.locator(".message.assistant").last
    expect(answer.locator(".body")).to_contain_text("number29")
    kept(tmp_path, "number29")

    program.kill()
    program.wait()

    expect(page.locator("#model")).to_have_attribute("data-state", "Unreachable")
    expect(answer.locator(".body")).to_contain_text("number29")
    expect(page.get_by_text("The answer goes on in the program")).to_have_count(0)

    _, entry = start()
    page = open_page(entry)
    expect(page.locator("#model")).to_have_attribute("data-state", "Loaded")
    page.locator(".chat", has_text="Count, please.").click()
    answers = page.locator(".message.assistant")
    expect(answers.locator(".body")).to_contain_text("number0 number1")
    expect(answers.locator(".body")).to_contain_text("number29")
    expect(answers).to_contain_text("Alcove ended while this was being written, so it is not complete.")
    expect(answers.locator("summary")).to_have_text("Reasoning")
    page.fill("#search", "number17")
    expect(page.locator(".snippet mark")).to_have_text("number17")

    # Asked again it is another answer in its place, and that one is whole; here it waits as the first did.
    answers.get_by_role("button", name="Let the answer go on").click()
    expect(answers).to_have_count(2)
    expect(answers.last.locator(".body")).to_contain_text("number29")
    page.click("#send")
    expect(answers.last.locator(".facts")).to_contain_text("Stopped")
    expect(answers.first).to_contain_text("Alcove ended while")


def test_a_question_that_was_not_answered_when_the_host_was_killed_can_be_asked_again(open_page, start, tmp_path):
    (tmp_path / "script.json").write_text(json.dumps([[{"text": ""}, {"wait": True}]]))
    program, entry = start()
    page = open_page(entry, allow=["Failed to load resource", "net::ERR"])
    expect(page.locator("#model")).to_have_attribute("data-state", "Loaded")
    page.fill("#box", "Are you there?")
    page.press("#box", "Enter")
    kept(tmp_path, "messages")
    program.kill()
    program.wait()

    (tmp_path / "script.json").write_text(json.dumps([[{"text": "Here I am."}]]))
    _, entry = start()
    page = open_page(entry)
    page.locator(".chat", has_text="Are you there?").click()
    expect(page.locator(".message.assistant")).to_contain_text("This has not been answered.")
    page.get_by_role("button", name="Ask for another answer").click()
    expect(page.locator(".message.assistant .body")).to_have_text("Here I am.")
    page.reload()
    expect(page.locator(".message.assistant .body")).to_have_text("Here I am.")
    expect(page.get_by_text("This has not been answered.")).to_have_count(0)
