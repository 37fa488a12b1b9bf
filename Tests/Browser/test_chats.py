"""The list of chats (search, several at once, export) and what can be done with one message."""

import pytest
from playwright.sync_api import expect

from screens import PHONE, more
from scripted_host import Refuse, Wait, done, step, words

NETWORK = ("Failed to load resource", "net::ERR")


def ask(page, text):
    page.fill("#box", text)
    page.press("#box", "Enter")


def answers(page):
    return page.locator(".message.assistant")


def finished(page, count=1):
    expect(answers(page)).to_have_count(count)
    expect(answers(page).last.locator("footer")).to_be_visible()


def two_turns(host, page):
    host.script(words("One."), done())
    ask(page, "first")
    finished(page)
    host.script(words("Two."), done())
    ask(page, "second")
    finished(page, 2)


# The list


def test_a_search_shows_the_words_around_what_was_found(host, chat):
    host.save_chat("Rainbows", [{"role": "user", "content": "Why is <b>violet</b> light on the inside of it?"}])
    host.save_chat("Gardens", [{"role": "user", "content": "What grows in the shade?"}])
    chat.reload()
    chat.get_by_role("searchbox", name="Search chats").fill("VIOLET")

    expect(chat.locator(".chat .title")).to_have_text(["Rainbows"])
    expect(chat.locator(".snippet mark")).to_have_text("violet")
    expect(chat.locator(".snippet")).to_contain_text("Why is <b>violet</b> light on th")
    assert chat.locator(".snippet b").count() == 0
    expect(chat.locator("#announcer")).to_have_text("1 chat found.")
    chat.locator("#search").fill("quantum")
    expect(chat.locator(".drawer .none")).to_have_text("No chat has “quantum” in it.")
    chat.locator("#search").press("Escape")
    expect(chat.locator(".chat .title")).to_have_count(2)
    expect(chat.locator("#drawer")).to_be_visible()


def test_an_older_search_never_replaces_a_newer_one(host, chat):
    host.save_chat("Alpha", [{"role": "user", "content": "alpha"}])
    host.save_chat("Alphabet", [{"role": "user", "content": "alphabet"}])
    chat.reload()
    held = []
    chat.route("**/api/agent/conversations?search=alpha", lambda route: held.append(route))
    with chat.expect_request("**/*search=alpha"):
        chat.fill("#search", "alpha")
    chat.fill("#search", "alphabet")
    expect(chat.locator(".chat .title")).to_have_text(["Alphabet"])

    expect(chat.locator(".chat .title")).to_have_text(["Alphabet"])
    assert len(held) == 1


def test_several_chats_are_deleted_at_once_after_a_question(host, chat):
    ids = [host.save_chat(f"Chat {n}", [{"role": "user", "content": "x"}], n) for n in range(4)]
    chat.reload()
    chat.get_by_role("button", name="Select", exact=True).click()
    expect(chat.locator("#remove-chosen")).to_be_disabled()
    chat.get_by_label("Select “Chat 1”").check()
    chat.get_by_label("Select “Chat 2”").check()
    expect(chat.locator("#selected-count")).to_have_text("2 selected")

    chat.locator("#selection").get_by_role("button", name="Delete").click()
    chat.get_by_role("alertdialog", name="Delete 2 chats?").get_by_role("button", name="Delete").click()

    expect(chat.locator(".chat .title")).to_have_text(["Chat 0", "Chat 3"])
    expect(chat.locator("#selection")).to_be_hidden()
    assert set(host.chats) >= {ids[0], ids[3]} and not {ids[1], ids[2]} & set(host.chats)


def test_all_can_be_ticked_and_escape_gives_up(host, chat):
    for n in range(3):
        host.save_chat(f"Chat {n}", [{"role": "user", "content": "x"}])
    chat.reload()
    chat.get_by_role("button", name="Select", exact=True).click()
    chat.get_by_role("button", name="Select all").click()
    expect(chat.locator("#selected-count")).to_have_text("3 selected")

    chat.keyboard.press("Escape")

    expect(chat.locator(".drawer input[type=checkbox]")).to_have_count(0)
    expect(chat.locator(".chat")).to_have_count(3)


def test_deleting_that_is_refused_deletes_nothing_here(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.save_chat("Stays", [{"role": "user", "content": "x"}])
    page.reload()
    host.refuse("POST", "/api/agent/conversations/delete", Refuse(503, "The store is busy.", "busy", "Try again."))
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_label("Select “Stays”").check()
    page.locator("#selection").get_by_role("button", name="Delete").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()

    expect(page.locator(".notice")).to_contain_text("The store is busy. Try again.")
    expect(page.get_by_label("Select “Stays”")).to_be_checked()


@pytest.mark.parametrize("words_,ending", [("Export as Markdown", "md"), ("Export as JSON", "json")])
def test_one_chat_is_exported(host, chat, words_, ending):
    host.save_chat("Mine", [{"role": "user", "content": "hello"}])
    chat.reload()
    chat.get_by_role("button", name="Rename, export or delete “Mine”").click()

    with chat.expect_download() as download:
        chat.get_by_role("link", name=words_).click()

    assert download.value.suggested_filename == f"chat.{ending}"
    assert "hello" in open(download.value.path()).read()


# One message


def test_an_earlier_message_is_edited_and_sent_again(host, chat):
    two_turns(host, chat)
    chat.fill("#box", "an unsent thought")
    more(chat, chat.locator(".message.user").first).get_by_role("button", name="Edit and send again").click()
    expect(chat.locator("#box")).to_have_value("first")
    expect(chat.locator("#editing")).to_contain_text("Sending replaces it and what came after.")
    chat.fill("#box", "first, better")
    host.script(words("Better."), done())
    chat.press("#box", "Enter")

    expect(chat.locator(".message.user .body")).to_have_text(["first, better"])
    finished(chat)
    expect(answers(chat).locator(".body")).to_have_text("Better.")
    expect(chat.locator("#box")).to_have_value("an unsent thought")
    expect(chat.locator("#editing")).to_be_hidden()
    assert host.sent()[-1]["messages"] == [{"role": "user", "content": "first, better"}]


def test_a_given_up_edit_puts_everything_back(host, chat):
    two_turns(host, chat)
    chat.fill("#box", "an unsent thought")
    more(chat, chat.locator(".message.user").first).get_by_role("button", name="Edit and send again").click()
    chat.fill("#box", "something else")

    chat.locator("#editing").get_by_role("button", name="Cancel").click()

    expect(chat.locator("#box")).to_have_value("an unsent thought")
    expect(chat.locator(".message")).to_have_count(4)


def test_a_refused_edit_leaves_the_chat_as_it_was(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    two_turns(host, page)
    more(page, page.locator(".message.user").first).get_by_role("button", name="Edit and send again").click()
    host.script(Refuse(409, "The model is being changed.", "busy"))
    page.fill("#box", "first, better")
    page.press("#box", "Enter")

    expect(page.locator(".notice")).to_contain_text("The model is being changed.")
    expect(page.locator(".message .body")).to_have_text(["first", "One.", "second", "Two."])
    expect(page.locator("#box")).to_have_value("first, better")
    expect(page.locator("#editing")).to_be_visible()


def test_a_branch_is_a_new_chat_with_everything_up_to_there(host, chat):
    two_turns(host, chat)
    more(chat, answers(chat).first).get_by_role("button", name="Branch from here").click()

    expect(chat.locator(".message .body")).to_have_text(["first", "One."])
    expect(chat.locator(".chat")).to_have_count(2)
    ask(chat, "another way")
    finished(chat, 2)
    assert [m["content"] for m in host.sent()[-1]["messages"]] == ["first", "One.", "another way"]
    assert sorted(len(c["messages"]) for c in host.chats.values() if c["messages"]) == [4, 4]


def test_a_branch_of_a_chat_not_drawn_whole_begins_at_the_right_message(host, open_page):
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"message {n}"} for n in range(100)]
    host.cold, host.bound = False, host.save_chat("Long", messages)
    page = open_page(host.url)

    more(page, page.locator(".message", has_text="message 91")).get_by_role("button", name="Branch from here").click()

    expect(page.locator(".notice")).to_contain_text("This is a new chat")
    expect(page.locator(".message .body").last).to_have_text("message 91")
    assert [body for _, path, body in host.requests if path.endswith("/branch")] == [{"messages": 92}]


@pytest.mark.parametrize("cut", [{"truncated": True}, {"aborted": True}])
def test_a_cut_answer_can_go_on(host, chat, cut):
    host.script(words("So far"), done(**cut))
    ask(chat, "a long one")
    finished(chat)
    chat.fill("#box", "unsent")
    host.script(words(" and on."), done())

    chat.get_by_role("button", name="Let the answer go on where it was cut off").click()

    finished(chat, 2)
    expect(chat.locator("#box")).to_have_value("unsent")
    assert [m["content"] for m in host.sent()[-1]["messages"]][1:] == ["So far", "Go on exactly where you stopped. Do not repeat anything."]


def test_a_whole_answer_offers_no_continuation_and_only_the_last_can_be_taken_back(host, chat):
    two_turns(host, chat)

    expect(chat.get_by_role("button", name="Let the answer go on")).to_have_count(0)
    expect(chat.locator(".undo:visible")).to_have_count(1)
    expect(answers(chat).last.locator(".undo")).to_be_visible()


def test_undo_takes_back_the_turn_and_its_files_and_redo_brings_both(host, chat):
    host.script(words("One."), done())
    ask(chat, "first")
    finished(chat)
    host.files_put_back = ["notes.txt", "a/b.csv"]
    host.script(step("write_file", "notes.txt"), words("Written."), done())
    ask(chat, "write it")
    finished(chat, 2)

    answers(chat).last.get_by_role("button", name="Take back this message").click()

    expect(chat.locator(".message .body")).to_have_text(["first", "One."])
    expect(chat.locator("#box")).to_have_value("write it")
    expect(chat.locator(".notice")).to_contain_text("these files are as before: notes.txt and a/b.csv.")
    chat.get_by_role("button", name="Redo").click()
    finished(chat, 2)
    expect(answers(chat).last.locator(".body")).to_have_text("Written.")
    expect(chat.locator("#box")).to_have_value("")


def test_a_double_click_takes_one_turn_back(host, chat):
    two_turns(host, chat)

    answers(chat).last.get_by_role("button", name="Take back this message").dblclick()

    expect(chat.locator(".notice")).to_have_count(1)
    expect(chat.locator(".message .body")).to_have_text(["first", "One."])
    expect(chat.locator("#box")).to_have_value("second")
    assert len([path for _, path, _ in host.requests if path.endswith("/rewind")]) == 1


def test_redo_is_offered_until_the_next_send(host, chat):
    two_turns(host, chat)
    answers(chat).last.get_by_role("button", name="Take back this message").click()
    expect(chat.get_by_role("button", name="Redo")).to_be_visible()

    ask(chat, "second, otherwise")
    finished(chat, 2)

    expect(chat.get_by_role("button", name="Redo")).to_have_count(0)
    assert [m["content"] for m in host.sent()[-1]["messages"]] == ["first", "One.", "second, otherwise"]


def test_redo_is_still_offered_after_a_reload(host, chat):
    two_turns(host, chat)
    answers(chat).last.get_by_role("button", name="Take back this message").click()
    expect(chat.get_by_role("button", name="Redo")).to_be_visible()

    chat.reload()
    chat.get_by_role("button", name="Redo").click()

    finished(chat, 2)
    expect(answers(chat).last.locator(".body")).to_have_text("Two.")


def test_an_undo_that_fails_changes_nothing(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    two_turns(host, page)
    conversation = next(iter(host.turns.values())).conversation
    host.refuse("POST", f"/api/agent/conversations/{conversation}/rewind", Refuse(409, "A turn is running.", "turn_running", "Stop it first."))

    answers(page).last.get_by_role("button", name="Take back this message").click()

    expect(page.locator(".notice")).to_contain_text("A turn is running. Stop it first.")
    expect(page.locator(".message")).to_have_count(4)


def test_an_undo_in_a_window_left_behind_shows_what_is_new_and_takes_nothing(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    two_turns(host, page)
    conversation = next(iter(host.turns.values())).conversation
    url = f"/api/agent/conversations/{conversation}/rewind"
    more_said = [{"role": "user", "content": "third"}, {"role": "assistant", "content": "Three."}]
    host.chats[conversation]["messages"] = host.chats[conversation]["messages"] + more_said
    host.refuse("POST", url, Refuse(409, "This chat is not as it was shown here.", "chat_changed", "Do it again if it still fits."))

    answers(page).last.get_by_role("button", name="Take back this message").click()

    expect(page.locator(".notice")).to_contain_text("This chat is not as it was shown here. Do it again if it still fits.")
    expect(page.locator(".message .body")).to_have_text(["first", "One.", "second", "Two.", "third", "Three."])
    assert [body for method, path, body in host.requests if (method, path) == ("POST", url)] == [{"seen": 4, "seenEnd": "Two."}]
    answers(page).last.get_by_role("button", name="Take back this message").click()
    expect(page.locator("#box")).to_have_value("third")
    expect(page.locator("#send")).to_be_enabled()
    assert {"seen": 6, "seenEnd": "Three."} in [body for _, path, body in host.requests if path == url]


# Answers that were cut off


def test_an_answer_that_was_cut_off_says_so_and_can_go_on_or_be_asked_for_again(host, chat):
    host.save_chat("Cut", [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two", "interrupted": True}])
    chat.reload()
    chat.locator(".chat", has_text="Cut").click()

    expect(answers(chat).last).to_contain_text("Alcove ended while this was being written, so it is not complete.")
    expect(answers(chat).last.get_by_role("button", name="Ask for another answer")).to_be_visible()
    host.script(words(", three."), done())
    answers(chat).last.get_by_role("button", name="Let the answer go on").click()
    finished(chat, 2)
    sent = host.sent()[-1]["messages"]
    assert [m["content"] for m in sent[:2]] == ["Count.", "One, two"] and sent[1]["interrupted"] is True
    expect(answers(chat).last).not_to_contain_text("Alcove ended")


def test_a_question_without_an_answer_can_be_asked_again_or_taken_back(host, chat):
    host.save_chat("Bare", [{"role": "user", "content": "First?"}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Why?"}])
    chat.reload()
    chat.locator(".chat", has_text="Bare").click()
    expect(answers(chat).last).to_contain_text("This has not been answered.")
    host.script(Wait("go"), words("Because."), done())

    answers(chat).last.get_by_role("button", name="Ask for another answer").click()
    expect(chat.get_by_text("This has not been answered.")).to_have_count(0)
    host.release("go")
    finished(chat, 2)
    expect(chat.locator(".message .body")).to_have_text(["First?", "Yes.", "Why?", "Because."])
    assert [m["content"] for m in host.sent()[-1]["messages"]] == ["First?", "Yes.", "Why?"]

    host.save_chat("Bare too", [{"role": "user", "content": "And?"}])
    chat.reload()
    chat.locator(".chat", has_text="Bare too").click()
    answers(chat).last.get_by_role("button", name="Take back this message").click()
    expect(chat.locator("#box")).to_have_value("And?")
    expect(chat.locator(".message")).to_have_count(0)


def test_a_title_shows_nothing_that_could_turn_it_about(host, chat):
    host.save_chat("tax\u202efdp.exe\u0007\nnext", [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}])
    chat.reload()
    expect(chat.locator(".chat .title")).to_have_text("taxfdp.exe next")
    chat.locator(".drawer .more").click()
    field = chat.get_by_role("textbox", name="Title")
    expect(field).to_have_value("taxfdp.exe next")
    field.fill("a\u202eb\u0000c")
    chat.get_by_role("button", name="Save").click()
    expect(chat.locator(".chat .title")).to_have_text("abc")
    assert [body for method, path, body in host.requests if method == "POST" and body == {"title": "abc"}]


def test_a_message_is_copied_from_its_sheet(host, open_page):
    page = open_page(host.url, viewport=PHONE)
    page.fill("#box", "my *words*")
    page.click("#send")
    finished(page)
    more(page, page.locator(".message.user")).get_by_role("button", name="Copy the message").click()

    expect(page.locator("#message-sheet")).to_have_count(0)
    page.wait_for_function("navigator.clipboard.readText().then((text) => text === 'my *words*')")


# The order of words and steps


def test_words_and_steps_stand_in_the_order_they_came(host, chat):
    host.script(words("First I look."), step("read_file", "a.txt"), words(" Then I write."), step("write_file", "b.txt"),
                Wait("end"), words(" Done."), done())
    ask(chat, "go")
    order = """(article) => [...article.querySelectorAll(":scope > .body, :scope > .trace")].map((part) => part.innerText.trim())"""
    expect(answers(chat).locator(".trace")).to_have_count(2)
    host.release("end")
    finished(chat)

    # The offstage word is for those who do not see the dot.
    expected = ["First I look.", "Done: Read file · a.txt · 1s", "Then I write.", "Done: Wrote file · b.txt · 1s", "Done."]
    tidy = lambda parts: [" ".join(part.split()) for part in parts]
    assert tidy(answers(chat).evaluate(order)) == expected
    ask(chat, "next")
    finished(chat, 2)
    chat.reload()
    expect(answers(chat)).to_have_count(2)
    assert tidy(answers(chat).first.evaluate(order)) == expected


def test_words_for_a_chat_that_was_deleted_elsewhere_go_into_a_new_one(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    two_turns(host, page)
    host.chats.clear()
    host.script(Refuse(404, "There is no such session any more.", "unknown_session", "Open the chat again."))

    ask(page, "third")

    expect(page.locator(".notice")).to_contain_text("That chat is no longer there.")
    expect(page.locator("#empty")).to_be_visible()
    expect(page.locator("#box")).to_have_value("third")
    expect(page.locator(".drawer .none")).to_be_visible()
    page.press("#box", "Enter")
    finished(page)
    expect(page.locator(".message .body")).to_have_text(["third", "You said: third"])
    page.reload()
    expect(page.locator("#box")).to_have_value("")


# Back and forward


def test_back_leads_to_the_chat_before_and_forward_to_the_one_after(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.script(words("One."), done())
    ask(page, "first")
    finished(page)
    page.locator("#new").click()
    expect(page.locator("#empty")).to_be_visible()
    host.script(words("Two."), done())
    ask(page, "second")
    finished(page)

    page.go_back()
    expect(page.locator(".message .body")).to_have_text(["first", "One."])
    page.fill("#box", "a draft of the first")
    page.go_forward()
    expect(page.locator(".message .body")).to_have_text(["second", "Two."])
    expect(page.locator("#box")).to_have_value("")
    page.go_back()
    expect(page.locator("#box")).to_have_value("a draft of the first")

    # A chat that is gone is told of, and what is shown stays.
    del host.chats[page.evaluate("new URLSearchParams(location.hash.slice(1)).get('chat')")]
    page.go_forward()
    expect(page.locator(".message .body")).to_have_text(["second", "Two."])
    page.go_back()
    expect(page.locator(".notice")).to_contain_text("That chat is no longer there.")
    expect(page.locator(".message .body")).to_have_text(["second", "Two."])
    assert page.evaluate("new URLSearchParams(location.hash.slice(1)).get('chat')") in host.chats


def test_an_answer_that_was_stopped_stays_one_in_what_is_sent(host, chat):
    host.script(words("Half"), Wait("never"), done())
    ask(chat, "first")
    expect(answers(chat).last.locator(".body")).to_have_text("Half")
    chat.click("#send")
    finished(chat)

    ask(chat, "second")
    finished(chat, 2)

    assert host.sent()[-1]["messages"][1]["aborted"] is True
    chat.reload()
    expect(answers(chat).first.locator(".facts")).to_have_text("Stopped")
