"""Files that tests upload, made here."""

import io
import struct
import zipfile
import zlib


def form(*parts, boundary=b"----alcove-test"):
    """A form: (file name or ready parameters, bytes, type or None) each; gives the content type and the body."""
    body = b""
    for name, data, kind in parts:
        head = name if isinstance(name, bytes) else b'filename="' + name.encode() + b'"'
        body += b"--" + boundary + b'\r\nContent-Disposition: form-data; name="file"; ' + head + b"\r\n"
        body += (b"Content-Type: " + kind.encode() + b"\r\n" if kind else b"") + b"\r\n" + data + b"\r\n"
    return {"Content-Type": f"multipart/form-data; boundary={boundary.decode()}"}, body + b"--" + boundary + b"--\r\n"


def upload(host, name, data, kind=None, **rest):
    headers, body = form((name, data, kind))
    return host.json("/api/upload", "POST", body, headers=headers, **rest)


def pdf(*pages):
    """A PDF with a line of text on each page; an empty one is a page without any."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, words in enumerate(pages):
        stream = f"BT /F1 24 Tf 72 700 Td ({words}) Tj ET".encode() if words else b""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    out, places = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    table += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + table + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))


def docx(text="Hello from a document."):
    import docx as library

    document = library.Document()
    document.add_heading("The title", 1)
    document.add_paragraph(text)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    return saved(document.save)


def xlsx():
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Prices"
    book.active.append(["apple", 1.5])
    book.active.append(['a "b", c', None, 3])
    return saved(book.save)


def pptx():
    import pptx as library

    show = library.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[0])
    slide.shapes.title.text = "Slide title"
    slide.notes_slide.notes_text_frame.text = "a note"
    return saved(show.save)


def picture(form, size=(300, 200), orientation=None, **rest):
    import pillow_heif
    from PIL import Image

    pillow_heif.register_heif_opener()
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
        exif[0x010F] = "a camera"
    image = Image.new("RGB", size, "red")
    image.paste("blue", (0, 0, size[0] // 2, size[1]))
    return saved(lambda out: image.save(out, form, **({"exif": exif} if orientation else {}), **rest))


def saved(save):
    out = io.BytesIO()
    save(out)
    return out.getvalue()


def huge_png(side=50_000):
    """A PNG of a few kilobytes that says it has side x side pixels."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"\0" * 4_000_000, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def bomb_docx(megabytes=2_000):
    """A document whose text unpacks to gigabytes."""
    whole = io.BytesIO(docx())
    out = io.BytesIO()
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for item in source.infolist():
            if item.filename != "word/document.xml":
                target.writestr(item.filename, source.read(item))
        with target.open("word/document.xml", "w", force_zip64=True) as stream:
            piece = b" " * (1 << 20)
            for _ in range(megabytes):
                stream.write(piece)
    return out.getvalue()


def lying_docx():
    """The same with sizes in the archive's directory that say little: a checker that believes them is deceived."""
    data = bytearray(bomb_docx(600))
    place = 0
    while (place := data.find(b"PK\x01\x02", place)) >= 0:
        size = struct.unpack_from("<I", data, place + 24)[0]
        if size > 1 << 20:
            struct.pack_into("<I", data, place + 24, 1000)
        place += 4
    return bytes(data)


def endless_pdf():
    """A PDF whose only page draws itself, and that has a tree of pages which is a circle."""
    data = pdf("x")
    data = data.replace(b"/Kids [4 0 R] /Count 1", b"/Kids [4 0 R 2 0 R 2 0 R] /Count 2000000000")
    return data


def video(seconds=2, size=(320, 240), form="mp4", codec="mpeg4"):
    """A video that turns from red to blue."""
    import av
    from PIL import Image

    out = io.BytesIO()
    with av.open(out, "w", format=form) as container:
        stream = container.add_stream(codec, rate=10)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for number in range(seconds * 10):
            share = number / (seconds * 10)
            image = Image.new("RGB", size, (int(255 * (1 - share)), 0, int(255 * share)))
            container.mux(stream.encode(av.VideoFrame.from_image(image)))
        container.mux(stream.encode())
    return out.getvalue()


def sparse_xlsx():
    """A workbook with a cell in its last row and column, which an honest reader would fill up to."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "first", "last"
    return saved(book.save)


def sound(seconds=1, form="wav", pitch=440):
    """A tone."""
    import array
    import math
    import wave

    rate = 22_050
    tone = array.array("h", (int(12_000 * math.sin(place / rate * pitch * 6.283)) for place in range(seconds * rate)))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(tone.tobytes())
    return out.getvalue() if form == "wav" else transcoded(out.getvalue(), form, rate)


def transcoded(data, form, rate):
    import av

    codec = {"mp3": "libmp3lame", "flac": "flac"}[form]
    out = io.BytesIO()
    with av.open(io.BytesIO(data)) as source, av.open(out, "w", format=form) as container:
        stream = container.add_stream(codec, rate=rate)
        stream.layout = "mono"
        for frame in source.decode(audio=0):
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return out.getvalue()
