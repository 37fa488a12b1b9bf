"""For everybody: every word from the table, every control named, reachable and large enough, on every sheet."""

import re

import pytest
from playwright.sync_api import expect

from screens import DESK, PHONE
from scripted_host import Ask, Refuse, Wait, done, step, words

# The table with every entry in brackets, served in place of another language.
PSEUDO = """
import {{ words as english }} from "./{name}.js?plain";
const wrap = (entry) => typeof entry === "function" ? (...given) => `⟦${{entry(...given)}}⟧`
    : typeof entry === "string" ? `⟦${{entry}}⟧`
    : Array.isArray(entry) ? entry.map(wrap)
    : Object.fromEntries(Object.entries(entry).map(([key, part]) => [key, wrap(part)]));
export const words = wrap(english);
{more}
"""
UNTRANSLATED = """() => {
    const found = [];
    const visible = (element) => element.checkVisibility({ visibilityProperty: true });
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.parentElement || node.parentElement.closest("noscript, script")) continue;
        if (/[⟦⟧]/.test(node.data) || !/\\p{L}/u.test(node.data) || !visible(node.parentElement)) continue;
        found.push(node.data.trim());
    }
    for (const element of document.querySelectorAll("[aria-label], [placeholder], [title], [alt], [aria-valuetext]")) {
        if (!visible(element)) continue;
        for (const name of ["aria-label", "placeholder", "title", "alt", "aria-valuetext"]) {
            const text = element.getAttribute(name);
            if (text && /\\p{L}/u.test(text) && !/[⟦⟧]/.test(text)) found.push(`${name}: ${text}`);
        }
    }
    return found;
}"""


def open_sheets(page, host):
    """Every surface of the page, one after the other: yields a name with each on the screen."""
    host.save_chat("KEEP One", [{"role": "user", "content": "KEEP hello"}, {"role": "assistant", "content": "KEEP hi"}])
    host.add_model("KEEP-A", name="KEEP-A", parameters="", quantization="", license="", state="Installed")
    host.add_model("KEEP-B", name="KEEP-B", parameters="", quantization="", license="", recommended=True)
    host.add_model("KEEP-C", name="KEEP-C", parameters="", quantization="", license="", fits=False)
    host.model.update(id="KEEP-M", name="KEEP-M")
    host.settings["kvCacheDtype"] = "q4_0"
    page.reload()
    page.wait_for_selector("html[data-started]")
    expect(page.locator("#model-name")).to_have_text("KEEP M")

    def drawer():
        if not page.evaluate("document.documentElement.classList.contains('drawer-open')"):
            page.click("#menu")

    def closed():
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)
        if page.locator("#main").evaluate("(main) => main.inert"):
            page.keyboard.press("Escape")

    yield "empty"
    drawer()
    yield "drawer"
    page.click("#select")
    yield "selecting"
    page.click("#select")
    for place in ["settings", "models", "about"]:
        drawer()
        page.click(f"#open-{place}")
        expect(page.locator(f"#{place}")).to_be_visible()
        if place == "models":
            page.locator("#models .rest summary").click()
        yield place
        closed()
    page.click("#model")
    expect(page.locator("#model-sheet")).to_be_visible()
    yield "model"
    closed()
    page.click("#attach")
    expect(page.locator("#attach-sheet")).to_be_visible()
    page.locator("#attach-sheet input[name=file]").set_input_files(
        [{"name": "KEEP.txt", "mimeType": "text/plain", "buffer": b"x"}, {"name": "KEEP.pdf", "mimeType": "application/pdf", "buffer": b"x"}])
    expect(page.locator(".chip[data-state=ready]")).to_have_count(2)
    host.script({"thinking": "KEEP"}, words("KEEP a"), step("shell", "KEEP", receipt="r1"), step("read_file", "KEEP", ok=False),
                Ask("q1", tool="KEEP", shown="KEEP", effect="KEEP", remember=True, allowed=tuple(words("KEEP b"))), done(truncated=True))
    page.fill("#box", "KEEP question")
    page.click("#send")
    expect(page.locator(".ask button").first).to_be_visible()
    yield "asking"
    page.locator(".ask [data-outcome=allowed]").click()
    expect(page.locator(".assistant footer")).to_be_visible()
    yield "answered"
    page.locator(".receipts summary").click()
    page.locator(".message.user").hover()
    page.locator(".message.user .more").click()
    expect(page.locator("#message-sheet")).to_be_visible()
    yield "message"
    closed()
    page.locator(".undo").last.click()
    expect(page.locator(".notice")).to_be_visible()
    yield "undone"
    drawer()
    page.locator(".drawer .more").first.click()
    expect(page.locator("#rename")).to_be_visible()
    yield "chat"
    page.locator("#rename .danger").click()
    expect(page.locator("#remove")).to_be_visible()
    yield "question"
    closed()


def test_every_word_on_the_page_comes_from_the_table(host, open_page):
    page = open_page(host.url)

    def pseudo(route):
        name = re.search(r"/words/([\w-]+)\.js", route.request.url)[1].replace("zh-Hans", "en")
        more = 'export const count = (n, one, many) => `${n} ${many}`;' if name == "en" else ""
        route.fulfill(body=PSEUDO.format(name=name, more=more), content_type="text/javascript")

    page.route("**/words/zh-Hans*.js", pseudo)
    page.evaluate("localStorage.setItem('alcove.language', 'zh-Hans')")
    page.reload()
    page.wait_for_selector("html[data-started]")
    expect(page.locator("#box")).to_have_attribute("placeholder", "⟦Ask anything⟧")

    found = {}
    for name in open_sheets(page, host):
        texts = set(page.evaluate(UNTRANSLATED))
        # A person's own words, names of models and files; names of languages; the product; numbers with units and times.
        known = re.compile(r"KEEP|^(aria-label: |title: )?(Alcove|English|简体中文|llama\.cpp|llama)$|^[\d.,% ·+−:]*(GB|K|min|sec|AM|PM|kB|byte)?[\d.,% ·]*$|/home/you|^\d+分钟$|^\d[\d,.:]* ?(AM|PM|min)?( ·)?$")
        strange = sorted(text for text in texts if not known.search(text))
        if strange:
            found[name] = strange
    assert found == {}


def tree(page):
    """Chromium's accessibility tree, as a screen reader gets it."""
    client = page.context.new_cdp_session(page)
    nodes = client.send("Accessibility.getFullAXTree")["nodes"]
    client.detach()
    plain = []
    for node in nodes:
        if node.get("ignored"):
            continue
        value = lambda key: (node.get(key) or {}).get("value")
        properties = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
        plain.append({"role": value("role"), "name": (value("name") or "").strip(), **properties})
    return plain


INTERACTIVE = {"button", "link", "textbox", "searchbox", "checkbox", "switch", "combobox", "slider", "DisclosureTriangle", "progressbar", "image", "dialog", "alertdialog"}


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_the_accessibility_tree_names_everything_and_every_target_is_large_enough(host, open_page, viewport):
    page = open_page(host.url, viewport=viewport)
    nameless, small, wide = {}, {}, []
    for name in open_sheets(page, host):
        nodes = tree(page)
        bad = [node["role"] for node in nodes if node["role"] in INTERACTIVE and node["name"] == ""]
        if bad:
            nameless[name] = bad
        if page.locator("dialog[open]").count():
            # What is under a sheet is not read.
            assert [n["name"] for n in nodes if n["role"] == "textbox" and n["name"] == "Message"] == [], name
        tight = page.evaluate(
            """() => [...document.querySelectorAll("button, summary, select, textarea, label:has(input), input:not([hidden], label input), a:not(.body a)")]
                .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("[inert]") && !e.matches(".skip"))
                .filter((e) => !document.querySelector("dialog[open]") || e.closest("dialog"))
                .map((e) => [e.id || e.className || e.textContent, e.getBoundingClientRect()])
                .filter(([, r]) => r.height < 43.5 || r.width < 43.5).map(([n, r]) => [n, Math.round(r.width), Math.round(r.height)])""")
        if tight:
            small[name] = tight
        if page.evaluate("document.scrollingElement.scrollWidth > innerWidth || [...document.querySelectorAll('dialog .content')].some((c) => c.scrollWidth > c.clientWidth)"):
            wide.append(name)
    assert nameless == {}
    assert small == {}
    assert wide == []


def test_text_fields_are_large_enough_that_a_phone_does_not_zoom(host, open_page):
    page = open_page(host.url, viewport=PHONE)
    for _ in open_sheets(page, host):
        sizes = page.evaluate(
            """() => [...document.querySelectorAll("textarea, select, input:not([type=checkbox], [type=file])")]
                .map((e) => [e.id || e.name, parseFloat(getComputedStyle(e).fontSize)]).filter(([, size]) => size < 16)""")
        assert sizes == []


def from_the_start(page):
    """Puts the place from which Tab goes on before everything."""
    page.evaluate("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")


def test_tab_goes_through_the_page_as_it_is_read(host, chat):
    chat.fill("#box", "x")
    from_the_start(chat)
    order = []
    for _ in range(18):
        chat.keyboard.press("Tab")
        order.append(chat.evaluate("document.activeElement.id || document.activeElement.className || document.activeElement.tagName"))

    order = order[: order.index("send") + 1]
    wanted = ["skip", "drawer-new", "open-models", "open-settings", "open-about", "menu", "model", "new", "scroller"]
    assert [name for name in order if name in wanted] == wanted
    after = order[order.index("scroller") + 1 :]
    assert [name for name in after if name in ("attach", "tools", "box", "send")] == ["attach", "tools", "box", "send"]


def test_the_skip_link_leads_to_the_box(chat):
    from_the_start(chat)
    chat.keyboard.press("Tab")
    expect(chat.get_by_role("link", name="Skip to the message box")).to_be_focused()
    chat.keyboard.press("Enter")

    expect(chat.locator("#box")).to_be_focused()


def test_news_is_announced_without_taking_the_focus(host, chat):
    host.script(words("Yes."), Wait("end"), done())
    chat.fill("#box", "x")
    chat.press("#box", "Enter")
    assert chat.locator("#announcer").get_attribute("role") == "status"
    assert chat.locator("#notices").get_attribute("role") == "alert"
    expect(chat.locator(".live")).to_have_attribute("aria-busy", "true")
    host.release("end")

    expect(chat.locator("#announcer")).to_have_text("Answer finished.")
    expect(chat.locator("#box")).to_be_focused()


def test_the_box_stays_above_an_on_screen_keyboard(host, open_page):
    page = open_page(host.url, viewport=PHONE)
    # What a keyboard does: the visual viewport shrinks and the layout viewport does not.
    page.evaluate(
        """() => {
            Object.defineProperty(visualViewport, "height", { value: 420, configurable: true });
            visualViewport.dispatchEvent(new Event("resize"));
        }""")

    bottom = page.locator("#composer").evaluate("(form) => form.getBoundingClientRect().bottom")

    assert bottom <= 420
    assert page.evaluate("scrollY") == 0


def test_with_reduced_motion_nothing_moves(host, open_page):
    page = open_page(host.url, viewport=PHONE, reduced_motion="reduce")
    host.script(words("So"), Wait("end"), done())
    page.fill("#box", "x")
    page.click("#send")
    expect(page.locator("#strip")).to_be_visible()

    assert page.locator(".pulse").evaluate("(pulse) => getComputedStyle(pulse).animationName") == "none"
    durations = page.evaluate(
        "() => [...document.querySelectorAll('*')].map((e) => parseFloat(getComputedStyle(e).transitionDuration)).filter((d) => d > 0.001)")
    assert durations == []
    host.release("end")


def test_what_the_host_says_is_translated_where_its_code_says_all(host, open_page):
    page = open_page(host.url, locale="zh-CN", allow=["400"])
    for refusal in (Refuse(400, "The loaded model cannot see pictures.", "vision_not_ready", "Remove them."), Refuse(400, "a.csv is empty.", "empty_file")):
        host.script(refusal)
        page.fill("#box", "x")
        page.click("#send")
        expect(page.locator(".notice")).to_contain_text("当前模型看不了图片。请移除图片" if refusal.code == "vision_not_ready" else "a.csv is empty.")

    host.script(Ask("q", shown="ls"), done())
    page.click("#send")
    expect(page.locator(".ask[data-state=waiting]")).to_contain_text("shell：在本设备上运行代码")
