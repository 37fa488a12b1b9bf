"""Settings: what is shown, what is saved and when, and everything that concerns all chats."""

import json

import pytest
from playwright.sync_api import expect

from screens import PHONE
from scripted_host import Refuse, done, words

NETWORK = ("Failed to load resource", "net::ERR")


def settings(page):
    if page.locator("#open-settings").is_hidden():
        page.click("#menu")
    page.click("#open-settings")
    sheet = page.get_by_role("dialog", name="Settings")
    expect(sheet).to_be_visible()
    return sheet


def patches(host):
    return [body for method, path, body in host.requests if (method, path) == ("PATCH", "/api/agent/settings")]


def test_each_control_saves_its_own_key_and_nothing_else(host, chat):
    sheet = settings(chat)

    with chat.expect_response("**/api/agent/settings"):
        sheet.get_by_role("switch", name="Allow network access").click()
    sheet.get_by_label("Longest reply").select_option("4096")
    sheet.get_by_label("Precision of the context memory").select_option("q8_0")
    sheet.get_by_label("Context", exact=True).select_option("16384")
    sheet.get_by_role("switch", name="Run code").press("Space")
    sheet.get_by_role("switch", name="Reason before answering").click()
    with chat.expect_response("**/api/agent/settings"):
        sheet.get_by_role("switch", name="Include optional files").click()

    expect(sheet.get_by_role("switch", name="Include optional files")).not_to_be_checked()
    changes = {"allowNetwork": True, "maxTokens": 4096, "kvCacheDtype": "q8_0", "contextLength": 16384,
               "allowCodeExecution": False, "thinkByDefault": True, "downloadOptionalFiles": False}
    assert {key: value for body in patches(host) for key, value in body.items()} == changes
    assert all(len(body) == 1 for body in patches(host))
    assert host.settings == {**host.settings, **changes, "aKeyFromLater": {"kept": True}, "toolTimeoutSeconds": 120}


def test_presses_on_the_stepper_are_one_change_inside_its_range(host, chat):
    host.settings["toolTimeoutSeconds"] = 580
    sheet = settings(chat)
    stepper = sheet.get_by_role("group", name="Longest a command may run")

    with chat.expect_response("**/api/agent/settings"):
        stepper.get_by_role("button", name="Longer").evaluate("(button) => { for (let n = 0; n < 5; n += 1) button.click(); }")

    expect(stepper.locator("output")).to_have_text("10 min")
    expect(stepper.get_by_role("button", name="Longer")).to_have_attribute("aria-disabled", "true")
    assert patches(host) == [{"toolTimeoutSeconds": 600}]


def test_a_control_is_there_only_when_its_key_is(host, chat):
    host.settings = {"maxTokens": 3000, "kvCacheDtype": "q5_1"}
    sheet = settings(chat)

    expect(sheet.get_by_label("Longest reply")).to_have_value("3000")
    expect(sheet.get_by_label("Precision of the context memory")).to_have_value("q5_1")
    expect(sheet.get_by_role("switch")).to_have_count(0)
    expect(sheet.get_by_text("Sandbox")).to_have_count(0)


def test_a_refused_change_is_undone_and_says_why(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.refuse("PATCH", "/api/agent/settings", Refuse(400, "maxTokens should be at most 8192.", "bad_setting", "Choose a smaller one."))
    sheet = settings(page)

    sheet.get_by_label("Longest reply").select_option("262144")

    expect(sheet.get_by_role("alert")).to_have_text("maxTokens should be at most 8192. Choose a smaller one.")
    expect(sheet.get_by_label("Longest reply")).to_have_value("2048")


def test_the_line_under_sandbox_tells_what_the_host_does_now(host, chat):
    sheet = settings(chat)

    expect(sheet.locator(".now")).to_have_text("Now: llama.cpp")


@pytest.mark.parametrize("locale, line", [
    ("en", "Now: CPU · code on · network off"), ("zh-CN", "当前：CPU · 可运行代码 · 不访问网络")])
def test_that_line_is_in_the_language_of_the_page(host, open_page, locale, line):
    host.now = {"device": "CPU", "code": True, "network": False}
    page = open_page(host.url, locale=locale)
    page.click("#open-settings")
    expect(page.locator("#settings .now")).to_have_text(line)
    page.keyboard.press("Escape")
    page.click("#open-about")
    expect(page.locator("#about .now")).to_have_text(line)


def test_all_chats_go_only_after_a_question(host, chat):
    host.save_chat("One", [{"role": "user", "content": "a"}])
    host.save_chat("Two", [{"role": "user", "content": "b"}])
    sheet = settings(chat)
    sheet.get_by_role("button", name="Delete all chats").click()
    question = chat.get_by_role("alertdialog", name="Delete all chats?")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    question.get_by_role("button", name="Cancel").click()
    assert len([c for c in host.chats.values() if c["messages"]]) == 2

    sheet.get_by_role("button", name="Delete all chats").click()
    question.get_by_role("button", name="Delete all chats").click()

    expect(sheet).to_contain_text("chats were deleted.")
    assert not [c for c in host.chats.values() if c["messages"]]
    chat.keyboard.press("Escape")
    expect(chat.locator(".drawer .none")).to_be_visible()


def test_all_chats_are_exported_and_imported_again(host, open_page, tmp_path):
    page = open_page(host.url)
    host.save_chat("Kept", [{"role": "user", "content": "a"}])
    sheet = settings(page)
    with page.expect_download() as download:
        sheet.get_by_role("link", name="Export all chats").click()
    exported = json.loads(open(download.value.path()).read())
    gone = next(iter(c["id"] for c in exported["chats"] if c["messages"]))
    del host.chats[gone]
    exported["chats"].append({"id": "x", "title": "Broken", "messages": None})
    file = tmp_path / "chats.json"
    file.write_text(json.dumps(exported))

    sheet.locator("input[name=import]").set_input_files(file)

    expect(sheet.locator(".failure")).to_contain_text("“Broken” was not imported: It has no messages.")
    expect(sheet.locator(".failure")).to_contain_text("1 chat was imported; ")
    assert host.chats[gone]["title"] == "Kept"


def test_the_language_is_the_persons_choice_and_outlives_a_reload(host, chat):
    chat.fill("#box", "half a thought")
    sheet = settings(chat)
    sheet.get_by_label("Language").select_option("zh-Hans")

    expect(chat.locator("#box")).to_have_attribute("placeholder", "想问什么都可以")
    expect(chat.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(chat.locator("#box")).to_have_value("half a thought")
    chat.reload()
    expect(chat.locator("#box")).to_have_attribute("placeholder", "想问什么都可以")
    chat.click("#open-settings")
    chat.get_by_label("语言").select_option("")
    expect(chat.locator("#box")).to_have_attribute("placeholder", "Ask anything")


def test_the_browsers_language_is_the_default(host, open_page):
    page = open_page(host.url, locale="zh-CN")

    expect(page.locator("#empty-title")).to_have_text("尽管问，都留在这里。")
    expect(page).to_have_title("Alcove")


def test_an_answer_that_met_the_closed_network_offers_the_switch(host, chat):
    host.script(words("It said: The network is off."), done())
    chat.fill("#box", "fetch it")
    chat.press("#box", "Enter")

    chat.get_by_role("button", name="Turn on Network").click()

    expect(chat.get_by_role("button", name="Turn on Network")).to_have_count(0)
    chat.wait_for_load_state("networkidle")
    assert patches(host) == [{"allowNetwork": True}]


def test_a_refusal_leads_to_what_puts_it_right(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.add_model("sees")
    host.script(Refuse(400, "This model cannot see pictures.", "vision_not_ready", "Add vision to it."))
    page.fill("#box", "what is on it?")
    page.press("#box", "Enter")

    page.get_by_role("button", name="Open Models").click()

    expect(page.get_by_role("dialog", name="Models")).to_be_visible()
    expect(page.locator("#box")).to_have_value("what is on it?")


@pytest.mark.parametrize("key", ["Escape", "beside", "button"])
def test_a_sheet_closes_every_way_and_gives_the_focus_back(host, chat, key):
    chat.locator("#open-settings").focus()
    chat.keyboard.press("Enter")
    sheet = chat.get_by_role("dialog", name="Settings")
    expect(sheet).to_be_visible()

    if key == "Escape":
        chat.keyboard.press("Escape")
    elif key == "beside":
        chat.mouse.click(5, 5)
    else:
        sheet.get_by_role("button", name="Close").click()

    expect(sheet).to_have_count(0)
    expect(chat.locator("#open-settings")).to_be_focused()


def test_the_model_sheet_tells_the_figures_and_leads_to_the_models(host, open_page):
    page = open_page(host.url, viewport=PHONE)
    page.click("#model")
    sheet = page.get_by_role("dialog", name="SmolLM2 135M Q8_0")
    expect(sheet).to_contain_text("4,096 of the model’s 8,192 tokens")

    sheet.get_by_role("button", name="Manage models").click()

    expect(page.get_by_role("dialog", name="Models")).to_be_visible()


def test_how_full_the_context_is_stands_in_the_header_and_the_sheet(host, chat):
    host.script(words("Yes."), done(promptTokens=3_500, tokenCount=96))
    chat.fill("#box", "full?")
    chat.press("#box", "Enter")

    expect(chat.locator("#model-sub")).to_have_text("88% of 4K used")
    expect(chat.locator("#gauge")).to_have_class("gauge nearly-full")
    chat.click("#model")
    expect(chat.locator("#model-sheet")).to_contain_text("3,596 of 4,096 tokens (88%)")
    chat.keyboard.press("Escape")
    chat.click("#new")
    expect(chat.locator("#model-sub")).to_have_text("On this device · 4K context")
