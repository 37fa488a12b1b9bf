"""The models: what is offered first, downloads that are followed, stopped and taken up, Use and Delete."""

import pytest
from playwright.sync_api import expect

from scripted_host import Drop, Refuse, Wait, done, words

NETWORK = ("Failed to load resource", "net::ERR")


def progress(received, speed=5_000_000, left=130, **changes):
    return {"file": "w.gguf", "fileIndex": 1, "fileCount": 2, "phase": "downloading", "received": received,
            "total": 2_000_000_000, "fraction": received / 2_000_000_000, "bytesPerSecond": speed, "etaSeconds": left, **changes}


def models(page):
    page.click("#open-models")
    sheet = page.get_by_role("dialog", name="Models")
    expect(sheet).to_be_visible()
    return sheet


def card(sheet, name):
    return sheet.locator(".card", has_text=name)


def test_three_are_recommended_and_the_rest_is_a_tap_away(host, chat):
    for name in "abcd":
        host.add_model(f"good-{name}", recommended=True)
    host.add_model("giant", fits=False, minDeviceMemoryGB=24, needsBytes=15_000_000_000, freeBytes=6_000_000_000)
    host.add_model("plain", experimental=True, modalities="Image, Audio")
    sheet = models(chat)

    expect(sheet.locator(".card h4:visible")).to_have_text(["Good-A · Q8_0", "Good-B · Q8_0", "Good-C · Q8_0", "SmolLM2 135M Q8_0"])
    sheet.get_by_text("3 more models").click()
    expect(sheet.locator(".rest .card h4")).to_have_text(["Good-D · Q8_0", "Plain · Q8_0 Experimental", "Giant · Q8_0"])

    expect(card(sheet, "Giant")).to_contain_text("Needs 15 GB of memory; 6 GB is free on this device.")
    expect(card(sheet, "Giant")).to_contain_text("Too big")
    expect(card(sheet, "Giant").get_by_role("button")).to_have_count(0)
    host.add_model("other", fits=False, minDeviceMemoryGB=16, needsBytes=5_000_000_000)
    host.add_model("squeezed", verdict="tight", needsBytes=6_500_000_000)
    chat.keyboard.press("Escape")
    sheet = models(chat)
    sheet.get_by_text("5 more models").click()
    expect(card(sheet, "Other")).to_contain_text("Made for devices with 16 GB of memory; this one has 8 GB.")
    expect(card(sheet, "Squeezed")).to_contain_text("Needs about 6.5 GB of memory, and only 6 GB is free now.")
    expect(card(sheet, "Squeezed").get_by_role("button", name="Download: Squeezed")).to_be_visible()
    expect(card(sheet, "Plain")).to_contain_text("4B · 2 GB · text, images, and audio · Licence: Apache-2.0")


def test_a_download_shows_how_far_it_is_and_is_used_when_it_has_come(host, chat):
    host.add_model("tiny", recommended=True)
    host.script_download("tiny", progress(0, speed=0, left=None), Wait("half"), progress(1_000_000_000), Wait("all"),
                         progress(2_000_000_000, phase="verifying"), Wait("checked"), {"done": True})
    sheet = models(chat)

    sheet.get_by_role("button", name="Download: Tiny").click()
    expect(card(sheet, "Tiny").get_by_role("button", name="Stop: Tiny")).to_be_focused()
    host.release("half")
    expect(card(sheet, "Tiny")).to_contain_text("50% · 1 GB of 2 GB · 5 MB a second · 2 min left · file 1 of 2")
    expect(card(sheet, "Tiny").get_by_role("progressbar")).to_have_attribute("value", "0.5")
    host.release("all")
    expect(card(sheet, "Tiny")).to_contain_text("Checking the file…")
    host.release("checked")

    expect(card(sheet, "Tiny")).to_contain_text("In use")
    assert host.loading == ["tiny"]


def test_a_stopped_download_keeps_its_part_and_goes_on_later(host, chat):
    host.add_model("tiny", recommended=True)
    host.script_download("tiny", progress(500_000_000), Wait("never"), {"done": True})
    sheet = models(chat)
    sheet.get_by_role("button", name="Download: Tiny").click()

    sheet.get_by_role("button", name="Stop: Tiny").click()

    expect(card(sheet, "Tiny")).to_contain_text("Stopped. What has arrived is kept.")
    expect(card(sheet, "Tiny")).to_contain_text("500 MB of 2 GB is here")
    host.script_download("tiny", progress(1_900_000_000), {"done": True})
    sheet.get_by_role("button", name="Resume: Tiny").click()
    expect(card(sheet, "Tiny")).to_contain_text("In use")


def test_a_failed_download_says_why_and_can_be_tried_again(host, chat):
    host.add_model("tiny", recommended=True)
    host.script_download("tiny", progress(1), {"error": "The file is not what it should be; it was deleted. Try again."})
    sheet = models(chat)

    sheet.get_by_role("button", name="Download: Tiny").click()

    expect(card(sheet, "Tiny")).to_contain_text("The file is not what it should be; it was deleted. Try again.")
    expect(sheet.get_by_role("status")).to_contain_text("Tiny was not downloaded")
    expect(card(sheet, "Tiny").get_by_role("button", name="Try again: Tiny")).to_be_visible()
    assert host.loading == []


def test_a_refused_download_says_why(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.add_model("tiny", recommended=True)
    host.refuse("POST", "/api/agent/catalog/tiny/download", Refuse(507, "The disk has 1 GB free.", "disk_full", "Make room first."))
    sheet = models(page)

    sheet.get_by_role("button", name="Download: Tiny").click()

    expect(card(sheet, "Tiny")).to_contain_text("The disk has 1 GB free. Make room first.")


def test_leaving_and_coming_back_finds_the_download_where_it_is(host, chat):
    host.add_model("tiny", recommended=True)
    host.script_download("tiny", progress(200_000_000), Wait("on"), progress(1_800_000_000), Wait("end"), {"done": True})
    sheet = models(chat)
    sheet.get_by_role("button", name="Download: Tiny").click()
    expect(card(sheet, "Tiny")).to_contain_text("10%")
    chat.keyboard.press("Escape")
    host.release("on")

    sheet = models(chat)
    expect(card(sheet, "Tiny")).to_contain_text("90%")
    host.release("end")

    # Nobody waits in front of it any more, so it is there and not taken.
    expect(card(sheet, "Tiny").get_by_role("button", name="Use: Tiny")).to_be_visible()
    assert host.loading == []


def test_a_cut_line_is_taken_up_again(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.add_model("tiny", recommended=True)
    host.script_download("tiny", progress(200_000_000), Wait("cut"), Drop(), Wait("end"), progress(1_800_000_000), {"done": True})
    sheet = models(page)
    sheet.get_by_role("button", name="Download: Tiny").click()
    expect(card(sheet, "Tiny")).to_contain_text("10%")

    host.release("cut")
    expect(sheet.get_by_role("status")).to_contain_text("the download goes on in the program")
    host.release("end")

    expect(card(sheet, "Tiny")).to_contain_text("In use")


def test_a_model_is_deleted_only_after_a_question(host, chat):
    host.add_model("tiny", state="Installed", installedBytes=2_000_000_000, path="/m/tiny/tiny.gguf")
    sheet = models(chat)

    sheet.get_by_role("button", name="Delete: Tiny").click()
    question = chat.get_by_role("alertdialog", name="Delete Tiny?")
    expect(question).to_contain_text("Its file (2 GB) is deleted from this device.")
    question.get_by_role("button", name="Delete").click()

    expect(sheet.get_by_role("button", name="Download: Tiny")).to_have_count(1)
    assert host.catalog[0]["state"] == "NotInstalled"


def test_changing_the_model_while_an_answer_is_written_asks_first(host, chat):
    host.add_model("tiny", state="Installed")
    host.script(words("On and"), Wait("never"), words(" on"), done())
    chat.fill("#box", "talk")
    chat.press("#box", "Enter")
    expect(chat.locator(".live .body")).to_have_text("On and")
    sheet = models(chat)

    sheet.get_by_role("button", name="Use: Tiny").click()
    chat.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    assert host.loading == []
    sheet.get_by_role("button", name="Use: Tiny").click()
    chat.get_by_role("alertdialog").get_by_role("button", name="Change").click()

    expect(card(sheet, "Tiny")).to_contain_text("In use")
    expect(chat.locator("#model-name")).to_have_text("tiny")


def test_a_model_that_does_not_load_says_why(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.add_model("tiny", state="Installed")
    host.refuse("POST", "/api/models/load", Refuse(500, "The file ends in the middle of tensor 3.", "model_broken"))
    sheet = models(page)

    sheet.get_by_role("button", name="Use: Tiny").click()

    expect(sheet.get_by_role("alert")).to_contain_text("The file ends in the middle of tensor 3.")
    expect(sheet.get_by_role("button", name="Use: Tiny")).to_be_visible()


def test_a_list_that_cannot_be_read_can_be_asked_for_again(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.add_model("tiny", recommended=True)
    host.refuse("GET", "/api/agent/catalog", Refuse(500, "The catalog cannot be read.", "internal"))
    sheet = models(page)
    expect(sheet).to_contain_text("The list of models could not be read. The catalog cannot be read.")

    sheet.get_by_role("button", name="Try again").click()

    expect(card(sheet, "Tiny")).to_be_visible()


def test_without_a_model_the_empty_page_leads_to_them(host, open_page):
    host.model.update(state="None", id="", name="")
    host.add_model("tiny", recommended=True)
    page = open_page(host.url)

    page.get_by_role("button", name="Choose a model").click()

    expect(card(page.get_by_role("dialog", name="Models"), "Tiny")).to_be_visible()


def test_a_file_of_this_device_is_taken_in_by_its_path(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    sheet = models(page)
    sheet.get_by_text("Add a model file from this device").click()
    where = sheet.get_by_label("Where the file lies")

    where.fill("/home/you/notes.txt")
    sheet.get_by_role("button", name="Add", exact=True).click()
    expect(sheet.get_by_text("notes.txt is not a GGUF file. Choose a .gguf file.")).to_be_visible()
    expect(where).to_be_focused()
    expect(where).to_have_value("/home/you/notes.txt")
    expect(where).to_have_attribute("aria-invalid", "true")

    where.fill(" /home/you/own-it-Q4_0.gguf ")
    sheet.get_by_role("switch", name="Copy it into Alcove’s folder").click()
    where.press("Enter")
    expect(sheet.get_by_text("own-it-Q4_0.gguf is used where it lies (4.2 MB).")).to_be_visible()
    expect(where).to_have_value("")
    assert [body for method, path, body in host.requests if path == "/api/models/import"][-1] == {"path": "/home/you/own-it-Q4_0.gguf", "copy": False}

    sheet.get_by_role("button", name="Use: own Q4_0").click()
    expect(card(sheet, "own Q4_0")).to_contain_text("In use")
