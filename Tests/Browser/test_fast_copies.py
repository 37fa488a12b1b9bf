"""Quicker copies on the model's card: offered, made, told with what they gained, used and deleted."""

import pytest
from playwright.sync_api import expect

from scripted_host import Wait

COPY = {
    "name": "slow.fast-Q8_0.gguf", "path": "/m/slow.fast-Q8_0.gguf", "bytes": 145_000_000, "type": "q8_0",
    "measure": {
        "originalPerplexity": 20.0, "copyPerplexity": 20.06, "prefillGain": 2.31, "decodeGain": 1.62,
        "prefillTokensPerSecond": 400.0, "decodeTokensPerSecond": 100.0, "threads": 1},
    "original": {"name": "slow.gguf", "path": "/m/slow.gguf", "bytes": 98_000_000, "fingerprint": "f"},
}
STEPS = [
    {"phase": "quantizing", "fraction": 0.25}, Wait("written"), {"phase": "measuring", "fraction": 0.5}, Wait("measured"),
    {"done": True, "copy": COPY},
]


@pytest.fixture
def slow(host):
    host.add_model("slow", state="Installed", installedBytes=98_000_000, path="/m/slow.gguf")
    host.slow_models = [{"model": "slow.gguf", "types": ["Q4_1"]}]
    host.optimize_steps = list(STEPS)
    return host


def models(page):
    page.click("#open-models")
    sheet = page.get_by_role("dialog", name="Models")
    expect(sheet).to_be_visible()
    return sheet, sheet.locator(".card", has_text="Slow")


def test_a_copy_is_offered_made_used_and_deleted(slow, chat):
    sheet, card = models(chat)
    expect(card).to_contain_text("stored in a way that is slow on this device (Q4_1)")

    card.get_by_role("button", name="Make a quicker copy: Slow").click()
    expect(card).to_contain_text("Writing the copy… 25%")
    expect(card.get_by_role("progressbar")).to_have_attribute("value", "0.25")
    slow.release("written")
    expect(card).to_contain_text("Comparing it with the original… 50%")
    slow.release("measured")

    expect(card).to_contain_text("The quicker copy reads 2.3 times and writes 1.6 times as fast.")
    expect(card).to_contain_text("It takes 145 MB; the original, 98 MB, stays. Perplexity on the test text: 0.3 % more.")
    expect(card.get_by_role("button", name="Make a quicker copy")).to_have_count(0)
    card.get_by_role("button", name="Use the copy: Slow").click()
    expect(card).to_contain_text("The copy is in use")
    assert slow.loading == ["slow.fast-Q8_0.gguf"]
    # What answers cannot be deleted.
    expect(card.get_by_role("button", name="Delete the copy")).to_have_count(0)

    card.get_by_role("button", name="Use: Slow").click()
    card.get_by_role("button", name="Delete the copy: Slow").click()
    sure = chat.get_by_role("alertdialog", name="Delete the quicker copy of Slow?")
    expect(sure).to_contain_text("Its file (145 MB) is deleted. The original stays.")
    sure.get_by_role("button", name="Delete the copy").click()
    expect(card.get_by_role("button", name="Make a quicker copy: Slow")).to_be_visible()
    assert slow.fast_copies == []


def test_a_making_can_be_stopped_and_what_failed_is_said(slow, chat):
    sheet, card = models(chat)
    card.get_by_role("button", name="Make a quicker copy: Slow").click()
    card.get_by_role("button", name="Stop: Slow").click()
    expect(card.get_by_role("button", name="Make a quicker copy: Slow")).to_be_visible()

    slow.optimizing_stopped.clear()
    slow.optimize_steps = [{"phase": "quantizing", "fraction": 0.1}, {"error": "The disk is full.", "code": "disk_full", "hint": "Make room."}]
    card.get_by_role("button", name="Make a quicker copy: Slow").click()
    expect(card.get_by_role("alert")).to_have_text("The disk is full. Make room.")
    expect(card.get_by_role("button", name="Make a quicker copy: Slow")).to_be_enabled()


def test_a_making_goes_on_while_nobody_looks(slow, chat):
    sheet, card = models(chat)
    card.get_by_role("button", name="Make a quicker copy: Slow").click()
    expect(card).to_contain_text("Writing the copy… 25%")
    chat.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

    sheet, card = models(chat)
    expect(card).to_contain_text("Writing the copy… 25%")
    slow.release("written")
    slow.release("measured")
    expect(card).to_contain_text("The quicker copy reads 2.3 times")


def test_a_file_that_is_in_no_catalogue_is_offered_one_too(host, chat):
    host.imported.append("mine.gguf")
    host.slow_models = [{"model": "mine.gguf", "types": ["F16"]}]
    host.fast_copies = [{**COPY, "name": "mine.fast-Q8_0.gguf", "original": {**COPY["original"], "name": "mine.gguf"}}]
    host.imported.append("mine.fast-Q8_0.gguf")
    chat.click("#open-models")
    sheet = chat.get_by_role("dialog", name="Models")
    card = sheet.locator(".card", has_text="mine.gguf")
    expect(card).to_contain_text("The quicker copy reads 2.3 times")
    # The copy is told on its original's card and has none of its own.
    expect(sheet.locator(".card", has_text="mine.fast-Q8_0.gguf")).to_have_count(0)


def test_a_fast_file_is_offered_nothing(host, chat):
    host.add_model("quick", state="Installed", installedBytes=1, path="/m/quick.gguf")
    chat.click("#open-models")
    sheet = chat.get_by_role("dialog", name="Models")
    expect(sheet.locator(".card", has_text="Quick")).to_be_visible()
    expect(sheet.get_by_role("button", name="Make a quicker copy")).to_have_count(0)
