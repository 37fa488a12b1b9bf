"""Knowledge, handoffs, tasks and activity on the page, with the real program and no model loaded."""

import json
import os
import subprocess
import time

import pytest
from playwright.sync_api import expect
from screens import PHONE

PROGRAM = os.environ.get("ALCOVE_BIN")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="ALCOVE_BIN names no program, so the page was not tried against the real one.")
if not PROGRAM:
    print("\nSKIPPED: ALCOVE_BIN names no program, so the page was not tried against the real one.")


@pytest.fixture
def entry(tmp_path):
    program = subprocess.Popen(
        [PROGRAM, "serve", "--port", "0", "--root", tmp_path, "--no-model"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    connection = tmp_path / "connection.json"
    deadline = time.monotonic() + 60
    while not connection.exists() or not connection.read_bytes().endswith(b"}\n") and not connection.read_bytes().endswith(b"}"):
        assert program.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    found = json.loads(connection.read_text())
    yield f"{found['url'].rstrip('/')}/?token={found['token']}"
    program.terminate()
    program.wait(20)


def open_kept(page, tab="Knowledge"):
    page.click("#open-kept")
    sheet = page.get_by_role("dialog", name="Knowledge")
    if tab != "Knowledge":
        sheet.get_by_role("tab", name=tab).click()
    return sheet


def keep(sheet, text, kind="Note"):
    sheet.get_by_label("What it is").select_option(label=kind)
    sheet.get_by_label("Something worth keeping").fill(text)
    sheet.get_by_role("button", name="Keep").click()
    expect(sheet.locator("ul.kept > li").filter(has_text=text).first).to_be_visible()


def test_knowledge_is_kept_found_digested_and_deleted_with_what_was_made_of_it(entry, open_page):
    page = open_page(entry)
    sheet = open_kept(page)
    expect(sheet.locator("ul.kept")).to_contain_text("Nothing is kept yet")
    for number in range(4):
        keep(sheet, f"thing {number} about bread")
    keep(sheet, "Which oven is it?", "Question")

    expect(sheet.locator("ul.kept > li")).to_have_count(6)
    expect(sheet.locator("ul.kept > li").first).to_contain_text("Digest")
    expect(sheet.locator(".insights")).to_contain_text("Nothing answers “Which oven is it?”.")
    sheet.get_by_role("searchbox", name="Search what is kept").fill("thing 2")
    expect(sheet.locator("ul.kept > li").first).to_contain_text("thing 2 about bread")
    sheet.get_by_role("searchbox", name="Search what is kept").fill("")
    item = sheet.locator("ul.kept > li").filter(has_text="thing 2 about bread").last
    item.locator("summary").click()
    item.get_by_role("button", name="Delete").click()
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("“thing 2 about bread” is deleted")
    expect(question).to_contain_text("Digest: 4 notes, 1 question")
    question.get_by_role("button", name="Delete").click()
    expect(sheet.locator("ul.kept > li")).to_have_count(4)


def test_tasks_are_ticked_and_handoffs_fill_the_box(entry, open_page):
    page = open_page(entry)
    sheet = open_kept(page, "Tasks")
    sheet.get_by_label("What is to be done").fill("Buy milk")
    sheet.get_by_role("button", name="Add").click()
    box = sheet.get_by_role("checkbox", name="Buy milk")
    box.check()
    expect(sheet.locator(".past")).to_have_text("Buy milk")
    sheet.get_by_role("checkbox", name="Buy milk").uncheck()
    expect(sheet.locator(".past")).to_have_count(0)

    sheet.get_by_role("tab", name="Tasks").press("ArrowLeft")
    expect(sheet.get_by_role("tab", name="Handoffs")).to_be_focused()
    sheet.get_by_label("Its name, if you like").fill("Before the holidays")
    sheet.get_by_role("button", name="Create").click()
    item = sheet.locator("ul.kept > li").filter(has_text="Before the holidays")
    item.locator("summary").click()
    expect(item).to_contain_text("- Buy milk (")
    item.get_by_role("button", name="Restore").click()
    expect(page.locator("#kept")).to_have_count(0)
    # In the box, to be read; nothing was sent.
    assert "- Buy milk (" in page.input_value("#box") and "as context only" in page.input_value("#box")
    expect(page.locator("#transcript > *")).to_have_count(0)
    sheet = open_kept(page, "Handoffs")
    item = sheet.locator("ul.kept > li").filter(has_text="Before the holidays")
    item.locator("summary").click()
    item.get_by_role("button", name="Take out of use").click()
    expect(sheet.locator("ul.kept > li .badge")).to_have_text("Out of use")


def test_what_the_host_refuses_is_said_in_the_sheet(entry, open_page):
    page = open_page(entry, allow=["400"])
    sheet = open_kept(page, "Tasks")
    sheet.get_by_label("What is to be done").fill("x" * 400)
    sheet.get_by_role("button", name="Add").click()

    expect(sheet.get_by_role("alert")).to_contain_text("title")
    assert sheet.get_by_label("What is to be done").input_value() == "x" * 400


@pytest.mark.parametrize("viewport", [PHONE])
def test_on_a_phone_nothing_is_wider_than_the_sheet(entry, open_page, viewport):
    page = open_page(entry, viewport=viewport)
    page.click("#menu")
    sheet = open_kept(page)
    keep(sheet, "a_word_without_any_end_" * 12)

    assert page.evaluate("document.querySelector('#kept .content').scrollWidth <= document.querySelector('#kept .content').clientWidth")
    for name in ("Handoffs", "Tasks"):
        box = sheet.get_by_role("tab", name=name).bounding_box()
        assert box["height"] >= 44


def test_activity_tells_runs_with_receipts_and_clears_them(entry, open_page, tmp_path):
    page = open_page(entry)
    token, base = entry.split("token=")[1], entry.split("/?")[0]
    session = page.request.post(f"{base}/api/sessions?conversation=new", data={}, headers={"Authorization": f"Bearer {token}"}).json()
    done = page.request.post(f"{base}/api/chat", headers={"Authorization": f"Bearer {token}"}, data={
        "sessionId": session["sessionId"], "profile": "assistant",
        "messages": [{"role": "user", "content": "what is 6*7, then list tasks"}]})
    assert "6*7 = 42" in done.text()
    page.click("#open-activity")
    sheet = page.get_by_role("dialog", name="Activity")
    expect(sheet.locator("p.facts").first).to_have_text("Chats: 1. Runs: 1. Receipts: 2.")
    run = sheet.locator("ul.kept > li").first
    expect(run).to_contain_text("Done")
    run.locator("summary").first.click()
    expect(run.locator(".receipt")).to_have_count(2)
    expect(run).to_contain_text("calculator")
    sheet.get_by_role("button", name="Clear chat and run activity").click()
    question = page.get_by_role("alertdialog")
    expect(question).to_contain_text("messages 2, runs 1, receipts 2")
    question.get_by_role("button", name="Clear chat and run activity").click()
    expect(page.locator("#activity")).to_have_count(0)
    page.click("#open-activity")
    expect(page.get_by_role("dialog", name="Activity")).to_contain_text("Nothing has been done yet.")


def ask(page, entry, text, session=None):
    token, base = entry.split("token=")[1], entry.split("/?")[0]
    headers = {"Authorization": f"Bearer {token}"}
    session = session or page.request.post(f"{base}/api/sessions?conversation=new", data={}, headers=headers).json()
    answer = page.request.post(f"{base}/api/chat", headers=headers, data={
        "sessionId": session["sessionId"], "profile": "assistant", "messages": [*session.get("messages", []), {"role": "user", "content": text}]})
    assert answer.ok
    return session, headers, base


def test_a_run_is_told_by_day_with_timeline_counters_and_failures(entry, open_page):
    page = open_page(entry)
    ask(page, entry, "what is 6*7, then inspect knowledge nothing")
    ask(page, entry, "what is 6*7, then list tasks")
    page.click("#open-activity")
    sheet = page.get_by_role("dialog", name="Activity")

    expect(sheet.locator("h3.day")).to_have_text(["Today"])
    runs = sheet.locator("ul.kept > li")
    expect(runs).to_have_count(2)
    runs.first.locator("summary").first.click()
    expect(runs.first.locator(".story .facts").first).to_have_text("rounds 1 · calls 2 · done 2 · failed 0 · asked 0 · allowed 0 · 0s")
    expect(runs.first.locator(".timeline li")).to_have_count(7)
    expect(runs.first.locator(".timeline li").nth(1)).to_contain_text("Said Plan: 1. calculator, 2. tasks_list.")
    expect(runs.first.locator(".timeline li").last).to_contain_text("The run ended complete")
    runs.last.locator("summary").first.click()
    expect(runs.last.locator(".badge")).to_have_text("Failed")
    expect(runs.last.locator(".story .failure")).to_contain_text("knowledge_inspect: There is no")
    expect(runs.last.locator(".timeline li.failed")).to_have_count(1)


def test_a_file_is_kept_with_its_name_and_where_in_it_each_piece_stands(entry, open_page):
    page = open_page(entry)
    sheet = open_kept(page)
    sheet.get_by_label("What it is").select_option(label="Reference")
    text = "\n\n".join(f"Paragraph {number}. " + "We bake bread. " * 100 for number in range(20))
    sheet.locator("input[name=kept-file]").set_input_files({"name": "bread.md", "mimeType": "text/markdown", "buffer": text.encode()})

    expect(sheet.get_by_role("status")).to_have_text("bread.md was kept, in pieces: 2.")
    items = sheet.locator("ul.kept > li")
    expect(items).to_have_count(2)
    items.last.locator("summary").click()
    expect(items.last).to_contain_text("From bread.md, 0")
    items.first.locator("summary").click()
    expect(items.first).to_contain_text("From bread.md, 1")

    sheet.locator("input[name=kept-file]").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": b"\x89PNG\x00"})
    expect(sheet.get_by_role("alert")).to_contain_text("a.png was not kept: it should be a text of at most 256 KB.")


def test_copies_that_handoffs_hold_are_listed_and_removed(entry, open_page):
    page = open_page(entry)
    session, headers, base = ask(page, entry, "what is 6*7")
    session["messages"] = page.request.get(f"{base}/api/agent/conversations/{session['conversationId']}", headers=headers).json()["messages"]
    made = page.request.post(f"{base}/api/agent/kept", headers=headers, data={"tool": "handoffs_create", "arguments": {"title": "By hand"}})
    assert made.ok
    page.evaluate("location.reload()")
    page.wait_for_selector("html[data-started]")
    sheet = open_kept(page, "Handoffs")
    expect(sheet.locator("ul.kept > li")).to_have_count(1)
    expect(sheet).not_to_contain_text("Words copied from chats")
    page.keyboard.press("Escape")

    page.locator(".chat").first.click()
    page.fill("#box", "create handoff Later")
    page.press("#box", "Enter")
    page.locator(".ask[data-state=waiting] [data-outcome=allowed]").click()
    expect(page.locator("article.assistant").last).to_contain_text("Kept the handoff")
    sheet = open_kept(page, "Handoffs")
    fold = sheet.locator("section .fold")
    expect(fold.locator("summary").first).to_have_text("Words copied from chats: 2")
    fold.locator("summary").first.click()
    expect(fold.locator("li").first).to_contain_text("what is 6*7")
    fold.get_by_role("button", name="Remove this copy").first.click()
    expect(sheet.locator("section .fold summary").first).to_have_text("Words copied from chats: 1")


def test_memories_and_the_review_are_shown_when_they_are_looked_at(entry, open_page):
    page = open_page(entry)
    sheet = open_kept(page)
    sheet.get_by_text("Memories").click()
    expect(sheet).to_contain_text("Nothing was remembered yet.")
    keep(sheet, "We bake bread", "Decision")
    page.keyboard.press("Escape")
    page.fill("#box", "remember that the key is under the mat")
    page.press("#box", "Enter")
    page.locator(".ask[data-state=waiting] [data-outcome=allowed]").click()
    expect(page.locator("article.assistant").last).to_contain_text("Remembered")

    sheet = open_kept(page)
    sheet.get_by_text("Memories").click()
    expect(sheet.locator(".later").first.locator("li")).to_have_count(1)
    expect(sheet.locator(".later").first).to_contain_text("the key is under the mat")
    sheet.get_by_text("The project, put together and reviewed").click()
    expect(sheet.locator(".later").last).to_contain_text("We bake bread")
    expect(sheet.locator(".later").last).to_contain_text("What stands out")
