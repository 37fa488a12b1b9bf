"""The real program with a real model, through the page.

ALCOVE_BIN names the program and ALCOVE_MODEL the GGUF file; without them these tests are skipped and say so.
"""

import json
import os
import re
import subprocess
import time

import pytest
from playwright.sync_api import expect

PROGRAM = os.environ.get("ALCOVE_BIN")
MODEL = os.environ.get("ALCOVE_MODEL")
WHY = "ALCOVE_BIN and ALCOVE_MODEL name no program and no model, so the page was not tried against the real ones."
START = 60
ANSWER = 120_000

pytestmark = pytest.mark.skipif(not (PROGRAM and MODEL), reason=WHY)
if not (PROGRAM and MODEL):
    print(f"\nSKIPPED: {WHY}")


@pytest.fixture(scope="module")
def entry(tmp_path_factory):
    """Starts the program in a folder of its own and answers the link a person would open."""
    root = tmp_path_factory.mktemp("alcove")
    log = (root / "program.log").open("w")
    program = subprocess.Popen(
        [PROGRAM, "serve", "--port", "0", "--root", str(root), "--model", MODEL, "--threads", "1", "--context", "1024"], stdout=log, stderr=subprocess.STDOUT)
    connection = root / "connection.json"
    deadline = time.monotonic() + START
    found = None
    while found is None:
        assert program.poll() is None, f"the program left at once: {(root / 'program.log').read_text()[-2000:]}"
        assert time.monotonic() < deadline, "the program wrote no connection.json"
        try:
            found = json.loads(connection.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.05)
    yield f"{found['url'].rstrip('/')}/?token={found['token']}"
    program.terminate()
    try:
        program.wait(20)
    except subprocess.TimeoutExpired:
        program.kill()
        pytest.fail("the program did not leave within 20 s of being asked to")
    finally:
        log.close()


@pytest.fixture
def page(open_page, entry):
    opened = open_page(entry)
    expect(opened.locator("#model")).to_have_attribute("data-state", "Loaded", timeout=ANSWER)
    if opened.locator(".message").count():
        opened.locator("#new").click()
        expect(opened.locator("#empty")).to_be_visible()
    return opened


def ask(page, text):
    page.fill("#box", text)
    page.press("#box", "Enter")


def answer(page):
    return page.locator(".message.assistant").last


def test_the_token_leaves_the_address_bar(page):
    assert "token" not in page.url


def test_the_capital_of_france_is_paris(page):
    ask(page, "What is the capital of France? Answer in one word.")

    expect(answer(page).locator(".facts")).to_contain_text("tok/s", timeout=ANSWER)
    expect(answer(page).locator(".body")).to_contain_text("Paris")
    if os.environ.get("ALCOVE_SHOTS"):
        page.screenshot(path=os.path.join(os.environ["ALCOVE_SHOTS"], "real-paris.png"))


def test_stop_ends_a_long_answer_and_the_next_one_is_served(page):
    ask(page, "Count from 1 to 500, one number per line.")
    expect(answer(page).locator(".body")).to_have_text(re.compile(r"\S"), timeout=ANSWER)

    page.click("#send")

    expect(answer(page).locator(".facts")).to_contain_text("Stopped")
    ask(page, "Say hello.")
    expect(answer(page).locator(".facts")).to_contain_text("tok/s", timeout=ANSWER)
    expect(page.locator(".message.assistant")).to_have_count(2)


def test_a_reload_in_the_middle_attaches_again(page):
    ask(page, "Write a long story about a lighthouse keeper and the sea.")
    expect(answer(page).locator(".body")).to_have_text(re.compile(r"\S{3,}.*\S", re.DOTALL), timeout=ANSWER)

    page.reload()
    page.wait_for_selector("html[data-started]")

    expect(page.locator(".message.user")).to_have_text("Write a long story about a lighthouse keeper and the sea.")
    expect(answer(page).locator(".body")).to_have_text(re.compile(r"\S"), timeout=ANSWER)
    if page.locator("#composer").get_attribute("data-mode") == "stop":
        page.click("#send")
    expect(answer(page).locator("footer")).to_be_visible()


def test_a_saved_chat_is_opened_again_and_continued(page):
    ask(page, "My name is Ada. Say hello to me.")
    expect(answer(page).locator(".facts")).to_contain_text("tok/s", timeout=ANSWER)
    said = answer(page).locator(".body").inner_text()
    page.locator("#new").click()
    expect(page.locator("#empty")).to_be_visible()

    page.locator(".chat", has_text="My name is Ada").first.click()

    expect(answer(page).locator(".body")).to_have_text(said)
    ask(page, "Thank you.")
    expect(page.locator(".message.assistant")).to_have_count(2)
    expect(answer(page).locator(".facts")).to_contain_text("tok/s", timeout=ANSWER)
