"""`alcove plumbing json` against Python: RFC 8785 written a second time, and thousands of random documents."""

import base64
import json
import random
import struct

from test_plumbing import lines


def ask(alcove, op, documents):
    questions = [
        {"id": index, "op": op, "json": base64.b64encode(document).decode()} for index, document in enumerate(documents)
    ]
    answers = lines(alcove, "json", *questions)
    assert [answer["id"] for answer in answers] == list(range(len(documents)))
    return answers


def number(value):
    """Number::toString of ECMA-262 from Python's digits: both are the shortest that read back."""
    value = float(value)
    if value == 0:
        return "0"
    sign, value = ("-", -value) if value < 0 else ("", value)
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    place = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) <= place <= 21:
        text = digits + "0" * (place - len(digits))
    elif 0 < place <= 21:
        text = digits[:place] + "." + digits[place:]
    elif -6 < place <= 0:
        text = "0." + "0" * -place + digits
    else:
        text = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{place - 1:+d}"
    return sign + text


def canonical(value):
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        # Python escapes as the RFC wants.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"


SCALARS = [(0, 0x20), (0x20, 0x7F), (0x7F, 0x800), (0x800, 0xD800), (0xE000, 0x10000), (0x10000, 0x110000)]


def text(source):
    return "".join(chr(source.randrange(*source.choice(SCALARS))) for _ in range(source.randrange(8)))


def double(source):
    kind = source.randrange(5)
    if kind == 0:
        return source.uniform(-1000, 1000)
    if kind == 1:
        return float(f"{source.randrange(-10**6, 10**6)}e{source.randrange(-30, 30)}")
    if kind == 2:
        return source.choice([-1, 1]) * 10.0 ** source.randrange(-330, 309)
    if kind == 3:
        return source.randrange(-(2**63), 2**63) if source.random() < 0.5 else source.randrange(-(2**53), 2**53)
    while True:
        value = struct.unpack("<d", struct.pack("<Q", source.getrandbits(64)))[0]
        if value == value and abs(value) != float("inf"):
            return value


def document(source, depth=4):
    kind = source.randrange(9 if depth else 6)
    if kind == 0:
        return source.choice([None, True, False])
    if kind in (1, 2):
        return double(source)
    if kind == 3:
        return source.randrange(-100, 100)
    if kind in (4, 5):
        return text(source)
    if kind == 6:
        return [document(source, depth - 1) for _ in range(source.randrange(5))]
    return {text(source): document(source, depth - 1) for _ in range(source.randrange(6))}


def test_four_thousand_random_documents_come_out_as_python_writes_them(alcove):
    source = random.Random(8785)
    documents = [document(source) for _ in range(4000)]
    written = [
        json.dumps(item, ensure_ascii=source.random() < 0.5, indent=source.choice([None, 1])).encode()
        for item in documents
    ]

    answers = ask(alcove, "canonical", written)

    for item, answer in zip(documents, answers):
        assert base64.b64decode(answer["output"]).decode() == canonical(item)
    again = ask(alcove, "canonical", [base64.b64decode(answer["output"]) for answer in answers])
    assert again == answers


def test_ten_thousand_random_doubles_come_out_as_ecmascript_writes_them(alcove):
    source = random.Random(2)
    values = [double(source) for _ in range(10000)] + [2.0**power for power in range(-1074, 1024)]

    [answer] = ask(alcove, "canonical", [json.dumps(values).encode()])

    got = base64.b64decode(answer["output"]).decode()[1:-1].split(",")
    assert got == [number(value) for value in values]


def test_parse_agrees_with_python_on_random_damage(alcove):
    source = random.Random(3)
    damaged = []
    for _ in range(3000):
        data = bytearray(json.dumps(document(source), ensure_ascii=False).encode())
        for _ in range(source.randrange(1, 3)):
            place = source.randrange(len(data) + 1)
            data[place : place + source.randrange(2)] = source.choice([b"", b"\\", b'"', b"{", b"]", b",", b"0", b"\xc3", b" "])
        damaged.append(bytes(data))

    answers = ask(alcove, "parse", damaged)

    for data, answer in zip(damaged, answers):
        assert answer["ok"] == readable(data), data


def readable(data):
    def refuse(_):
        raise ValueError

    try:
        value = json.loads(data.decode("utf-8"), parse_constant=refuse)
    except ValueError:
        return False
    return is_finite(value)


def is_finite(value):
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    if isinstance(value, list):
        return all(map(is_finite, value))
    return all(map(is_finite, value.values())) if isinstance(value, dict) else True


def test_what_has_no_canonical_form_is_refused_in_words(alcove):
    answers = ask(alcove, "canonical", [b'{"a":1,"a":2}', b'"\\ud800"', b"[1e999]", b"", b'"\xff"'])

    assert [answer.get("output") for answer in answers] == [None] * 5
    assert answers[0]["error"] == 'The JSON cannot be read at byte 7: the key "a" is given twice.'
    assert answers[1]["error"] == "The JSON cannot be read at byte 7: half of a surrogate pair stands alone."
