"""What every phone of one maker runs: the page in WebKit, by its own driver. A smoke suite; Chromium has the rest.

Its packages take 200 MB, so it runs where ALCOVE_WEBKIT is set, and `Scripts/bootstrap webkit` installs what it needs.
"""

import os
import shutil
import signal
import subprocess

import pytest

from scripted_host import Drop, ScriptedHost, Wait, done, step, words

BROWSERS = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser"

pytestmark = pytest.mark.skipif(not os.environ.get("ALCOVE_WEBKIT"), reason="ALCOVE_WEBKIT is not set: WebKit's packages take 200 MB.")


@pytest.fixture(scope="module")
def screen():
    """A screen that nobody sees; it says itself which number it took."""
    if shutil.which("Xvfb") is None:
        pytest.fail("WebKit needs a screen. Install with: Scripts/bootstrap webkit")
    reader, writer = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", "1440x1000x24", "-nolisten", "tcp"],
                              pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as number:
        display = f":{number.readline().strip()}"
    assert display != ":", "Xvfb did not start"
    yield display
    server.send_signal(signal.SIGTERM)
    server.wait()


@pytest.fixture(scope="module")
def webkit(screen):
    from glob import glob

    from selenium.webdriver import WebKitGTK, WebKitGTKOptions, WebKitGTKService

    driver, browser = shutil.which("WebKitWebDriver"), next(iter(glob(BROWSERS)), None)
    if driver is None or browser is None:
        pytest.fail("There is no WebKit. Install with: Scripts/bootstrap webkit")
    subprocess.run([os.path.join(os.path.dirname(__file__), "../../Scripts/stage-web-libraries")], check=True)
    options = WebKitGTKOptions()
    options.binary_location = browser
    options.add_argument("--automation")
    running = WebKitGTK(options=options, service=WebKitGTKService(executable_path=driver, env={**os.environ, "DISPLAY": screen}))
    yield running
    running.quit()


class Page:
    """What a test does on the page, and what it waits for."""

    def __init__(self, driver, url):
        self.driver = driver
        driver.get(url)
        self.wait("document.documentElement.dataset.started")

    def run(self, script, *given):
        return self.driver.execute_script(script, *given)

    def wait(self, expression):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, 15, poll_frequency=0.05).until(lambda _: self.run(f"return {expression}"), expression)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def click(self, selector):
        """Once it is there and nothing moves it or lies over it any more."""
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.support.ui import WebDriverWait

        def clicked(_):
            self.find(selector).click()
            return True

        WebDriverWait(self.driver, 15, poll_frequency=0.05, ignored_exceptions=[WebDriverException]).until(clicked, selector)

    def send(self, text):
        self.find("#box").send_keys(text)
        self.click("#send")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)


@pytest.fixture(params=[(390, 844), (1280, 860)], ids=["phone", "desk"])
def page(webkit, request):
    host = ScriptedHost()
    host.watched = True
    webkit.set_window_size(*request.param)
    opened = Page(webkit, host.url)
    opened.host = host
    yield opened
    complaints = opened.run("return window.complaints")
    host.close()
    assert complaints == [], "the console showed errors"


def test_it_starts_every_time_and_a_sheet_asked_for_twice_opens(page):
    # A module that awaits at its top and is wanted twice at once was never run, in a quarter of the starts.
    for _ in range(12):
        page.driver.refresh()
        page.wait("document.documentElement.dataset.started")
        page.run("document.getElementById('open-settings').click(); document.getElementById('open-models').click();")
        page.wait("document.querySelector('#settings') && document.querySelector('#models')")


def test_the_page_opens_and_an_answer_streams(page):
    page.host.script({"thinking": "Hm."}, words("A **bold** start"), Wait("rest"),
                     words(" and $x^2$.\n\n```python\nprint(1)\n```\n"), done())

    page.send("Hello")

    page.wait("document.querySelector('.live strong')?.textContent === 'bold'")
    page.host.release("rest")
    page.wait("document.querySelector('.assistant footer')")
    page.wait("document.querySelector('.body math msup')")
    page.wait("document.querySelector('.hljs-number')")
    assert page.host.sent()[0]["messages"] == [{"role": "user", "content": "Hello"}]


def test_stop_ends_an_answer_and_keeps_its_words(page):
    page.host.script(words("Words that stay"), Wait("never"), done())
    page.send("x")
    page.wait("document.querySelector('.live .body')?.textContent.trim() === 'Words that stay'")

    page.click("#send")

    page.wait("document.querySelector('.facts')?.textContent.includes('Stopped')")
    assert page.text(".assistant .body").strip() == "Words that stay"


def test_tools_leave_a_trace_and_a_line_that_is_cut_is_taken_up_again(page):
    page.host.script(words("Looking. "), Drop(), step("read_file", "notes.txt"), words("Found."), done())

    page.send("x")

    page.wait("document.querySelector('.assistant footer')")
    assert page.text(".step .label") == "Read file"
    assert page.run("return [...document.querySelectorAll('.assistant .body')].map((body) => body.textContent.trim()).join(' ')") == "Looking. Found."


def test_the_drawer_opens_a_chat_and_a_sheet_opens_and_closes(page):
    page.host.save_chat("Balcony", [{"role": "user", "content": "What grows?"}, {"role": "assistant", "content": "Ferns."}])
    page.driver.refresh()
    page.wait("document.documentElement.dataset.started")
    if page.run("return document.getElementById('drawer').inert"):
        page.click("#menu")
        page.wait("document.documentElement.classList.contains('drawer-open')")
    page.click(".chat")
    page.wait("document.querySelector('.assistant .body')?.textContent.trim() === 'Ferns.'")

    if page.run("return document.getElementById('drawer').inert"):
        page.click("#menu")
    page.click("#open-settings")
    page.wait("document.querySelector('#settings[open] .switch')")
    page.click("#settings header .icon-button")
    page.wait("!document.querySelector('dialog')")


def test_a_chosen_file_goes_with_the_message(page, tmp_path):
    file = tmp_path / "measures.csv"
    file.write_text("a,b\n1,2\n")
    page.host.script(words("Seen."), done())

    page.click("#attach")
    page.wait("document.querySelector('#attach-sheet[open]')")
    page.find("#attach-sheet input[name=file]").send_keys(str(file))
    page.wait("document.querySelector('.chip[data-state=ready]')")
    page.send("Read it")

    page.wait("document.querySelector('.assistant footer')")
    assert "measures.csv" in page.text(".message.user")
    assert [sent["messages"][0]["attachments"][0]["fileName"] for sent in page.host.sent()] == ["measures.csv"]
