"""The box as a command surface: explicit commands with no model loaded, and words that other programs put into it."""

import json
import os
import subprocess

import pytest
from playwright.sync_api import expect
from test_kept import PROGRAM, entry, pytestmark  # noqa: F401


@pytest.fixture
def page(open_page, entry):
    return open_page(entry)


def leave(root, *words):
    subprocess.run([PROGRAM, "open", "--no-browser", "--root", root, *words], check=True, capture_output=True)


def send(page, text):
    page.fill("#box", text)
    page.press("#box", "Enter")


def allow(page, times):
    waiting = page.locator(".ask[data-state=waiting]")
    for _ in range(times):
        asked = waiting.get_attribute("aria-labelledby")
        waiting.locator("[data-outcome=allowed]").click()
        expect(page.locator(f".ask[aria-labelledby={asked}]")).to_have_count(0)


def last(page):
    return page.locator("article.assistant").last


def kept(page, kind):
    return page.evaluate(f"fetch('/api/agent/kept?kind={kind}').then((answer) => answer.json())")["items"]


def test_three_plans_run_with_no_model_loaded(page):
    expect(page.locator("#box")).to_have_attribute("placeholder", "No model yet. Commands work: list tasks")

    send(page, "Add task Buy milk, then list tasks, then calculate 6*7")
    allow(page, 1)
    expect(last(page)).to_contain_text("6*7 = 42")
    expect(last(page).get_by_role("checkbox", name="To do")).to_have_count(1)

    send(page, "remember that the key is under the mat, then capture decision: We bake bread")
    allow(page, 2)
    expect(last(page)).to_contain_text("Kept the decision")

    send(page, "完成任务 milk，然后列出所有任务")
    allow(page, 1)
    expect(last(page).get_by_role("checkbox", name="Done")).to_be_checked()

    assert [task["state"] for task in kept(page, "task")] == ["done"]
    assert len(kept(page, "memory")) == 1
    runs = page.evaluate("fetch('/api/agent/runs').then((answer) => answer.json())")["runs"]
    assert [(run["state"], len(run["receipts"])) for run in runs] == [("completed", 2), ("completed", 2), ("completed", 3)]


def test_conversation_without_a_model_gives_the_words_back(open_page, entry):
    page = open_page(entry, allow=["400"])
    send(page, "Tell me a story")

    expect(page.locator(".notice")).to_contain_text("No model is loaded.")
    expect(page.locator("#box")).to_have_value("Tell me a story")


def test_words_are_put_into_the_box_once_and_not_sent(page, tmp_path):
    leave(tmp_path, "--ask", "What is due\x1b this week?")
    page.reload()

    expect(page.locator("#box")).to_have_value("What is due this week?")
    expect(page.locator("#box")).to_be_focused()
    assert os.listdir(tmp_path / "share") == []
    page.reload()
    expect(page.locator("#box")).to_have_value("What is due this week?")
    page.fill("#box", "")
    page.reload()
    expect(page.locator("#box")).to_have_value("")
    assert page.evaluate("fetch('/api/agent/runs').then((answer) => answer.json())")["runs"] == []


@pytest.mark.parametrize("text", ["We bake, then we rest.", "She said \"then\", and left.", "面包，然后休息"])
def test_what_is_captured_is_a_command_to_be_sent_by_a_person(open_page, entry, tmp_path, text):
    leave(tmp_path, "--capture", text)
    page = open_page(entry, locale="zh-CN" if "面" in text else "en-US")
    expect(page.locator("#box")).not_to_have_value("")
    assert kept(page, "knowledge") == []

    page.press("#box", "Enter")
    allow(page, 1)

    page.wait_for_function("fetch('/api/agent/kept?kind=knowledge').then((a) => a.json()).then(({ items }) => items.length === 1)")
    assert [item["text"] for item in kept(page, "knowledge")] == [text]


def test_to_go_on_opens_the_chat_that_is_meant(page, tmp_path):
    send(page, "what is 2+2")
    expect(last(page)).to_contain_text("2+2 = 4")
    chat = json.loads(json.dumps(page.evaluate("location.hash")))
    page.click("#new")
    expect(page.locator("article")).to_have_count(0)
    leave(tmp_path, "--continue", "last")

    page.reload()

    expect(page.locator("#box")).to_have_value("Let us go on where we stopped.")
    expect(last(page)).to_contain_text("2+2 = 4")
    assert page.evaluate("location.hash") == chat


def sheet_of_settings(page):
    page.click("#open-settings")
    sheet = page.get_by_role("dialog", name="Settings")
    expect(sheet).to_be_visible()
    return sheet


def host_settings(page):
    return page.evaluate("fetch('/api/agent/settings').then((answer) => answer.json())")


def test_limits_and_prompt_are_drafts_until_they_are_saved(page):
    sheet = sheet_of_settings(page)
    save = sheet.locator("#settingsAssistant ~ form").get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    sheet.get_by_label("Steps of a run").fill("4")
    sheet.get_by_label("System prompt").fill("Answer in Latin.")
    expect(sheet.locator("form.draft").first).to_contain_text("Not saved yet.")
    assert host_settings(page)["assistantSteps"] == 3

    # A closed sheet keeps the draft, and saves nothing.
    page.keyboard.press("Escape")
    sheet = sheet_of_settings(page)
    expect(sheet.get_by_label("Steps of a run")).to_have_value("4")
    with page.expect_response("**/api/agent/settings") as saved:
        save.click()
    assert saved.value.request.post_data_json == {"assistantSteps": 4, "systemPrompt": "Answer in Latin."}
    expect(save).to_be_disabled()
    kept = host_settings(page)
    assert (kept["assistantSteps"], kept["systemPrompt"]) == (4, "Answer in Latin.")

    sheet.get_by_label("Longest run").fill("20")
    sheet.locator("form.draft").first.get_by_role("button", name="Discard changes").click()
    expect(sheet.get_by_label("Longest run")).to_have_value("300")
    page.keyboard.press("Escape")
    send(page, "list tasks, then calculate 1+1, then calculate 2+2, then calculate 3+3")
    expect(last(page)).to_contain_text("3+3 = 6")


def test_a_limit_outside_its_range_is_not_saved(page):
    sheet = sheet_of_settings(page)
    sheet.get_by_label("Rounds of a run").fill("99")
    sheet.locator("form.draft").first.get_by_role("button", name="Save").click()

    assert sheet.get_by_label("Rounds of a run").evaluate("(input) => input.validity.rangeOverflow")
    assert host_settings(page)["assistantRounds"] == 3


def test_the_calendar_is_opened_and_named_and_a_refusal_is_told(open_page, entry, tmp_path):
    page = open_page(entry, allow=["400"])
    (tmp_path / "a.ics").write_text("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n")
    sheet = sheet_of_settings(page)
    sheet.get_by_role("switch", name="The assistant may ask to read the calendar").click()
    form = sheet.locator("form.draft").last
    sheet.get_by_label("Where the calendar is").fill("a.ics")
    form.get_by_role("button", name="Save").click()
    expect(sheet.get_by_role("alert")).to_contain_text("calendarPath")
    expect(sheet.get_by_label("Where the calendar is")).to_have_value("a.ics")

    sheet.get_by_label("Where the calendar is").fill(str(tmp_path / "a.ics"))
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("button", name="Save")).to_be_disabled()
    page.keyboard.press("Escape")
    send(page, "what's on my calendar today")
    allow(page, 1)
    expect(last(page)).to_contain_text("Nothing is in the calendar for today")


def test_what_is_taken_up_is_shown(page):
    sheet = sheet_of_settings(page)

    expect(sheet.locator(".resources")).to_contain_text("On the disk: chats")
    expect(sheet.locator(".resources")).to_contain_text("Free on the disk")
