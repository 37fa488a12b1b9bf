"""Tools on the page: the switch, the strip, the kept trace, questions to the person, and receipts."""

import re

import pytest
from playwright.sync_api import expect

from screens import PHONE
from scripted_host import Ask, Wait, done, step, words

NETWORK = ("Failed to load resource", "net::ERR")
FILE = {"name": "table.csv", "bytes": 2_600, "url": "/api/code/artifacts/t1/table.csv"}


def ask(page, text="go"):
    page.fill("#box", text)
    page.press("#box", "Enter")


def answer(page):
    return page.locator(".message.assistant").last


def finished(page):
    expect(answer(page).locator("footer")).to_be_visible()


def card(page):
    return page.get_by_role("group", name="May Alcove do this?")


# The switch


def test_tools_are_off_until_switched_on_and_then_stay_on_in_that_chat(host, chat):
    switch = chat.get_by_role("switch", name="Tools")
    expect(switch).to_have_attribute("aria-checked", "false")
    ask(chat, "plain")
    finished(chat)

    switch.focus()
    chat.keyboard.press("Space")
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(chat.locator(".notice")).to_contain_text("before it changes or runs anything, it asks you.")
    ask(chat, "with tools")
    expect(chat.locator(".message.assistant")).to_have_count(2)
    finished(chat)
    chat.reload()
    expect(switch).to_have_attribute("aria-checked", "true")
    chat.click("#new")
    expect(switch).to_have_attribute("aria-checked", "false")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "true")

    expect(chat.locator(".notice")).to_have_count(0)
    assert ["profile" in body for body in host.sent()] == [False, True]
    assert host.sent()[1]["profile"] == "agent"


# The strip and the trace


def test_the_strip_says_what_is_produced_and_ticks(host, chat):
    host.script(
        {"tool_progress": "writing", "tool": "shell", "text": "python3 - <<END\n"}, Wait("written"),
        {"tool_progress": "running", "tool": "shell", "detail": "python3 - <<END", "seconds": 0}, Wait("started"),
        {"tool_progress": "running", "tool": "shell", "text": "one\n\ntwo\n", "seconds": 1},
        {"tool_progress": "running", "tool": "shell", "text": "three\nfour\n", "seconds": 41}, Wait("ran"),
        step("shell", "python3 - <<END", seconds=42.4), Wait("next"), words("Done."), Wait("end"), done(),
    )

    ask(chat)

    expect(chat.locator("#strip-label")).to_have_text("Generating code…")
    expect(chat.locator("#strip-lines")).to_have_text("python3 - <<END")
    host.release("written")
    expect(chat.locator("#strip-label")).to_have_text("Running code…")
    host.release("started")
    expect(chat.locator("#strip")).to_contain_text("Running code… 41s")
    expect(chat.locator("#strip-lines")).to_have_text("two\nthree\nfour", use_inner_text=True)
    expect(chat.locator("#strip")).to_contain_text("Running code… 42s")
    host.release("ran")
    expect(chat.locator("#strip-label")).to_have_text("Ran code")
    expect(chat.locator("#strip-elapsed")).to_have_text("42s")
    expect(chat.locator("#strip-lines")).to_contain_text("four")
    host.release("next")
    expect(chat.locator("#strip-label")).to_have_text("Writing the answer…")
    expect(chat.locator("#strip-lines")).to_be_hidden()
    host.release("end")
    expect(chat.locator("#strip")).to_be_hidden()


def test_the_trace_keeps_each_step_and_tells_a_failure_in_a_word_too(host, chat):
    host.script(
        step("shell", "ls " + "x" * 100, seconds=3.2), step("apply_patch", "notes.txt", ok=False, seconds=0),
        step("made_up", "", ok=False), Wait("rest"), words("Done."), done(stoppedBy="round limit"),
    )

    ask(chat)

    lines = answer(chat).locator(".trace li")
    expect(lines).to_have_text([
        f"Done: Ran code · ls {'x' * 66}… · 3s", "Failed: Applying patch · notes.txt · 0s", "Failed: Running made_up · 1s"])
    dots = [lines.nth(n).locator(".dot").evaluate("(dot) => getComputedStyle(dot).backgroundColor") for n in (0, 1)]
    assert dots[0] != dots[1]
    host.release("rest")
    finished(chat)
    expect(lines).to_have_count(3)
    expect(answer(chat).locator(".facts")).to_contain_text("Stopped at the limit of steps")


def test_files_are_links_that_download_and_only_this_hosts(host, chat):
    host.artifacts[FILE["url"]] = b"a,b\n"
    foreign = {"name": "evil", "bytes": 1, "url": "https://example.com/api/code/artifacts/x"}
    script = {"name": "worse", "bytes": 1, "url": "javascript:alert(1)"}
    page = {"name": "other", "bytes": 1, "url": "/api/agent/engine"}
    host.script({"artifact": FILE}, step("shell", "make", files=[FILE, foreign, script, page]), words("Done."), done())

    ask(chat)
    finished(chat)

    expect(answer(chat).locator(".file")).to_have_text(["table.csv · 3 KB", "evil · 1 KB", "worse · 1 KB", "other · 1 KB"])
    expect(answer(chat).locator(".file a")).to_have_count(1)
    with chat.expect_download() as download:
        answer(chat).get_by_role("link", name="Download table.csv").click()
    assert download.value.suggested_filename == "table.csv"


def test_a_saved_chat_shows_its_steps_and_files_again_and_sends_them_back(host, open_page):
    steps = [
        {"tool": "shell", "detail": "ls", "ok": True, "seconds": 2, "receipt": "r1"},
        {"tool": "read_file", "detail": "gone.txt", "ok": False, "seconds": 0.1, "receipt": None},
    ]
    saved = {"role": "assistant", "content": "Listed.", "steps": steps, "artifacts": [FILE]}
    host.save_chat("Saved", [{"role": "user", "content": "list"}, saved])
    page = open_page(host.url)
    page.locator(".chat").click()

    expect(answer(page).locator(".trace li")).to_have_text(
        ["Done: Ran code · ls · 2s", "Failed: Reading file · gone.txt · 0s", "table.csv · 3 KB"])
    ask(page, "again")
    expect(page.locator(".message.assistant")).to_have_count(2)
    finished(page)
    assert host.sent()[0]["messages"][1] == saved


def test_steps_of_an_answer_go_with_the_next_message(host, chat):
    host.script(step("shell", "ls", receipt="r1", files=[FILE]), words("Done."), done())
    ask(chat)
    finished(chat)
    ask(chat, "next")
    expect(chat.locator(".message.assistant")).to_have_count(2)
    finished(chat)

    sent = host.sent()[1]["messages"][1]
    assert sent["steps"] == [{"tool": "shell", "detail": "ls", "ok": True, "seconds": 1.2, "receipt": "r1", "at": 0}]
    assert sent["artifacts"] == [FILE]


# Questions


def test_allowing_sends_the_exact_signature_once_however_often_it_is_pressed(host, chat):
    question = Ask("q1", shown="rm -r old↵\necho done", signature="shell\u0000{\"a\":1} é", allowed=(*step("shell", "rm -r old"), *words("Removed.")))
    host.script(words("I will tidy up."), question, done())
    ask(chat)

    expect(card(chat)).to_contain_text("shell runs code on this device")
    expect(card(chat).get_by_label("Exactly what will be done")).to_have_text("rm -r old↵\necho done", use_inner_text=True)
    expect(card(chat)).to_contain_text(re.compile(r"(10:00|9:5\d) left"))
    expect(card(chat).get_by_role("button")).to_have_text(["Allow", "Refuse"])
    expect(chat.locator("#box")).to_be_focused()
    expect(chat.locator("#announcer")).to_contain_text("shell runs code on this device")
    expect(chat.locator("#strip-label")).to_have_text("Waiting for your answer…")
    card(chat).get_by_role("button", name="Allow").dblclick()

    finished(chat)
    expect(answer(chat).locator(".ask")).to_contain_text("Allowed · shell runs code on this device")
    expect(answer(chat).locator(".trace li")).to_have_count(2)
    assert host.answers() == [("q1", {"signature": question.signature, "outcome": "allowed"})]


def test_refusing_by_keyboard_keeps_the_readers_place(host, chat):
    host.script(Ask("q1", remember=True, tool="read_file", refused=(*step("read_file", ok=False), *words("Then not."))), done())
    ask(chat)
    expect(card(chat).get_by_role("button")).to_have_text(["Allow", "Allow for this chat", "Refuse"])

    card(chat).get_by_role("button", name="Refuse").focus()
    chat.keyboard.press("Enter")

    finished(chat)
    expect(answer(chat).locator(".ask summary")).to_be_focused()
    expect(answer(chat).locator(".ask summary")).to_contain_text("Refused")
    chat.keyboard.press("Enter")
    expect(answer(chat).locator(".ask .exact")).to_be_visible()
    assert host.answers() == [("q1", {"signature": "signature", "outcome": "refused"})]


def test_allowing_for_the_chat_is_sent_as_that(host, chat):
    host.script(Ask("q1", remember=True), words("Done."), done())
    ask(chat)

    card(chat).get_by_role("button", name="Allow for this chat").click()

    finished(chat)
    expect(answer(chat).locator(".ask")).to_contain_text("Allowed for this chat")
    assert host.answers()[0][1]["outcome"] == "allowed_for_chat"


def test_an_answer_from_another_surface_settles_the_card(host, chat):
    host.script(Ask("q1"), Wait("end"), words("Done."), done())
    ask(chat)
    expect(card(chat)).to_be_visible()

    host.answer("q1", "refused")

    expect(card(chat)).to_have_count(0)
    expect(answer(chat).locator(".ask")).to_contain_text("Refused")
    host.release("end")
    finished(chat)
    assert host.answers() == []


def test_an_answer_that_comes_too_late_says_so(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.script({"approval": Ask("gone").frame()}, Wait("end"), words("Done."), done())
    ask(page)

    card(page).get_by_role("button", name="Allow").click()

    expect(answer(page).locator(".ask")).to_contain_text("Answered elsewhere or expired")
    host.release("end")
    finished(page)


def test_an_answer_that_never_arrived_can_be_given_again(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.script(Ask("q1"), words("Done."), done())
    page.route("**/api/agent/approvals/*", lambda route: route.abort(), times=1)
    ask(page)

    card(page).get_by_role("button", name="Allow").click()
    expect(page.locator(".notice")).to_contain_text("Alcove does not answer")
    expect(card(page).get_by_role("button", name="Allow")).to_be_enabled()
    card(page).get_by_role("button", name="Allow").click()

    finished(page)
    expect(answer(page).locator(".ask")).to_contain_text("Allowed")


def test_after_a_reload_a_waiting_question_waits_and_a_settled_one_is_settled(host, chat):
    host.script(Ask("q1", shown="first"), Ask("q2", shown="second"), words("Done."), done())
    ask(chat)
    card(chat).get_by_role("button", name="Allow").click()
    expect(card(chat)).to_contain_text("second")

    chat.reload()

    expect(card(chat)).to_have_count(1)
    expect(card(chat)).to_contain_text("second")
    expect(answer(chat).locator(".trace .ask")).to_contain_text("Allowed")
    card(chat).get_by_role("button", name="Refuse").click()
    finished(chat)
    assert [(question, body["outcome"]) for question, body in host.answers()] == [("q1", "allowed"), ("q2", "refused")]


def test_after_a_reload_a_question_the_host_no_longer_asks_is_closed(host, chat):
    host.script({"approval": Ask("gone").frame()}, Wait("end"), words("Done."), done())
    ask(chat)
    expect(card(chat)).to_be_visible()

    chat.reload()

    expect(answer(chat).locator(".ask")).to_contain_text("Answered elsewhere or expired")
    host.release("end")
    finished(chat)


def test_what_will_run_is_shown_as_text_and_nothing_in_it_hides_or_acts(host, chat):
    shown = "echo ‹U+202E right-to-left override›gpj.exe <img src=x onerror=alert(1)> <b>bold</b>\u202egnp.exe"
    host.script(Ask("q1", shown=shown, tool="<i>shell</i>"), words("Done."), done())
    ask(chat)

    expect(card(chat).locator(".exact")).to_have_text(shown.replace("\u202e", "‹U+202E›"))
    expect(card(chat)).to_contain_text("<i>shell</i>")
    assert chat.locator(".ask").evaluate("(card) => card.querySelectorAll('img, b, i').length") == 0
    card(chat).get_by_role("button", name="Refuse").click()
    finished(chat)


def test_stop_closes_a_question(host, chat):
    host.script(words("Hm."), Ask("q1"), words("Done."), done())
    ask(chat)
    expect(card(chat)).to_be_visible()

    chat.click("#send")

    expect(answer(chat).locator(".ask")).to_contain_text("No longer asked")
    expect(answer(chat).locator(".facts")).to_have_text("Stopped")


# Receipts


def receipt(id, **changes):
    return {
        "id": id, "tool": "shell", "arguments": '{"command":"ls -l\\n<b>x</b>","seconds":5}', "effect": "runs_code",
        "outcome": "succeeded", "observation": "total 0\n<script>", "startedAt": "2026-03-01T10:00:00Z",
        "finishedAt": "2026-03-01T10:00:02Z", **changes,
    }


def test_what_was_done_is_fetched_when_it_is_opened(host, chat):
    host.script(step("shell", "ls -l", receipt="r1"), step("shell", "false", ok=False, receipt="r2"), words("Done."), done())
    ask(chat)
    finished(chat)
    conversation = next(iter(host.turns.values())).conversation
    host.runs[conversation] = [
        {"id": "t0", "state": "finished", "profile": "agent", "reason": None, "receipts": [receipt("old")]},
        {"id": "t1", "state": "finished", "profile": "agent", "reason": None, "receipts": [receipt("r1"), receipt("r2", outcome="failed")]},
    ]
    asked = lambda: sum(path == "/api/agent/runs" for _, path, _ in host.requests)
    assert asked() == 0

    answer(chat).get_by_text("What was done").click()

    receipts = answer(chat).locator(".receipt")
    expect(receipts).to_have_count(2)
    expect(receipts.first).to_contain_text("shell runs code on this device · Done")
    expect(receipts.first).to_contain_text("took 2s")
    expect(receipts.first.locator("> .exact")).to_have_text("command: ls -l\n<b>x</b>\nseconds: 5", use_inner_text=True)
    expect(receipts.last).to_contain_text("Failed")
    expect(receipts.first.get_by_text("total 0")).to_be_hidden()
    receipts.first.get_by_text("What came back").click()
    expect(receipts.first.get_by_text("total 0")).to_be_visible()
    assert asked() == 1


def test_receipts_that_cannot_be_read_can_be_asked_for_again(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.script(step("shell", "ls", receipt="r1"), words("Done."), done())
    ask(page)
    finished(page)
    page.route("**/api/agent/runs?*", lambda route: route.abort(), times=1)

    answer(page).get_by_text("What was done").click()
    expect(answer(page).locator(".receipts")).to_contain_text("could not be read")
    answer(page).get_by_text("What was done").click()
    answer(page).get_by_text("What was done").click()

    expect(answer(page).locator(".receipts")).to_contain_text("there are no receipts")


def test_an_answer_without_steps_has_no_receipts(host, chat):
    ask(chat)
    finished(chat)

    expect(answer(chat).locator(".receipts")).to_have_count(0)


# On any page


@pytest.mark.parametrize("width", [320, 360, 1440])
def test_nothing_of_it_is_wider_than_the_window_and_every_control_can_be_hit(host, open_page, width):
    page = open_page(host.url, viewport={"width": width, "height": 780})
    long = {**FILE, "name": "n" * 120}
    host.script(
        {"tool_progress": "writing", "tool": "shell", "text": "w" * 900}, step("shell", "d" * 200, files=[long], receipt="r1"),
        Ask("q1", tool="t" * 80, shown="s" * 700, effect="e" * 90, remember=True), words("Done."), done(),
    )
    ask_button = page.locator("#send")
    page.fill("#box", "go")
    ask_button.click()
    expect(card(page)).to_be_visible()

    def check():
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert page.evaluate("document.getElementById('scroller').scrollWidth <= document.getElementById('scroller').clientWidth")
        small = page.evaluate(
            """() => [...document.querySelectorAll("button, summary, textarea, .file a")]
                .filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: false }) && !e.closest("[inert]"))
                .map((e) => [e.id || e.className || e.textContent, e.getBoundingClientRect()])
                .filter(([, r]) => r.height < 43.5 || r.width < 43.5).map(([name, r]) => [name, r.width, r.height])"""
        )
        assert small == []

    check()
    card(page).get_by_role("button", name="Refuse").click()
    finished(page)
    conversation = next(iter(host.turns.values())).conversation
    host.runs[conversation] = [{"id": "t", "state": "finished", "reason": "r" * 90, "receipts": [receipt("r1", observation="o" * 800)]}]
    answer(page).get_by_text("What was done").click()
    answer(page).get_by_text("What came back").click()
    check()


def test_a_long_output_costs_one_drawing_a_frame(host, chat):
    host.script(
        {"tool_progress": "running", "tool": "shell", "detail": "yes", "seconds": 0},
        [{"tool_progress": "running", "tool": "shell", "text": f"line {n}\n", "seconds": 1} for n in range(3_000)],
        Wait("end"), step("shell", "yes"), words("Done."), done(),
    )
    chat.evaluate(
        """() => {
            window.drawings = 0;
            new MutationObserver(() => (window.drawings += 1)).observe(document.getElementById("strip-lines"), { childList: true, characterData: true });
            window.frames = 0;
            const count = () => { window.frames += 1; requestAnimationFrame(count); };
            requestAnimationFrame(count);
        }"""
    )

    ask(chat)

    expect(chat.locator("#strip-lines")).to_contain_text("line 2999")
    assert chat.evaluate("window.drawings <= window.frames")
    host.release("end")
    finished(chat)


def test_the_view_follows_a_question_on_a_phone(host, open_page):
    page = open_page(host.url, viewport=PHONE)
    host.script(words("\n\n".join(f"Paragraph {n}" for n in range(40))), {"tool_progress": "writing", "tool": "shell", "text": "a\nb\nc"},
                Ask("q1", shown="\n".join(str(n) for n in range(80))), words("Done."), done())
    page.fill("#box", "go")
    page.click("#send")

    expect(card(page).get_by_role("button", name="Refuse")).to_be_in_viewport(ratio=1)
    card(page).get_by_role("button", name="Refuse").click()
    finished(page)
