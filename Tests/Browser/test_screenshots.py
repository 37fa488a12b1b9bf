"""Pictures of the page, for people to look at: written to the folder that ALCOVE_SHOTS names.

They are skipped without it on purpose: nothing here can fail by how the page looks, so a run that looks at nothing would only take time.
"""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from scripted_host import Ask, Refuse, Wait, done, step, words

SIZES = [(360, 780), (390, 844), (820, 1180), (1440, 900)]
LOOKS = [("light", "en-GB"), ("dark", "en-GB"), ("light", "zh-CN"), ("dark", "zh-CN")]

looked_at = pytest.mark.skipif(not os.environ.get("ALCOVE_SHOTS"), reason="ALCOVE_SHOTS names no folder for pictures")
sizes = pytest.mark.parametrize("width,height", SIZES)
looks = pytest.mark.parametrize("scheme,locale", LOOKS)
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
MATHEMATICS = r"""By Snell’s law, $n_1 \sin\theta_1 = n_2 \sin\theta_2$, so

$$
\theta_2 = \arcsin\!\left(\frac{n_1}{n_2}\,\sin\theta_1\right)
$$

| Medium | $n$ |
|---|--:|
| Air | \(1.0003\) |
| Water | \(1.333\) |

\[ \int_0^{2\pi} \cos^2 x \, dx = \pi, \qquad \begin{pmatrix} a & b \\ c & d \end{pmatrix}^{-1} = \frac{1}{ad - bc} \begin{pmatrix} d & -b \\ -c & a \end{pmatrix} \]

A prism costs $25 to $30; a glass of water costs $0. Not TeX: $\frac{1}{$ and $\sqrt{2}$.
"""
CHATS = [
    ("Planning a garden on a north-facing balcony", 20), ("为什么天空是蓝色的？", 1500), ("How do vaccines work?", 2900),
    ("رسالة إلى الجيران", 4400), ("Regex for ISO dates", 60000),
]


@pytest.fixture
def shoot(width, height, scheme, locale):
    folder = Path(os.environ["ALCOVE_SHOTS"])
    folder.mkdir(parents=True, exist_ok=True)
    return lambda page, name: page.screenshot(path=folder / f"{width}x{height}-{scheme}-{locale[:2]}-{name}.png", animations="disabled")


@looked_at
@looks
@sizes
def test_pictures_are_taken(host, open_page, shoot, width, height, scheme, locale):

    for title, minutes in CHATS:
        host.save_chat(title, [{"role": "user", "content": title}, {"role": "assistant", "content": "Gladly."}], minutes)
    page = open_page(host.url, viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale, allow=["400"])
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
    expect(page.locator("#strip")).to_contain_text("43%")
    shoot(page, "4-reading")
    host.release("read")
    expect(page.locator(".live .body")).to_have_text("Because violet light is")
    shoot(page, "5-writing")
    page.click("#send")
    expect(page.locator(".facts").last).not_to_be_empty()

    host.script(words(MATHEMATICS), done(tokenCount=180, tokPerSec=38.0))
    page.fill("#box", "How far does it bend?")
    page.click("#send")
    expect(page.locator(".assistant footer")).to_have_count(3)
    expect(page.locator("math")).to_have_count(7)
    shoot(page, "5-mathematics")
    host.script(Refuse(400, "The message is longer than the model can read at once (9,000 of 4,096 tokens).", "too_long", "Make it shorter, or load the model with a longer context."))
    page.fill("#box", "Again, with everything.")
    page.click("#send")
    expect(page.locator(".notice")).to_be_visible()
    shoot(page, "5-refused")
    page.locator(".notice button").last.click()
    host.script(words("The rest"), done(error="The model ran out of memory.", truncated=True))
    page.click("#send")
    expect(page.locator(".assistant .failure")).to_be_visible()
    shoot(page, "5-failed")

    if page.locator("#drawer").is_hidden():
        page.click("#menu")
        expect(page.locator("#drawer")).to_be_visible()
        shoot(page, "6-drawer")
    page.locator(".more").first.click()
    expect(page.locator("#rename")).to_be_visible()
    shoot(page, "7-rename")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")

    host.model.update(state="None", id="", name="")
    empty = open_page(host.url, viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale)
    empty.locator("#new").click()
    shoot(empty, "8-no-model")


COMMAND = """python3 - <<'END'
import csv
rows = list(csv.reader(open("sales.csv")))
total = sum(float(row[2]) for row in rows[1:])
print(f"{len(rows) - 1} rows, total {total:.2f}")
END"""


@looked_at
@looks
@sizes
def test_pictures_of_tools_are_taken(host, open_page, shoot, width, height, scheme, locale):
    page = open_page(host.url, viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale, allow=["400"])

    page.click("#tools")
    expect(page.locator(".notice")).to_be_visible()
    shoot(page, "tools-1-hint")
    files = [{"name": "summary.csv", "bytes": 2_600, "url": "/api/code/artifacts/t/summary.csv"},
             {"name": "chart.png", "bytes": 48_000, "url": "/api/code/artifacts/t/chart.png"}]
    host.script(
        {"thinking": "A short program adds the column."}, words("I will add up the column."),
        {"tool_progress": "writing", "tool": "shell", "text": COMMAND}, Wait("written"),
        Ask("q0", tool="write_file", shown="path: add.py\ncontent: " + COMMAND, effect="changes files of this chat", remember=True),
        step("read_file", "sales.csv", seconds=0.2, receipt="r1"), step("shell", "python add.py", ok=False, seconds=1, receipt="r2"),
        Ask("q1", shown=COMMAND.replace("\n", "↵\n") + "↵\nmv total ‹U+202E right-to-left override›vsc.latot"),
        {"tool_progress": "running", "tool": "shell", "detail": "python3 - <<'END'", "seconds": 0},
        {"tool_progress": "running", "tool": "shell", "seconds": 12, "text": "reading sales.csv\n1,204 rows read\n1,204 rows, total 88231.50\n"},
        Wait("ran"), step("shell", "python3 - <<'END' import csv rows = list(csv.reader(open('sales.csv')))", seconds=12.4, receipt="r3", files=files),
        words(" The 1,204 rows add up to **88,231.50**. The summary and a chart are above."), done(tokenCount=96, tokPerSec=38.2),
    )
    page.fill("#box", "Add up the third column of sales.csv and draw a chart of it.")
    page.click("#send")
    expect(page.locator("#strip[data-phase=preparing] #strip-lines")).to_contain_text("END")
    shoot(page, "tools-2-writing")
    host.release("written")
    expect(page.locator(".answers button")).to_have_count(3)
    shoot(page, "tools-3-ask-remember")
    page.locator("[data-outcome=refused]").click()
    expect(page.locator(".ask[data-state=waiting]")).to_contain_text("shell")
    shoot(page, "tools-4-ask")
    page.locator(".ask[data-state=waiting] [data-outcome=allowed]").click()
    expect(page.locator("#strip-lines")).to_contain_text("total 88231.50")
    shoot(page, "tools-5-running")
    host.release("ran")
    expect(page.locator(".assistant footer")).to_be_visible()
    conversation = next(iter(host.turns.values())).conversation
    kept = {"effect": "runs_code", "startedAt": "2026-03-01T10:00:00Z", "finishedAt": "2026-03-01T10:00:12Z"}
    host.runs[conversation] = [{"id": "t", "state": "finished", "reason": None, "receipts": [
        {**kept, "id": "r1", "tool": "read_file", "effect": "reads", "arguments": {"path": "sales.csv"}, "outcome": "succeeded", "observation": "a,b,c"},
        {**kept, "id": "r2", "tool": "shell", "arguments": {"command": "python add.py"}, "outcome": "failed", "observation": "python: not found"},
        {**kept, "id": "r3", "tool": "shell", "arguments": {"command": COMMAND, "seconds": 30}, "outcome": "succeeded", "observation": "1,204 rows, total 88231.50"},
    ]}]
    shoot(page, "tools-6-answer")
    page.locator(".receipts summary").first.click()
    expect(page.locator(".receipt")).to_have_count(3)
    page.locator(".receipt").last.locator("summary").click()
    page.evaluate("document.getElementById('scroller').scrollTop = 1e6")
    shoot(page, "tools-7-receipts")
    page.evaluate("document.getElementById('scroller').scrollTop = 0")
    shoot(page, "tools-8-top")


@looked_at
@looks
@sizes
def test_pictures_of_sheets_and_files_are_taken(host, open_page, shoot, width, height, scheme, locale):
    for title, minutes in CHATS:
        host.save_chat(title, [{"role": "user", "content": title}, {"role": "assistant", "content": "Gladly."}], minutes)
    host.add_model("gemma-e2b", name="Gemma 4 E2B", quantization="Q8_0", state="Installed", installedBytes=5_524_865_216,
                   modalities="Image, Audio, Video", license="Gemma", totalBytes=5_524_865_216, notes="Quick, and sees pictures.")
    host.add_model("qwen-9b", name="Qwen3.5 9B", quantization="IQ4_XS", recommended=True, totalBytes=6_086_819_616, modalities="Image, Video")
    host.add_model("gemma-e4b", name="Gemma 4 E4B", quantization="IQ4_XS", recommended=True, totalBytes=5_373_944_800, license="Gemma")
    host.add_model("bonsai", name="Bonsai 2 27B", quantization="PTQ1_0", fits=False, experimental=True, minDeviceMemoryGB=16,
                   needsBytes=9_700_000_000, freeBytes=6_200_000_000, totalBytes=6_575_895_848)
    host.script_download("qwen-9b", {"file": "w", "fileIndex": 1, "fileCount": 2, "phase": "downloading", "received": 2_600_000_000,
                                     "total": 6_086_819_616, "fraction": 0.427, "bytesPerSecond": 18_400_000, "etaSeconds": 190}, Wait("never"))
    page = open_page(host.url, viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale, allow=["400"])

    def drawer():
        if page.locator("#drawer").is_hidden():
            page.click("#menu")
            expect(page.locator("#drawer")).to_be_visible()

    shoot(page, "sheet-0-empty")
    drawer()
    page.fill("#search", "garden")
    expect(page.locator(".snippet mark")).to_be_visible()
    shoot(page, "sheet-1-search")
    page.fill("#search", "")
    page.click("#select")
    page.locator(".drawer input[type=checkbox]").nth(1).check()
    shoot(page, "sheet-2-select")
    page.click("#select")
    page.click("#open-settings")
    expect(page.locator("#settings")).to_be_visible()
    shoot(page, "sheet-3-settings")
    page.locator("#settings .content").evaluate("(content) => content.scrollTo(0, 1e6)")
    shoot(page, "sheet-4-settings-end")
    page.keyboard.press("Escape")
    drawer()
    page.click("#open-models")
    page.locator("#models .card", has_text="Qwen3.5").locator("[data-act=download]").click()
    expect(page.locator("#models progress")).to_have_attribute("value", "0.427")
    page.locator("#models .rest summary").click()
    shoot(page, "sheet-5-models")
    page.locator("#models .content").evaluate("(content) => content.scrollTo(0, 1e6)")
    shoot(page, "sheet-6-models-end")
    page.locator("#models .import summary").click()
    page.fill("#models [name=importPath]", "/home/you/Downloads/notes.txt")
    page.locator("#models .import .primary").click()
    expect(page.locator("#models .import .failure")).to_be_visible()
    page.locator("#models .content").evaluate("(content) => content.scrollTo(0, 1e6)")
    shoot(page, "sheet-6-models-import")
    page.keyboard.press("Escape")
    page.click("#model")
    expect(page.locator("#model-sheet")).to_be_visible()
    shoot(page, "sheet-7-model")
    page.keyboard.press("Escape")
    page.click("#attach")
    expect(page.locator("#attach-sheet")).to_be_visible()
    shoot(page, "sheet-8-attach")
    picture = (Path(__file__).parents[2] / "Web/touch-icon.png").read_bytes()
    page.locator("#attach-sheet input[name=file]").set_input_files([
        {"name": "balcony in the morning light.png", "mimeType": "image/png", "buffer": picture},
        {"name": "measurements.csv", "mimeType": "text/csv", "buffer": b"a,b"},
        {"name": "lease.pdf", "mimeType": "application/pdf", "buffer": b"%PDF"}])
    expect(page.locator(".chip[data-state=ready]")).to_have_count(3)
    page.fill("#box", "What could grow here?")
    shoot(page, "sheet-9-chips")
    host.script(words("Ferns, hostas and"), done(promptTokens=1_900, tokenCount=400, truncated=True))
    page.click("#send")
    expect(page.locator(".assistant footer")).to_be_visible()
    shoot(page, "sheet-A-sent")
    page.locator(".message.user").hover()
    page.locator(".message.user .more").click()
    expect(page.locator("#message-sheet")).to_be_visible()
    shoot(page, "sheet-B-message")
    page.locator("#message-sheet .row").nth(1).click()
    shoot(page, "sheet-C-editing")
    page.locator("#editing button").click()
    host.files_put_back = ["plan.txt"]
    page.locator(".undo").last.click()
    expect(page.locator(".notice")).to_be_visible()
    shoot(page, "sheet-D-undone")
    drawer()
    page.locator(".drawer .more").first.click()
    expect(page.locator("#rename")).to_be_visible()
    shoot(page, "sheet-E-chat")
    page.locator("#rename .danger").click()
    expect(page.locator("#remove")).to_be_visible()
    shoot(page, "sheet-F-remove")


TASKS = """What is left to do:

- [x] Ask the neighbours
- [ ] Buy **soil**, two bags
  - [ ] and a trowel
- [ ] Read the"""


@looked_at
@looks
@sizes
def test_pictures_of_troubles_are_taken(host, open_page, shoot, width, height, scheme, locale):
    host.save_chat("A question nobody answered", [{"role": "user", "content": "Are you there?"}], 50)
    host.save_chat("What is left to do for the balcony?", [
        {"role": "user", "content": "What is left to do for the balcony?"},
        {"role": "assistant", "content": TASKS, "thinking": "A list.", "interrupted": True, "tokenCount": 40}], 10)
    host.save_chat("Wide words", [
        {"role": "user", "content": "https://example.org/" + "a-very-long-path/" * 12 + " " + "Donaudampfschifffahrts" * 8},
        {"role": "assistant", "content": "# " + "heading" * 20 + "\n\n" + "`" + "code" * 60 + "`\n\n" + "word" * 80 + "\n\n$" + "x + " * 60 + "y$"}], 5)
    host.save_chat("رسالة إلى الجيران", [
        {"role": "user", "content": "اكتب رسالة قصيرة إلى الجيران عن حفلة يوم السبت"},
        {"role": "assistant", "content": "جيراننا الأعزاء،\n\n1. الحفلة يوم **السبت**\n2. من الساعة `18:00`\n\n- [x] الدعوة\n- [ ] الطعام\n\n> مرحبا بكم — Ada & family"}], 3)
    page = open_page(host.url, viewport={"width": width, "height": height}, color_scheme=scheme, locale=locale,
                     allow=["Failed to load resource", "net::ERR"])

    def pick(title):
        if page.locator("#drawer").is_hidden():
            page.click("#menu")
            expect(page.locator("#drawer")).to_be_visible()
        page.locator(".chat", has_text=title).click()

    pick("A question nobody answered")
    expect(page.locator(".assistant footer")).to_be_visible()
    shoot(page, "trouble-1-unanswered")
    pick("What is left to do")
    expect(page.locator(".task")).to_have_count(4)
    shoot(page, "trouble-2-cut-off")
    pick("Wide words")
    expect(page.locator(".body h1")).to_be_visible()
    page.wait_for_selector(".body math")
    shoot(page, "trouble-3-wide")
    pick("رسالة إلى الجيران")
    expect(page.locator(".task")).to_have_count(2)
    shoot(page, "trouble-4-right-to-left")
    if page.locator("#drawer").is_hidden():
        page.click("#menu")
        expect(page.locator("#drawer")).to_be_visible()
    page.click("#open-about")
    expect(page.locator("#about")).to_be_visible()
    shoot(page, "trouble-5-about")
    page.keyboard.press("Escape")
    host.reachable = False
    page.fill("#box", "Hello?")
    page.click("#send")
    expect(page.locator("#model")).to_have_attribute("data-state", "Unreachable")
    shoot(page, "trouble-6-unreachable")
    host.reachable = True
    host.locked = True
    page.reload()
    expect(page.locator("#gate")).to_be_visible()
    shoot(page, "trouble-7-gate")
