"""Mathematics in answers, and dollars that are none."""

import re

from playwright.sync_api import expect

from scripted_host import Wait, done, words

BLOCK = "$$\nx\n- y\n+ z = 0\n$$"


def ask(page, host, *steps):
    host.script(*steps, done())
    page.fill("#box", "x")
    page.click("#send")


def answered(page, host, text):
    ask(page, host, words(text))
    expect(page.locator(".assistant footer")).to_be_visible()
    return page.locator(".assistant .body")


def test_formulas_are_drawn_for_eyes_and_for_screen_readers(host, chat):
    body = answered(chat, host, r"Plain $x^2$, \(y_1\), $$\frac{1}{2}$$ and" "\n\n" r"\[ \sum_{n=1}^3 n \]" f"\n\n- in a list:\n\n  {BLOCK.replace(chr(10), chr(10) + '  ')}\n")

    expect(body.get_by_role("math")).to_have_count(5)
    expect(body.locator("msup")).to_have_count(1)
    expect(body.locator("mfrac")).to_have_count(1)
    expect(body.locator(".display math[display=block]")).to_have_count(3)
    # The lines of a formula are no list.
    expect(body.locator("li")).to_have_count(1)
    expect(body).not_to_contain_text("$")
    assert chat.evaluate("document.querySelectorAll('.body [style]').length") == 0


def test_prices_variables_and_code_stay_as_they_are(host, chat):
    text = "$25 is more than $24, and $5 and $10 or US$6. It costs **$1.50**. $/PR and $/session. `echo $PATH $HOME`"
    body = answered(chat, host, f"{text}\n\n```sh\necho $A $x^2$\n```\n")

    expect(body.locator("p")).to_have_text(text.replace("**", "").replace("`", ""))
    expect(body.locator("strong")).to_have_text("$1.50")
    expect(body.locator("pre")).to_have_text("echo $A $x^2$\n")
    expect(body.locator(".math")).to_have_count(0)
    assert not chat.evaluate("performance.getEntriesByType('resource').some(({ name }) => /katex|mathematics-worker/.test(name))")


def test_what_is_no_tex_is_shown_as_it_was_written_and_costs_nothing_else(host, chat):
    deep = "{" * 1_500
    body = answered(chat, host, rf"Bad: $\frac{{1}}{{$, $\nosuch{{x}}$, $\href{{javascript:alert(1)}}{{x}}$, ${deep}$ and good: $z$." "\n\nThe end.")

    expect(body.get_by_role("math").last).to_have_text(re.compile("z|𝑧"))
    expect(body).to_contain_text(r"Bad: $\frac{1}{$, $\nosuch{x}$,")
    expect(body.locator("a")).to_have_count(0)
    expect(body.locator("p").last).to_have_text("The end.")


def test_an_unfinished_formula_is_text_and_becomes_one(host, chat):
    start, end = BLOCK[:-2], BLOCK[-2:]
    ask(chat, host, words(f"Before.\n\n{start}"), Wait("rest"), words(f"{end}\n\nIt is $a"), Wait("inline"), words("^2$."))

    live = chat.locator(".live .body")
    expect(live).to_contain_text("+ z = 0")
    expect(live.locator("li")).to_have_count(0)
    expect(live.locator("math")).to_have_count(0)
    host.release("rest")
    expect(live.locator("math")).to_have_count(1)
    expect(live).to_contain_text("It is $a")
    host.release("inline")
    expect(chat.locator(".assistant footer")).to_be_visible()
    expect(chat.locator(".body math")).to_have_count(2)
    drawn = chat.locator(".assistant .body").inner_html()
    chat.reload()
    expect(chat.locator(".body math")).to_have_count(2)
    assert chat.locator(".assistant .body").inner_html() == drawn


def test_a_formula_that_never_ends_costs_that_formula(host, open_page):
    page = open_page(host.url)
    page.route("**/mathematics-worker.js", lambda route: route.fulfill(
        content_type="text/javascript",
        body="self.onmessage = ({ data }) => { if (data.tex === 'x') for (;;); self.postMessage({ ...data, markup: '<math><mi>q</mi></math>' }); };"))
    body = answered(page, host, "One $x$ and another $y$.")

    expect(body.get_by_role("math")).to_have_text("q")
    expect(body).to_contain_text("One $x$ and another")


def test_without_the_library_formulas_are_text(host, open_page):
    page = open_page(host.url, allow=["404", "Failed to load"])
    page.route("**/vendor/katex.js", lambda route: route.fulfill(status=404))
    body = answered(page, host, "One $x$, $$y$$.")

    expect(body).to_have_text("One $x$, $$y$$.")
    page.click("#new")
    # What is typed before the new chat is open belongs to the old one.
    expect(page.locator("#empty")).to_be_visible()
    assert "$x$" in answered(page, host, "Again $x$.").inner_text()
