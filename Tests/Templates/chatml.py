"""ChatML, as SmolLM2 brings it and as the program uses it for a model that brings no template."""

import re

import alcove

SMOLLM2 = """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system
You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
' }}{% endif %}{{'<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '
'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}"""


def fallback():
    """The template in the program's source."""
    text = (alcove.ROOT / "Sources/AlcoveTemplates/ChatTemplate.swift").read_text(encoding="utf-8")
    literal = re.search(r'static let chatML = """\n(.*?)\n *"""', text, re.DOTALL).group(1)
    return "\n".join(line.strip() for line in literal.splitlines()).replace("\\\\", "\\")


CHATML = {"SmolLM2": SMOLLM2, "chatml": fallback()}
