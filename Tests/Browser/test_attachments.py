"""Files with a message: chosen, pasted, dropped, stored, sent, kept and shown again."""

import pytest
from playwright.sync_api import expect

from screens import PHONE
from scripted_host import Refuse, done, words

NETWORK = ("Failed to load resource", "net::ERR")
# One transparent pixel.
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c636001000000050001"
    "0d0a2db40000000049454e44ae426082")


def file(name, data=b"some text", kind="text/plain"):
    return {"name": name, "mimeType": kind, "buffer": data}


def attach(page, *files, kind="file"):
    page.click("#attach")
    page.locator(f"#attach-sheet input[name={kind}]").set_input_files(list(files))


def chips(page):
    return page.locator("#attachments .chip")


def uploads(host):
    return [body for method, path, body in host.requests if path == "/api/upload"]


def test_the_plus_offers_four_ways(host, open_page):
    page = open_page(host.url, viewport=PHONE)
    page.click("#attach")
    sheet = page.get_by_role("dialog", name="Attach")

    expect(sheet.locator(".row")).to_have_text(["Photo", "Camera", "Video", "File"])
    inputs = sheet.locator("input")
    assert [inputs.nth(n).get_attribute("capture") for n in range(4)] == [None, "environment", None, None]
    assert [inputs.nth(n).get_attribute("accept").split(",")[0] for n in range(4)] == ["image/*", "image/*", "video/*", "image/*"]
    with page.expect_file_chooser():
        sheet.get_by_role("button", name="Photo").click()


def test_files_are_stored_at_once_and_go_with_the_message(host, chat):
    attach(chat, file("notes.txt"), file("pixel.png", PIXEL, "image/png"), file("deck.pdf", b"%PDF", "application/pdf"))
    expect(chips(chat)).to_have_count(3)
    expect(chat.locator(".chip[data-state=ready]")).to_have_count(3)
    assert sorted(host.uploads.values()) == sorted([b"some text", PIXEL, b"%PDF"])
    chat.fill("#box", "What is in these?")
    chat.press("#box", "Enter")

    expect(chat.locator(".message.user .document")).to_have_text(["notes.txt", "deck.pdf3 pages"])
    expect(chat.locator(".message.user img")).to_have_attribute("alt", "pixel.png")
    expect(chips(chat)).to_have_count(0)
    message = host.sent(1)[0]["messages"][0]
    stored = {name.rsplit(".", 1)[1]: name for name in host.uploads}
    assert message["content"] == "What is in these?"
    assert [(a["fileName"], a["file"], a["mediaType"]) for a in message["attachments"]] == [
        ("notes.txt", stored["txt"], "text"), ("pixel.png", stored["png"], "image"), ("deck.pdf", stored["pdf"], "pdf")]
    assert message["imagePaths"] == message["stillImagePaths"] == [stored["png"]]
    assert message["textFilePaths"] == [stored["txt"], stored["pdf"]]
    assert message["textFileNames"] == ["notes.txt", "deck.pdf"]
    assert "videoFilePaths" not in message


def test_a_message_may_be_files_alone_and_a_saved_one_shows_them_again(host, chat):
    attach(chat, file("notes.txt"))
    expect(chat.locator("#send")).to_be_enabled()
    host.script(words("Read."), done())
    chat.click("#send")
    expect(chat.locator(".message.assistant footer")).to_be_visible()

    chat.reload()

    expect(chat.locator(".message.user .document")).to_have_attribute("href", "/uploads/" + next(iter(host.uploads)))
    expect(chat.locator(".message.user .body")).to_have_count(0)


def test_a_removed_file_does_not_go(host, chat):
    attach(chat, file("a.txt"), file("b.txt"))
    expect(chat.locator(".chip[data-state=ready]")).to_have_count(2)

    chat.get_by_role("button", name="Remove a.txt").click()
    expect(chat.get_by_role("button", name="Remove b.txt")).to_be_focused()
    chat.fill("#box", "x")
    chat.press("#box", "Enter")

    expect(chat.locator(".message.user .document")).to_have_text(["b.txt"])
    assert len(host.sent(1)[0]["messages"][0]["attachments"]) == 1


def test_while_a_file_is_on_its_way_nothing_is_sent(host, chat):
    held = []
    chat.route("**/api/upload", lambda route: held.append(route))
    with chat.expect_request("**/api/upload"):
        attach(chat, file("slow.txt"))
    chat.fill("#box", "with it")
    chat.press("#box", "Enter")
    expect(chat.get_by_role("progressbar", name="slow.txt")).to_be_visible()
    expect(chat.locator("#send")).to_be_disabled()
    expect(chat.locator("#send")).to_have_attribute("title", "A file is not stored yet. Wait a moment, or remove it.")
    assert host.sent() == []

    held[0].continue_()

    expect(chat.locator("#send")).to_be_enabled()
    chat.press("#box", "Enter")
    expect(chat.locator(".message.user .document")).to_have_text(["slow.txt"])


def test_a_refused_file_says_why_and_can_be_tried_again(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    host.refuse("POST", "/api/upload", Refuse(413, "The file has 600 MB; 500 MB is the most.", "upload_large", "Cut it up."))
    attach(page, file("big.txt"))

    expect(page.locator(".notice")).to_contain_text("big.txt is not attached: The file has 600 MB; 500 MB is the most. Cut it up.")
    expect(page.locator("#send")).to_be_disabled()
    page.get_by_role("button", name="Try big.txt again").click()

    expect(page.locator(".chip[data-state=ready]")).to_have_text("big.txt")
    expect(page.locator("#send")).to_be_enabled()


def test_a_file_of_a_kind_nobody_reads_or_without_anything_in_it_says_so(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    attach(page, file("empty.txt", b""))
    expect(page.locator(".notice")).to_contain_text("empty.txt is not attached: the file is empty.")
    expect(chips(page)).to_have_count(0)

    attach(page, file("thing.xyz"))

    expect(page.locator(".notice").last).to_contain_text("Files like thing.xyz cannot be read. Attach a text, a picture or a PDF.")


def test_a_refused_send_gives_the_files_back_too(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    attach(page, file("notes.txt"))
    expect(page.locator(".chip[data-state=ready]")).to_have_count(1)
    host.script(Refuse(400, "This model cannot see pictures.", "vision_not_ready"))
    page.fill("#box", "my words")
    page.press("#box", "Enter")

    expect(page.locator("#box")).to_have_value("my words")
    expect(page.locator(".chip[data-state=ready]")).to_have_text("notes.txt")
    expect(page.locator(".message")).to_have_count(0)
    page.press("#box", "Enter")
    expect(page.locator(".message.user .document")).to_have_text(["notes.txt"])
    assert host.sent(2)[0]["messages"] == host.sent()[1]["messages"]


def test_stored_files_of_an_unsent_message_outlive_a_reload_and_stay_with_their_chat(host, chat):
    host.save_chat("Another", [{"role": "user", "content": "old"}])
    attach(chat, file("notes.txt"))
    expect(chat.locator(".chip[data-state=ready]")).to_have_count(1)

    chat.reload()
    expect(chips(chat)).to_have_text("notes.txt")
    chat.locator(".chat", has_text="Another").click()
    expect(chips(chat)).to_have_count(0)
    chat.click("#new")

    expect(chips(chat)).to_have_text("notes.txt")


PASTE = """([text, files]) => {
    const clipboard = new DataTransfer();
    if (text !== null) clipboard.setData("text/plain", text);
    for (const name of files) clipboard.items.add(new File(["pasted"], name, { type: "image/png" }));
    const event = new ClipboardEvent("paste", { clipboardData: clipboard, bubbles: true, cancelable: true });
    document.getElementById("box").dispatchEvent(event);
    return event.defaultPrevented;
}"""


def test_pasted_files_are_attached(host, chat):
    assert chat.evaluate(PASTE, [None, ["shot.png"]]) is True

    expect(chat.locator(".chip[data-state=ready]")).to_have_text("shot.png")
    assert list(host.uploads.values()) == [b"pasted"]


def test_a_long_paste_becomes_a_file_and_a_short_one_stays_text(host, chat):
    assert chat.evaluate(PASTE, ["short", []]) is False
    long = "A line of a long text, é.\n" * 400

    assert chat.evaluate(PASTE, [long, []]) is True

    expect(chat.locator(".chip[data-state=ready]")).to_have_text("Pasted text.txt")
    assert [data.decode() for data in host.uploads.values()] == [long]
    expect(chat.locator("#box")).to_have_value("")


def test_a_long_paste_that_cannot_be_stored_is_put_into_the_box(host, open_page):
    page = open_page(host.url, allow=NETWORK)
    page.fill("#box", "before ")
    page.route("**/api/upload", lambda route: route.abort())
    long = "word " * 1_000

    page.evaluate(PASTE, [long, []])

    expect(page.locator("#box")).to_have_value("before " + long)
    expect(page.locator(".notice")).to_contain_text("Pasted text.txt is not attached: Alcove does not answer.")
    expect(chips(page)).to_have_count(0)


def test_dropped_files_are_attached_and_the_page_says_where(host, chat):
    chat.evaluate(
        """() => {
            const data = new DataTransfer();
            data.items.add(new File(["dropped"], "notes.txt", { type: "text/plain" }));
            const event = (name) => new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true });
            window.over = document.getElementById("scroller").dispatchEvent(event("dragover"));
            window.hint = getComputedStyle(document.querySelector(".drop")).display;
            document.getElementById("scroller").dispatchEvent(event("drop"));
        }"""
    )

    expect(chat.locator(".chip[data-state=ready]")).to_have_text("notes.txt")
    assert chat.evaluate("[window.over, window.hint]") == [False, "grid"]
    expect(chat.locator(".drop")).to_be_hidden()


def test_an_old_message_without_attachments_shows_its_files_and_not_their_text(host, chat):
    host.save_chat("Old", [{
        "role": "user", "content": "[File: a.txt]\nsecret text\n[End of file]\n\nWhat is it?", "imagePaths": ["abc.png"],
        "textFilePaths": ["def.txt"], "textFileNames": ["a.txt"]}])
    chat.reload()
    chat.route("**/uploads/**", lambda route: route.fulfill(body=PIXEL, content_type="image/png"))
    chat.locator(".chat").click()

    expect(chat.locator(".message.user .body")).to_have_text("What is it?")
    expect(chat.locator(".message.user .document")).to_have_text("a.txt")
    expect(chat.locator(".message.user img")).to_have_attribute("src", "/uploads/abc.png")


# What other programs share


SHARE = {"id": "s1", "text": "Summarise this page.", "attachments": [], "notices": ["One file was empty."],
         "title": "A long article", "newChat": True, "autoSend": True}


def test_what_was_shared_becomes_a_draft_and_is_consumed_by_its_send(host, open_page):
    host.uploads["f" * 32 + ".txt"] = b"shared"
    host.shares.append({**SHARE, "attachments": [{"file": "f" * 32 + ".txt", "fileName": "page.txt", "mediaType": "text"}]})
    page = open_page(host.url)

    expect(page.locator("#share .chip")).to_contain_text("Shared: A long article")
    expect(page.locator("#box")).to_have_value("Summarise this page.")
    expect(chips(page)).to_have_text("page.txt")
    expect(page.locator(".notice")).to_contain_text("One file was empty.")
    assert host.sent() == [] and len(host.shares) == 1
    page.press("#box", "Enter")

    expect(page.locator(".message.user .document")).to_have_text(["page.txt"])
    expect(page.locator("#share .chip")).to_have_count(0)
    assert host.sent(1)[0]["shareIds"] == ["s1"]
    assert host.shares == []


def test_what_was_shared_can_be_taken_out_again(host, open_page):
    page = open_page(host.url)
    page.fill("#box", "My own words.")
    host.shares.append(SHARE)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#box")).to_have_value("My own words. Summarise this page.")

    page.get_by_role("button", name="Remove what was shared").click()

    expect(page.locator("#box")).to_have_value("My own words.")
    expect(page.locator("#share .chip")).to_have_count(0)
    assert host.shares == []
