#!/usr/bin/env python3
"""Measures the page in Chromium at a quarter of this machine's speed: opening a long chat, typing in it, streaming.

It needs what the browser tests need (Scripts/bootstrap) and prints figures; it judges nothing.

    .deps/venv/bin/python Benchmarks/page.py
    .deps/venv/bin/python Benchmarks/page.py --against OTHER/Web   # opening there and here, in turns
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests/Browser"))

from playwright.sync_api import sync_playwright  # noqa: E402
import scripted_host  # noqa: E402
from scripted_host import ScriptedHost, done, words  # noqa: E402

SLOWER = 4
PARAGRAPH = "A *paragraph* of an answer, with `code`, a [link](https://example.com) and **weight**. " * 6
CODE = "```python\n" + "\n".join(f"def step_{n}(value):\n    return value * {n}" for n in range(12)) + "\n```"
# Until the end of the chat is painted and stays (sight), and until the twenty messages drawn by themselves are (whole).
OPEN = """() => new Promise((resolve) => {
    const began = performance.now();
    const list = document.getElementById("transcript");
    const painted = () => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(() => next(performance.now() - began))));
    let sight = null;
    const drawn = new MutationObserver(() => {
        if (list.querySelector(".message:last-child figure")) sight ??= painted();
        if (list.querySelectorAll(".message").length < 20) return;
        drawn.disconnect();
        painted().then(async (whole) => resolve({ sight: await sight, whole }));
    });
    drawn.observe(list, { childList: true });
    document.querySelector(".chat").click();
})"""
TYPE = """() => new Promise(async (resolve) => {
    const box = document.getElementById("box");
    const times = [];
    for (const letter of "a question typed letter by letter ".repeat(3)) {
        const began = performance.now();
        box.setRangeText(letter, box.value.length, box.value.length, "end");
        box.dispatchEvent(new InputEvent("input", { bubbles: true, data: letter }));
        await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
        times.push(performance.now() - began);
    }
    resolve(times);
})"""


def long_chat():
    messages = []
    for n in range(150):
        messages.append({"role": "user", "content": f"Question {n}: " + "why is that so? " * 4})
        messages.append({"role": "assistant", "content": f"{PARAGRAPH}\n\n- one\n- two\n\n{CODE if n % 3 == 0 else PARAGRAPH}"})
    output = "\n".join(f"{n:06d} a line of what a tool wrote, as long as such lines are" for n in range(4_600))
    messages[-1] = {"role": "assistant", "content": "The output:\n\n```\n" + output + "\n```", "thinking": output[:40_000],
                    "steps": [{"tool": "shell", "detail": "make", "ok": True, "seconds": 2, "receipt": "r1", "at": 0}]}
    return messages, len(output)


def opened_once(browser, host, also=None):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(host.url)
    page.wait_for_selector("html[data-started]")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    times = page.evaluate(OPEN)
    if also:
        also(page)
    page.close()
    return times


def compare(browser, host, other):
    here = scripted_host.WEB
    times = {here: [], other: []}
    for _ in range(10):
        for web, taken in times.items():
            scripted_host.WEB = web
            taken.append(opened_once(browser, host))
    scripted_host.WEB = here
    for what in ("sight", "whole"):
        there, now = (statistics.median(time[what] for time in times[web]) for web in (other, here))
        print(f"open, {what}: there {there:.0f} ms, here {now:.0f} ms, {there / now:.2f} times as quick")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--against", type=Path, help="another Web folder, to compare opening with")
    against = arguments.parse_args().against
    subprocess.run([ROOT / "Scripts/stage-web-libraries"], check=True)
    host = ScriptedHost()
    messages, size = long_chat()
    host.save_chat("Long", messages)
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        if against:
            compare(browser, host, against.resolve())
            browser.close()
            return host.close()
        keys = []

        def type_there(page):
            page.wait_for_timeout(500)
            keys.extend(page.evaluate(TYPE))

        opened = [opened_once(browser, host, type_there) for _ in range(5)]
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.goto(host.url)
        page.wait_for_selector("html[data-started]")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.evaluate("""() => {
            window.longest = 0;
            new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration); })
                .observe({ type: "longtask" });
        }""")
        host.script(words((PARAGRAPH + "\n\n" + CODE + "\n\n") * 12, 6), done())
        page.fill("#box", "stream")
        page.click("#send")
        page.wait_for_selector(".assistant footer", timeout=120_000)
        longest = page.evaluate("window.longest")
        browser.close()
    host.close()
    keys.sort()
    print(f"CPU {SLOWER}x slower; chat of {len(messages)} messages whose last holds {size // 1000} KB of tool output")
    for what in ("sight", "whole"):
        times = [time[what] for time in opened]
        print(f"open, {what}: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms of {len(times)} (wanted: 500)")
    print(f"a key to its frame: median {statistics.median(keys):.0f} ms, 99th of 100 {keys[int(0.99 * len(keys))]:.0f} ms (wanted: 50)")
    print(f"longest task while an answer of {12 * len(PARAGRAPH + CODE) // 1000} KB streams: {longest:.0f} ms")
    print(f"first contentful paint, not slowed: {paint:.0f} ms (wanted: 300)")


if __name__ == "__main__":
    main()
