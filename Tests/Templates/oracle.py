"""Chat templates as Python's transformers renders them."""

import datetime
import json

import jinja2.ext
import jinja2.sandbox

NOW = "2026-01-02T03:04:05"


class Generation(jinja2.ext.Extension):
    """`{% generation %}` marks what a model wrote, for training; rendering ignores it."""

    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def strftime_now(format):
    return datetime.datetime.fromisoformat(NOW).strftime(format)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = strftime_now
    return made


def render(template, context):
    """(text, None), or (None, why)."""
    try:
        return environment().from_string(template).render(**context), None
    except Exception as error:  # whatever a template can do wrong
        return None, f"{type(error).__name__}: {error}"
