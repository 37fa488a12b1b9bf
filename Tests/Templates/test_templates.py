"""Every chat template of llama.cpp's source, over a table of conversations, against Python's jinja2.

Two ways are compared: the template language by itself, byte for byte, and for the families of the catalogue the prompt as
the engine makes it. Differences are those of docs/templates.md: one that is not listed fails, and one that is listed and
no longer there fails too.
"""

import copy
import fnmatch
import functools
import json
import re

import pytest

import alcove
import oracle
from chatml import CHATML
from conversations import CONVERSATIONS
from expressions import EQUAL, OTHER, REFUSED

SOURCES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(alcove.TEMPLATES.glob("*.jinja"))}
TOKENS = {"bos_token": "<BOS>", "eos_token": "<EOS>"}

# Templates of the catalogue's families: Gemma 4, Qwen (Bonsai's too), ChatML with and without a system message of its own.
CATALOGUE = {
    **{name: SOURCES[name] for name in ("google-gemma-4-31B-it", "google-gemma-4-31B-it-interleaved")},
    **{name: SOURCES[name] for name in ("Qwen3.5-4B", "Qwen-Qwen3-0.6B", "Qwen-Qwen2.5-7B-Instruct")},
    **CHATML,
}


def listed(heading):
    """The rows of a table in docs/templates.md: (template pattern, conversation pattern)."""
    text = (alcove.ROOT / "docs/templates.md").read_text(encoding="utf-8")
    section = text.split(f"### {heading}\n", 1)[1].split("\n#", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| `")]
    return [(row[0].strip("`"), name.strip(" `"), row[2]) for row in rows for name in row[1].split(",")]


def check(found, heading):
    """found: {(template, conversation): what differs}."""
    rows = listed(heading)

    def covers(row, key):
        return fnmatch.fnmatchcase(key[0], row[0]) and fnmatch.fnmatchcase(key[1], row[1])

    unlisted = {key: why for key, why in found.items() if not any(covers(row, key) for row in rows)}
    stale = [row for row in rows if not any(covers(row, key) for key in found)]
    assert not unlisted, "\n".join(f"{' / '.join(key)}: {why}" for key, why in unlisted.items())
    assert not stale, f"listed in docs/templates.md and no difference any more: {stale}"
    assert all(row[2] for row in rows), "a row has no cause"


def difference(expected, why, answer):
    """How an answer differs from Python's, or None."""
    text = answer.get("output")
    if text == expected:
        return None
    if expected is None:
        return f"Python: {why}; here: {text!r}"
    if text is None:
        return f"here: {answer['error']}"
    at = next((i for i, (a, b) in enumerate(zip(expected, text)) if a != b), min(len(expected), len(text)))
    return f"Python: {expected[max(0, at - 40):at + 40]!r}; here: {text[max(0, at - 40):at + 40]!r}"


def context(messages, more):
    return {"messages": messages, "add_generation_prompt": True, **TOKENS, **more}


def as_meant(messages):
    """The conversation as a template's author thinks of it: no content is empty text, arguments are objects."""
    messages = copy.deepcopy(messages)
    for message in messages:
        message["content"] = message.get("content") or ""
        for call in message.get("tool_calls", []):
            if isinstance(call["function"]["arguments"], str):
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return messages


@functools.cache
def prompts():
    """{(template, conversation): the engine's prompt} for the catalogue's families."""
    keys = [(template, name) for template in CATALOGUE for name in CONVERSATIONS]
    lines = []
    for template, name in keys:
        messages, more = CONVERSATIONS[name]
        lines.append({"template": CATALOGUE[template], "messages": messages, "now": oracle.NOW, **TOKENS, **more})
    return dict(zip(keys, alcove.ask(lines)))


def test_there_are_templates():
    assert len(SOURCES) >= 60


def test_the_language_renders_as_python():
    keys = [(template, name) for template in SOURCES for name in CONVERSATIONS]
    lines = [
        {"template": SOURCES[template], "context": context(*CONVERSATIONS[name]), "now": oracle.NOW} for template, name in keys
    ]
    found = {}
    for (template, name), answer in zip(keys, alcove.ask(lines)):
        expected, why = oracle.render(SOURCES[template], context(*CONVERSATIONS[name]))
        differs = difference(expected, why, answer)
        if differs:
            found[template, name] = differs
    check(found, "The language")


def test_small_expressions_render_as_python_or_are_refused():
    sources = EQUAL + REFUSED + OTHER
    for source, answer in zip(sources, alcove.ask([{"template": s, "context": {}, "now": oracle.NOW} for s in sources])):
        expected, why = oracle.render(source, {})
        if source in EQUAL:
            assert answer.get("output") == expected, (source, expected, why, answer)
        else:
            assert expected is not None and answer.get("output") != expected, f"{source} is no difference any more"
            assert ("error" in answer) == (source in REFUSED), (source, answer)


def test_the_engines_prompt_is_pythons_for_the_catalogue():
    found = {}
    for (template, name), answer in prompts().items():
        messages, more = CONVERSATIONS[name]
        meant = context(as_meant(messages), {"enable_thinking": False, **more})
        expected, why = oracle.render(CATALOGUE[template], meant)
        differs = difference(expected, why, answer)
        if differs:
            found[template, name] = differs
        elif expected is None:
            assert answer["code"] == "template_refused", answer
    check(found, "The engine's prompt")


def test_control_tokens_of_the_template_are_its_own_words():
    spelling = re.compile(r"<\|[a-z_]+\|?>|<[a-z_]+\|>|<BOS>")
    forging = {"control_spellings", "call_spellings", "thinking_in_text"}
    seen = 0
    for (template, name), answer in prompts().items():
        if "output" not in answer or name in forging:
            continue
        flags = [flag for text, flag in answer["parts"] for _ in text]
        for match in spelling.finditer(answer["output"]):
            # Gemma quotes the words of an object by a token of its own; those quotes are the template's too.
            assert not any(flags[match.start() : match.end()]), (template, name, match)
            seen += 1
    assert seen > 1000


def test_words_of_the_conversation_are_input():
    for (template, name), answer in prompts().items():
        if "output" not in answer:
            continue
        own = "\0".join(text for text, is_input in answer["parts"] if not is_input)
        for forged in ("You are evil", "<|eot_id|>", "</tool_response><turn|>", "Tells the weather", "get_weather", "Paris"):
            assert forged not in own, (template, name, forged)


@pytest.mark.parametrize("template", sorted(SOURCES))
def test_every_template_gives_the_engine_a_prompt(template):
    """Whatever the template, a plain chat has a prompt in which input is told apart, or the template refuses in words."""
    lines = [
        {"template": SOURCES[template], "messages": CONVERSATIONS[name][0], "now": oracle.NOW, **TOKENS, **CONVERSATIONS[name][1]}
        for name in ("user", "multi_turn", "control_spellings", "tools", "call_object")
    ]
    for answer in alcove.ask(lines):
        if "error" in answer:
            assert answer["code"] == "template_refused", answer
            continue
        own = "\0".join(text for text, is_input in answer["parts"] if not is_input)
        assert "You are evil" not in own
        assert "Tells the weather" not in own
    assert "output" in alcove.ask(lines[:1])[0]
