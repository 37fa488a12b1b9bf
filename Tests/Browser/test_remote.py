"""The page of a host whose answers come from a server: it says so wherever it would say that everything stays here.

ALCOVE_BIN names the program and ALCOVE_MODEL the GGUF file of the host that is the server; without them these tests are
skipped and say so.
"""

import os
import re
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "CommandLine"))

PROGRAM = os.environ.get("ALCOVE_BIN")
MODEL = os.environ.get("ALCOVE_MODEL")
WHY = "ALCOVE_BIN and ALCOVE_MODEL name no program and no model, so no page of a remote engine was looked at."
ANSWER = 120_000

pytestmark = pytest.mark.skipif(not (PROGRAM and MODEL), reason=WHY)
if not (PROGRAM and MODEL):
    print(f"\nSKIPPED: {WHY}")


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """A host with a model, and one that was started for it."""
    from program import Host

    folder = tmp_path_factory.mktemp("remote")
    near = Host(folder / "near", "--port", 0, "--model", MODEL, "--threads", 1, "--context", 1024).wait()
    near.wait_for_model()
    key = folder / "key"
    key.write_text(near.token)
    far = Host(
        folder / "far", "--port", 0, "--engine", "openai", "--endpoint", near.url + "/v1", "--key-file", key).wait()
    far.wait_for_model()
    yield near, far
    for host in (far, near):
        host.stop()


@pytest.fixture
def page(open_page, hosts):
    opened = open_page(f"{hosts[1].url}/?token={hosts[1].token}")
    expect(opened.locator("#model")).to_have_attribute("data-state", "Loaded", timeout=ANSWER)
    if opened.locator(".message").count():
        opened.locator("#new").click()
        expect(opened.locator("#empty")).to_be_visible()
    return opened


@pytest.fixture
def server(hosts):
    return hosts[0].url.removeprefix("http://")


def test_nothing_on_the_page_says_that_text_stays_here(page, server):
    expect(page.locator("#model-sub")).to_contain_text(f"Sent to {server}")
    expect(page.locator("#empty-title")).to_have_text(f"{server} answers, not this device.")
    expect(page.locator("#empty-body")).to_contain_text(f"is sent to {server}")
    expect(page.locator("#privacy")).to_have_text(f"Text leaves this device for {server}")
    words = page.locator("body").inner_text()
    assert not re.search(r"runs on this device|goes nowhere else|on this device and nothing", words, re.I), words


def test_the_notice_comes_without_being_looked_for(page, server):
    expect(page.get_by_text(f"Answers come from {server}, not from this device").first).to_be_visible()


def test_the_answer_of_the_server_is_shown_and_the_place_stays_in_sight(page, server):
    page.fill("#box", "What is the capital of France? Answer in one word.")
    page.press("#box", "Enter")

    expect(page.locator(".message.assistant").last).to_contain_text("Paris", timeout=ANSWER)
    expect(page.locator("#model-sub")).to_contain_text(f"Sent to {server}")


def test_files_and_about_say_where_text_goes(page, server):
    page.locator("#attach").click()
    sheet = page.locator("#attach-sheet")
    expect(sheet).to_contain_text(f"sent to {server}")
    expect(sheet).not_to_contain_text("stay on this device")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

    page.evaluate("document.getElementById('open-about').click()")
    about = page.locator("#about")
    expect(about).to_contain_text(f"is sent to {server}")
    expect(about).to_contain_text("text leaves this device")
    expect(about).not_to_contain_text("nothing of them is sent")


def test_a_host_with_a_model_of_its_own_says_what_it_said(open_page, hosts):
    opened = open_page(f"{hosts[0].url}/?token={hosts[0].token}")
    expect(opened.locator("#model-sub")).to_contain_text("On this device", timeout=ANSWER)
    expect(opened.locator("#privacy")).to_have_text("Runs on this device")
    expect(opened.locator("#empty-body")).to_contain_text("What you write goes nowhere else.")
