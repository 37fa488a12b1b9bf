"""`alcove plumbing multipart` against the encoders of Python's own library, and against bodies nobody would send."""

import base64
import random
from email import policy
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.generator import BytesGenerator
from io import BytesIO

from test_plumbing import b64, lines


def python_form(parts):
    """A form as email.mime makes it: (name, file name or None, type, bytes)."""
    form = MIMEMultipart("form-data")
    for name, file_name, kind, data in parts:
        main, sub = kind.split("/")
        part = MIMENonMultipart(main, sub)
        del part["MIME-Version"]
        extra = {} if file_name is None else {"filename": file_name}
        part.add_header("Content-Disposition", "form-data", name=name, **extra)
        part.set_payload(data.decode("ascii", "surrogateescape"))
        form.attach(part)
    out = BytesIO()
    generator = BytesGenerator(out, mangle_from_=False, policy=policy.HTTP.clone(max_line_length=None))
    generator.flatten(form)
    head, _, body = out.getvalue().partition(b"\r\n\r\n")
    assert b"multipart/form-data" in head
    return f'multipart/form-data; boundary="{form.get_boundary()}"', body


def hand_form(parts, boundary=b"----alcove"):
    """A form as browsers make it."""
    body = b""
    for head, data in parts:
        body += b"--" + boundary + b"\r\n" + head + b"\r\n\r\n" + data + b"\r\n"
    return f"multipart/form-data; boundary={boundary.decode()}", body + b"--" + boundary + b"--\r\n"


def pieces(body, seed):
    generator, cut = random.Random(seed), []
    while body:
        count = generator.randint(1, max(1, len(body) // 3))
        cut.append(body[:count])
        body = body[count:]
    return cut


def test_forms_of_pythons_own_encoder(alcove):
    names = ["a.txt", 'quo"te.txt', "back\\slash.txt", "semi;colon = x.txt", "naïve €.txt", "日本語.pdf", "%22.txt x", " a "]
    sent = [("file", name, "text/plain", f"line {number}\n".encode()) for number, name in enumerate(names)]
    sent += [("note", None, "text/plain", b""), ("file", "b.bin", "application/octet-stream", b"--\n\n--x")]
    content_type, body = python_form(sent)

    answers = lines(
        alcove, "multipart",
        *({"id": seed, "content_type": content_type, "chunks": b64(*pieces(body, seed))} for seed in range(30)),
    )

    for answer in answers:
        got = [(part["name"], part["filename"], part["content_type"].split(";")[0]) for part in answer["parts"]]
        wanted = [(name, file_name, kind) for name, file_name, kind, _ in sent]
        # Browsers write a quote as %22, and a name that has it by itself cannot be told apart.
        wanted[6] = (wanted[6][0], '".txt x', wanted[6][2])
        assert got == wanted
        data = [base64.b64decode(part["data"]) for part in answer["parts"]]
        # The encoder is one for text: it writes every end of line as CR LF.
        assert data == [item[3].replace(b"\n", b"\r\n") for item in sent]


def test_any_bytes_cut_anywhere(alcove):
    generator = random.Random(7)
    data = generator.randbytes(3_000) + b"\r\n------alcov" + b"\r\n----alcove-x\r\n\r" + b"\n" * 5
    head = b'Content-Disposition: form-data; name="file"; filename="x.bin"'
    content_type, body = hand_form([(head, data), (head, b""), (head, b"\r\n")])
    cuts = range(0, len(body), 7)

    answers = lines(
        alcove, "multipart",
        *({"content_type": content_type, "chunks": b64(body[:cut], body[cut:])} for cut in cuts),
        {"content_type": content_type, "chunks": b64(*(bytes([byte]) for byte in body))},
    )

    for answer in answers:
        assert [base64.b64decode(part["data"]) for part in answer["parts"]] == [data, b"", b"\r\n"]


def test_a_form_cut_short_is_an_error_at_every_place(alcove):
    content_type, body = hand_form([(b'Content-Disposition: form-data; name="file"; filename="x"', b"hello")])
    whole = len(body) - 2

    answers = lines(alcove, "multipart", *({"content_type": content_type, "chunks": b64(body[:n])} for n in range(whole)))

    assert len(answers) == whole
    assert all(answer["code"] == "multipart_incomplete" and "parts" not in answer for answer in answers)


def test_mutations_are_answered_and_the_same_however_cut(alcove):
    generator = random.Random(11)
    head = b'Content-Disposition: form-data; name="file"; filename="x.txt"\r\nContent-Type: text/plain'
    content_type, body = hand_form([(head, b"one\r\n--two"), (head, b"three")])
    requests = []
    for _ in range(2_000):
        changed = bytearray(body)
        for _ in range(generator.randint(1, 3)):
            place = generator.randrange(len(changed))
            change = generator.randrange(3)
            if change == 0:
                changed[place] = generator.choice(b"\r\n-:;\"= \x00\xff")
            elif change == 1:
                del changed[place : place + generator.randint(1, 40)]
            else:
                changed[place:place] = changed[generator.randrange(len(changed)) :][:30]
            changed = changed or bytearray(b"-")
        requests += [b64(bytes(changed)), b64(*pieces(bytes(changed), 3))]

    answers = lines(alcove, "multipart", *({"content_type": content_type, "chunks": chunks} for chunks in requests))

    assert len(answers) == len(requests)
    for whole, cut in zip(answers[::2], answers[1::2]):
        assert whole == cut
        assert ("parts" in whole) != ("error" in whole)
    assert 100 < sum("parts" in answer for answer in answers) < len(answers)


def test_ten_thousand_parts_are_refused(alcove):
    head = b'Content-Disposition: form-data; name="file"; filename="x"'
    content_type, body = hand_form([(head, b"")] * 10_000)

    (answer,) = lines(alcove, "multipart", {"content_type": content_type, "chunks": b64(body)})

    assert answer["code"] == "too_many_parts" and "1000" in answer["error"]


def test_an_email_message_is_no_form(alcove):
    message = EmailMessage()
    message.set_content("x")
    answers = lines(
        alcove, "multipart", {"content_type": message["Content-Type"], "chunks": b64(message.as_bytes())}, {"chunks": []}
    )

    assert [answer["code"] for answer in answers] == ["bad_boundary", "bad_boundary"]
