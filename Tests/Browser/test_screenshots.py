"""Pictures of the page, for people to look at: written to the folder that ALCOVE_SHOTS names."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from scripted_host import Wait, done, words

SIZES = [(360, 780), (390, 844), (820, 1180), (1440, 900)]
ANSWER = """A rainbow is sunlight, taken apart by water.

1. Light **enters** a raindrop and bends.
2. It bounces off the *back* of the drop.
3. It bends again on the way out, each colour at its own angle.

| Colour | Angle |
|---|--:|
| Red | 42.4° |
| Violet | 40.7° |

Snell’s law as code, with `math.asin`:

```python
def bend(angle, n=1.333):
    \"\"\"From air into water, in degrees.\"\"\"
    return degrees(asin(sin(radians(angle)) / n))

print(f"{bend(60):.1f}°")  # 40.5
```

> You see a rainbow only with the sun behind you.
"""
CHATS = [
    ("Planning a garden on a north-facing balcony", 20), ("为什么天空是蓝色的？", 1500), ("How do vaccines work?", 2900),
    ("رسالة إلى الجيران", 4400), ("Regex for ISO dates", 60000),
]


@pytest.mark.skipif(not os.environ.get("ALCOVE_SHOTS"), reason="ALCOVE_SHOTS names no folder for pictures")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width,height", SIZES)
def test_pictures_are_taken(host, open_page, width, height, scheme):
    folder = Path(os.environ["ALCOVE_SHOTS"])
    folder.mkdir(parents=True, exist_ok=True)

    def shoot(page, name):
        page.screenshot(path=folder / f"{width}x{height}-{scheme}-{name}.png", animations="disabled")

    for title, minutes in CHATS:
        host.save_chat(title, [{"role": "user", "content": title}, {"role": "assistant", "content": "Gladly."}], minutes)
    page = open_page(host.url, viewport={"width": width, "height": height}, color_scheme=scheme)
    shoot(page, "1-empty")

    host.script({"thinking": "Refraction, then reflection, then refraction."}, words(ANSWER), done(tokenCount=214, tokPerSec=41.4))
    page.fill("#box", "How does a rainbow form? Please keep it short.")
    page.click("#send")
    expect(page.locator(".assistant footer")).to_be_visible()
    expect(page.locator(".hljs-keyword").first).to_be_visible()
    page.evaluate("document.getElementById('scroller').scrollTop = 0")
    shoot(page, "2-answer-top")
    page.evaluate("document.getElementById('scroller').scrollTop = 1e6")
    shoot(page, "3-answer-end")

    host.script({"prompt_progress": {"done": 43, "total": 100}}, Wait("read"), words("Because violet light is"), Wait("never"), done())
    page.fill("#box", "And why is violet on the inside?")
    page.click("#send")
    expect(page.locator("#strip")).to_contain_text("43 %")
    shoot(page, "4-reading")
    host.release("read")
    expect(page.locator(".live .body")).to_have_text("Because violet light is")
    shoot(page, "5-writing")
    page.click("#send")
    expect(page.locator(".facts").last).to_have_text("Stopped")

    if page.locator("#drawer").is_hidden():
        page.click("#menu")
        expect(page.locator("#drawer")).to_be_visible()
        shoot(page, "6-drawer")
    page.locator(".more").first.click()
    shoot(page, "7-rename")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")

    host.model.update(state="None", id="", name="")
    empty = open_page(host.url, viewport={"width": width, "height": height}, color_scheme=scheme)
    empty.locator("#new").click()
    shoot(empty, "8-no-model")
