"""Chromium, the scripted host, and a page that fails its test when the console shows an error."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright
from screens import DESK

from scripted_host import ScriptedHost

ROOT = Path(__file__).resolve().parents[2]

expect.set_options(timeout=10_000)


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("The browser tests need Chromium. Install with: apt-get install chromium")
    subprocess.run([ROOT / "Scripts/stage-web-libraries"], check=True)
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield running
        running.close()


@pytest.fixture
def host():
    running = ScriptedHost()
    yield running
    running.close()


@pytest.fixture
def open_page(browser):
    """Opens a URL in its own browser profile; `allow` names words of console errors that the test brings about."""
    contexts = []

    def opened(url, viewport=DESK, allow=(), wait=True, **options):
        context = browser.new_context(viewport=viewport, **options)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        complaints = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        foreign = []
        own = url.split("/")[2]
        page.on("request", lambda request: foreign.append(request.url)
                if not request.url.startswith(("data:", "blob:")) and request.url.split("/")[2] != own else None)
        contexts.append((context, complaints, foreign, allow))
        page.goto(url)
        if wait:
            page.wait_for_selector("html[data-started]")
            reload = page.reload

            def reload_and_wait(**rest):
                # What is clicked before the page has started is nobody's.
                reload(**rest)
                page.wait_for_selector("html[data-started]")

            page.reload = reload_and_wait
        return page

    yield opened
    for context, complaints, foreign, allow in contexts:
        context.close()
        unexpected = [text for text in complaints if not any(word in text for word in allow)]
        assert unexpected == [], "the console showed errors"
        assert foreign == [], "the page asked somebody else"


@pytest.fixture
def chat(host, open_page):
    return open_page(host.url)
