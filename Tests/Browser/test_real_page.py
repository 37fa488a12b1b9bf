"""Settings, chats, files and models of the real program with its real model, through the page.

ALCOVE_BIN names the program and ALCOVE_MODEL the GGUF file; without them these tests are skipped and say so.
"""

import json
import os
import shutil

from playwright.sync_api import expect
from screens import more

from test_real_host import ANSWER, answer, ask, entry, page, pytestmark  # noqa: F401


def test_settings_are_read_and_saved(page):
    page.click("#open-settings")
    sheet = page.get_by_role("dialog", name="Settings")
    expect(sheet.locator(".now")).to_contain_text("code on")

    sheet.get_by_label("Longest reply").select_option("256")
    with page.expect_response("**/api/agent/settings") as saved:
        sheet.get_by_role("switch", name="Run code").click()

    assert saved.value.status == 200
    expect(sheet.locator(".now")).to_contain_text("code off")
    page.reload()
    page.click("#open-settings")
    expect(sheet.get_by_label("Longest reply")).to_have_value("256")
    expect(sheet.get_by_role("switch", name="Run code")).not_to_be_checked()


def test_the_catalogue_is_shown_with_what_fits(page):
    page.click("#open-models")
    sheet = page.get_by_role("dialog", name="Models")

    expect(sheet.locator(".card", has_text="SmolLM2 135M Instruct").locator(".badge.on")).to_have_text("In use")
    expect(sheet.locator(".card .about", has_text="of memory").first).to_be_attached()


def test_of_a_cut_file_of_chats_the_whole_ones_are_taken_in(open_page, entry, tmp_path):
    page = open_page(entry, allow=["400"])
    chats = [{"id": letter * 32, "title": f"Kept {letter}", "messages": [{"role": "user", "content": "Hello."}]} for letter in "ab"]
    file = tmp_path / "chats.json"
    file.write_text(json.dumps({"conversations": chats})[:-40])
    page.click("#open-settings")
    sheet = page.get_by_role("dialog", name="Settings")

    sheet.locator("input[name=import]").set_input_files(file)
    expect(sheet.get_by_role("alert")).to_contain_text("1 chat was imported")
    expect(sheet.get_by_role("alert")).to_contain_text("cannot be read at byte")
    expect(sheet.get_by_role("alert")).not_to_contain_text("Untitled")

    file.write_text("no chats")
    sheet.locator("input[name=import]").set_input_files(file)
    expect(sheet.get_by_role("alert")).to_contain_text("The file of chats cannot be read at byte 0")
    page.keyboard.press("Escape")
    expect(page.locator(".drawer").get_by_text("Kept a")).to_be_visible()
    expect(page.locator(".drawer").get_by_text("Kept b")).to_have_count(0)


def test_a_model_file_of_this_device_is_taken_in(open_page, entry, tmp_path):
    page = open_page(entry, allow=["422"])
    notes = tmp_path / "notes.gguf"
    notes.write_text("no model")
    page.click("#open-models")
    sheet = page.get_by_role("dialog", name="Models")
    sheet.get_by_text("Add a model file from this device").click()
    where = sheet.get_by_label("Where the file lies")

    where.fill(str(notes))
    where.press("Enter")
    expect(sheet.locator(".import .failure")).to_contain_text("notes.gguf")

    shutil.copyfile(os.environ["ALCOVE_MODEL"], tmp_path / "second.gguf")
    where.fill(str(tmp_path / "second.gguf"))
    sheet.get_by_role("switch", name="Copy it into Alcove’s folder").click()
    where.press("Enter")
    expect(sheet.get_by_role("status").filter(has_text="is used where it lies")).to_be_visible()
    expect(sheet.locator(".card", has_text="second")).to_be_visible()


def test_a_turn_is_taken_back_brought_back_branched_searched_and_exported(page):
    ask(page, "Say the word heliotrope.")
    expect(answer(page).locator("footer")).to_be_visible(timeout=ANSWER)
    said = answer(page).locator(".body").inner_text()

    answer(page).get_by_role("button", name="Take back this message").click()
    expect(page.locator("#box")).to_have_value("Say the word heliotrope.")
    expect(page.locator(".message")).to_have_count(0)
    page.get_by_role("button", name="Redo").click()
    expect(answer(page).locator(".body")).to_have_text(said)
    answer(page).get_by_role("button", name="More about this message").click()
    page.get_by_role("button", name="Branch from here").click()
    expect(page.locator(".notice")).to_contain_text("This is a new chat")
    expect(answer(page).locator(".body")).to_have_text(said)

    page.fill("#search", "heliotrope")
    expect(page.locator(".snippet mark").first).to_have_text("heliotrope")
    expect(page.locator(".chat")).to_have_count(2)
    page.locator(".drawer .more").first.click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as JSON").click()
    assert "heliotrope" in json.dumps(json.loads(open(download.value.path()).read()))
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_role("button", name="Select all").click()
    page.locator("#selection").get_by_role("button", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(page.locator(".drawer .none")).to_be_visible()


def test_a_text_file_goes_with_a_message_and_is_there_after_a_reload(page):
    page.click("#attach")
    page.locator("#attach-sheet input[name=file]").set_input_files(
        {"name": "note.txt", "mimeType": "text/plain", "buffer": b"The colour is heliotrope."})
    expect(page.locator(".chip[data-state=ready]")).to_have_text("note.txt")
    ask(page, "Which colour?")
    expect(answer(page).locator("footer")).to_be_visible(timeout=ANSWER)

    page.reload()

    expect(page.locator(".message.user .document")).to_have_text("note.txt")
    expect(page.locator(".message.user .body")).to_have_text("Which colour?")
    address = page.locator(".message.user .document").get_attribute("href")
    assert page.evaluate("(address) => fetch(address).then((reply) => reply.text())", address) == "The colour is heliotrope."


def test_a_window_left_behind_takes_nothing_away(open_page, entry):
    first = open_page(entry, allow=["409"])
    expect(first.locator("#model")).to_have_attribute("data-state", "Loaded", timeout=ANSWER)
    first.locator("#new").click()
    expect(first.locator("#empty")).to_be_visible()
    ask(first, "Say hello.")
    expect(answer(first).locator(".facts")).to_contain_text("tok/s", timeout=ANSWER)
    second = open_page(f"{entry}#{first.url.partition('#')[2]}", allow=["409"])
    expect(second.locator("#model")).to_have_attribute("data-state", "Loaded", timeout=ANSWER)
    expect(second.locator(".message.assistant")).to_have_count(1)
    ask(first, "Say it again.")
    expect(first.locator(".message.assistant")).to_have_count(2)
    expect(answer(first).locator(".facts")).to_contain_text("tok/s", timeout=ANSWER)

    answer(second).get_by_role("button", name="Take back this message").click()
    expect(second.get_by_role("alert")).to_contain_text("This chat is not as it was shown here")
    expect(second.locator(".message.assistant")).to_have_count(2)
    expect(second.locator("#box")).to_have_value("")
    # A third turn, which the second window has not seen either.
    ask(first, "And again.")
    expect(first.locator(".message.assistant")).to_have_count(3)
    expect(answer(first).locator(".facts")).to_contain_text("tok/s", timeout=ANSWER)

    ask(second, "And once more.")

    expect(second.get_by_role("alert")).to_contain_text("This chat is not as it was shown here")
    expect(second.locator(".message.assistant")).to_have_count(3)
    expect(second.locator("#box")).to_have_value("And once more.")
    second.press("#box", "Enter")
    expect(second.locator(".message.assistant")).to_have_count(4)
    expect(answer(second).locator(".facts")).to_contain_text("tok/s", timeout=ANSWER)
    # The first is the one left behind now, and a question that is written anew there stays in its box.
    more(first, first.locator(".message.user").first).get_by_role("button", name="Edit and send again").click()
    first.fill("#box", "Say goodbye.")
    first.press("#box", "Enter")
    expect(first.locator(".message.assistant")).to_have_count(4)
    expect(first.locator("#box")).to_have_value("Say goodbye.")
    expect(first.get_by_role("alert")).to_contain_text("This chat is not as it was shown here")
