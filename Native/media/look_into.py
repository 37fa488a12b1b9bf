"""Looks into one file: the text of a document, a picture in a form that everything can show.

Started by Alcove inside its sandbox (AlcoveSandbox/Media): the file may be anything, and nothing of what happens here can
reach the rest of the machine. Answers one line of JSON on standard output, then the bytes of `blobs`, in order. A refusal is
{"error": code, "detail": words of ours}; codes: cut_off, damaged, unknown_form, without_pictures, without_sound, too_large,
protected, missing. What a library says of a file is never passed on.

    look_into.py FILE PACKAGES text KIND CHARACTERS
    look_into.py FILE PACKAGES picture KIND AREA FORMAT      (AREA 0: as large as it is; FORMAT: png, rgb, or auto)
    look_into.py FILE PACKAGES frames KIND AREA COUNT FORMAT (evenly spaced over the video, the first one first; FORMAT: jpg, or rgb)
    look_into.py FILE PACKAGES pages KIND AREA COUNT FORMAT  (the first pages of a PDF, each of at most AREA pixels)
    look_into.py FILE PACKAGES samples KIND RATE SECONDS     (the beginning of a sound: 32-bit numbers from -1 to 1, one channel)

rgb is three bytes a pixel, row by row, on white where one can see through: what a model that sees is given.
"""

import io
import json
import sys
import time
import zipfile

# What is not read by then is left out and said to be.
DEADLINE = time.monotonic() + 20
PIXELS = 100_000_000
UNPACKED_BYTES = 256 << 20
UNPACKED_FILES = 20_000


class Refusal(Exception):
    def __init__(self, code, detail=""):
        self.code, self.detail = code, detail


def fault(path, kind, error):
    """What is wrong with a file, told from how it begins and ends, and from how its library gave up."""
    with open(path, "rb") as source:
        head = source.read(64)
        source.seek(max(0, source.seek(0, 2) - 4_096))
        tail = source.read()
    marks = {
        "pdf": b"%PDF-", "docx": b"PK", "xlsx": b"PK", "pptx": b"PK", "png": b"\x89PNG", "jpg": b"\xff\xd8",
        "jpeg": b"\xff\xd8", "gif": b"GIF8", "webp": b"RIFF", "bmp": b"BM", "heic": b"ftyp", "heif": b"ftyp",
    }
    ends = {
        "pdf": b"%%EOF", "docx": b"PK\x05\x06", "xlsx": b"PK\x05\x06", "pptx": b"PK\x05\x06", "png": b"IEND", "jpg": b"\xff\xd9",
        "jpeg": b"\xff\xd9",
    }
    if kind in marks and marks[kind] not in head:
        return Refusal("unknown_form")
    if isinstance(error, EOFError) or "truncat" in str(error).lower() or kind in ends and ends[kind] not in tail:
        return Refusal("cut_off")
    return Refusal("damaged")


class Text:
    """Collects text up to a limit of characters and of time."""

    def __init__(self, limit):
        self.parts, self.room, self.complete = [], limit, True

    def add(self, text):
        """False when no more is wanted."""
        text = text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
        if len(text) > self.room:
            text, self.complete = text[: self.room], False
        self.parts.append(text)
        self.room -= len(text)
        if time.monotonic() > DEADLINE:
            self.complete = False
        return self.complete


def open_pdf(source):
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Refusal("protected")
        raise


def pdf(source, text):
    import pypdfium2

    document = open_pdf(source)
    pages, read = len(document), 0
    for index in range(pages):
        try:
            page = document[index]
            words = page.get_textpage().get_text_bounded()
            page.close()
        except pypdfium2.PdfiumError:
            # A page that is not there; a file can say that it has two thousand million of them.
            text.complete = False
            if time.monotonic() > DEADLINE:
                break
            continue
        read += 1
        if not text.add(("\n\n" if index else "") + words):
            break
    return {"pages": pages, "readPages": read}


def check_zip(path):
    """Office files are zip archives; one that unpacks to far more than it is gets no further."""
    with zipfile.ZipFile(path) as archive:
        items = archive.infolist()
    if len(items) > UNPACKED_FILES:
        raise Refusal("too_large", f"it holds {len(items)} files")
    unpacked = sum(item.file_size for item in items)
    if unpacked > UNPACKED_BYTES:
        raise Refusal("too_large", f"it unpacks to {unpacked >> 20} MB")


def table_lines(table):
    for row in table.rows:
        yield " | ".join(" ".join(cell.text.split()) for cell in row.cells)


def docx(source, text):
    import docx as library
    from docx.table import Table

    document = library.Document(source)
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            for line in table_lines(block):
                if not text.add(line + "\n"):
                    return {}
            continue
        style = (block.style.name or "") if block.style is not None else ""
        level = style.removeprefix("Heading ") if style.startswith("Heading ") else ""
        heading = "#" * min(int(level), 6) + " " if level.isdecimal() else ""
        if not text.add(heading + block.text + "\n"):
            break
    return {}


def xlsx(source, text):
    import openpyxl

    book = openpyxl.load_workbook(source, read_only=True, data_only=True)
    for sheet in book.worksheets:
        if not text.add(f"## {sheet.title}\n"):
            return {}
        sheet.reset_dimensions()  # what the file says of its size would be filled up with empty cells
        for row in sheet.iter_rows(values_only=True):
            if time.monotonic() > DEADLINE:
                text.complete = False
                return {}
            cells = ["" if cell is None else str(cell) for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            if cells and not text.add(",".join(quoted(cell) for cell in cells) + "\n"):
                return {}
        text.add("\n")
    return {}


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\n\r') else cell


def pptx(source, text):
    from pptx import Presentation

    def walk(shapes, depth=0):
        for shape in shapes:
            if shape.shape_type == 6 and depth < 20:  # a group
                yield from walk(shape.shapes, depth + 1)
            elif shape.has_text_frame:
                yield shape.text_frame.text
            elif getattr(shape, "has_table", False) and shape.has_table:
                yield from table_lines(shape.table)

    slides = Presentation(source).slides
    read = 0
    for number, slide in enumerate(slides, 1):
        words = [part for part in walk(slide.shapes) if part.strip()]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = slide.notes_slide.notes_text_frame.text.strip()
            words += [f"Notes: {notes}"] if notes else []
        read += 1
        if not text.add(f"## Slide {number}\n" + "\n".join(words) + "\n\n"):
            break
    return {"pages": len(slides), "readPages": read}


def read_text(path, kind, limit):
    text = Text(limit)
    try:
        if kind != "pdf":
            check_zip(path)
        with open(path, "rb") as source:  # the path has no ending, and openpyxl looks at endings
            facts = {"pdf": pdf, "docx": docx, "xlsx": xlsx, "pptx": pptx}[kind](source, text)
    except (Refusal, ImportError, MemoryError):
        raise
    except Exception as error:  # the libraries raise whatever the file makes them meet
        raise fault(path, kind, error)
    words = "".join(text.parts).strip("\n").encode("utf-8", "replace")
    return {"complete": text.complete, **facts}, [words]


def read_picture(path, kind, area, form):
    import warnings

    import pillow_heif
    from PIL import Image, ImageOps

    pillow_heif.register_heif_opener()
    Image.MAX_IMAGE_PIXELS = PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    try:
        image = Image.open(path, formats=["PNG", "JPEG", "GIF", "WEBP", "BMP", "HEIF"])
        if image.width * image.height > PIXELS:
            raise Refusal("too_large", f"it has {image.width} x {image.height} pixels")
        if area:
            side = max(1, int((area**0.5) * 2))
            image.draft("RGB", (side, side))  # JPEG can be read smaller at once
        image = ImageOps.exif_transpose(image)
        if area and image.width * image.height > area:
            scale = (area / (image.width * image.height)) ** 0.5
            size = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
            if image.mode in ("P", "1"):
                image = image.convert("RGBA" if "transparency" in image.info else "RGB")
            image = image.resize(size, Image.Resampling.LANCZOS)
        clear = image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info
        image = image.convert("RGBA" if clear else "RGB")
        out = io.BytesIO()
        profile = image.info.get("icc_profile")
        if form == "rgb":
            out.write(flat(image).tobytes())
        elif form == "png" or clear:
            image.save(out, "PNG", compress_level=1 if not area else 6, icc_profile=profile)
            form = "png"
        else:
            image.save(out, "JPEG", quality=85, icc_profile=profile)
            form = "jpg"
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise Refusal("too_large", f"it has more than {PIXELS // 1_000_000} million pixels")
    except (Refusal, MemoryError):
        raise
    except Exception as error:
        raise fault(path, kind, error)
    return {"width": image.width, "height": image.height, "format": form}, [out.getvalue()]


def flat(image):
    """The picture on white."""
    from PIL import Image

    if image.mode != "RGBA":
        return image.convert("RGB")
    ground = Image.new("RGB", image.size, (255, 255, 255))
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def encoded(image, form, quality):
    image = image.convert("RGB")
    if form == "rgb":
        return image.tobytes()
    out = io.BytesIO()
    image.save(out, "JPEG", quality=quality)
    return out.getvalue()


def read_samples(path, kind, rate, seconds):
    import av

    wanted, parts, count = rate * seconds, [], 0
    try:
        with av.open(path) as container:
            if not container.streams.audio:
                raise Refusal("without_sound")
            stream = container.streams.audio[0]
            stream.codec_context.thread_count = 1
            resampler = av.AudioResampler(format="flt", layout="mono", rate=rate)
            for frame in container.decode(stream):
                for piece in resampler.resample(frame):
                    parts.append(bytes(piece.planes[0])[: 4 * piece.samples])
                    count += piece.samples
                if count >= wanted or time.monotonic() > DEADLINE:
                    break
            else:
                for piece in resampler.resample(None):
                    parts.append(bytes(piece.planes[0])[: 4 * piece.samples])
    except Refusal:
        raise
    except (av.FFmpegError, ValueError, OSError, StopIteration) as error:
        raise fault(path, kind, error)
    data = b"".join(parts)
    complete = len(data) <= 4 * wanted
    data = data[: 4 * wanted]
    if not data:
        raise Refusal("without_sound")
    return {"rate": rate, "complete": complete}, [data]


def read_frames(path, kind, area, count, form):
    import av

    try:
        with av.open(path) as container:
            if not container.streams.video:
                raise Refusal("without_pictures")
            stream = container.streams.video[0]
            if stream.width * stream.height > PIXELS:
                raise Refusal("too_large", f"it has {stream.width} x {stream.height} pixels")
            stream.codec_context.thread_count = 1
            length = container.duration / av.time_base if container.duration else 0
            wanted = [length * number / count for number in range(count)] if length > 0 else [0]
            frames, last = [], None
            for moment in wanted:
                if time.monotonic() > DEADLINE:
                    break
                if moment > 0:
                    container.seek(int(moment * av.time_base), backward=True)
                frame = next(
                    (frame for frame in container.decode(stream) if (frame.time or 0) >= moment - 0.001), None
                ) if moment > 0 else next(container.decode(stream), None)
                if frame is None or (last is not None and frame.pts == last):
                    continue
                last = frame.pts
                frames.append((frame.time or 0, *small(frame, area, form)))
    except Refusal:
        raise
    except (av.FFmpegError, ValueError, OSError, StopIteration) as error:
        raise fault(path, kind, error)
    if not frames:
        raise Refusal("without_pictures")
    facts = [{"seconds": round(seconds, 3), "width": width, "height": height} for seconds, width, height, _ in frames]
    return {"frames": facts, "length": round(length, 3)}, [data for *_, data in frames]


def read_pages(path, area, count, form):
    import pypdfium2

    try:
        document = open_pdf(path)
    except pypdfium2.PdfiumError as error:
        raise fault(path, "pdf", error)
    pages = len(document)
    facts, blobs = [], []
    for index in range(min(pages, count)):
        if time.monotonic() > DEADLINE:
            break
        try:
            page = document[index]
            width, height = page.get_size()
            # Points; a page can say that it is a mile long, or nothing at all.
            if not (width >= 1 and height >= 1 and width / height < 100 and height / width < 100):
                continue
            scale = min((area / (width * height)) ** 0.5, 200 / 72)
            image = page.render(scale=scale, may_draw_forms=False).to_pil().convert("RGB")
            page.close()
        except (pypdfium2.PdfiumError, ValueError, OverflowError):
            continue
        if image.width * image.height > area:  # sides are rounded up
            image = image.resize((max(1, int(image.width * 0.99)), max(1, int(image.height * 0.99))))
        facts.append({"page": index + 1, "width": image.width, "height": image.height})
        blobs.append(encoded(image, form, 80))
    if not blobs:
        raise Refusal("without_pictures")
    return {"frames": facts, "pages": pages}, blobs


def small(frame, area, form):
    """The frame upright, with its size."""
    image = frame.to_image()
    turn = round((getattr(frame, "rotation", 0) or 0) / 90) * 90 % 360
    if turn:
        image = image.rotate(turn, expand=True)
    if image.width * image.height > area:
        scale = (area / (image.width * image.height)) ** 0.5
        image = image.resize((max(1, int(image.width * scale)), max(1, int(image.height * scale))))
    return image.width, image.height, encoded(image, form, 85)


def main():
    path, packages, job, kind, *rest = sys.argv[1:]
    sys.path[:0] = [packages]
    try:
        if job == "text":
            facts, blobs = read_text(path, kind, int(rest[0]))
        elif job == "frames":
            facts, blobs = read_frames(path, kind, int(rest[0]), int(rest[1]), rest[2])
        elif job == "pages":
            facts, blobs = read_pages(path, int(rest[0]), int(rest[1]), rest[2])
        elif job == "samples":
            facts, blobs = read_samples(path, kind, int(rest[0]), int(rest[1]))
        else:
            facts, blobs = read_picture(path, kind, int(rest[0]), rest[1])
    except Refusal as refusal:
        facts, blobs = {"error": refusal.code, "detail": refusal.detail}, []
    except ImportError as error:
        facts, blobs = {"error": "missing", "detail": error.name or "unnamed"}, []
    except (MemoryError, RecursionError):
        facts, blobs = {"error": "too_large", "detail": "it needs too much memory"}, []
    facts["blobs"] = [len(blob) for blob in blobs]
    out = sys.stdout.buffer
    out.write(json.dumps(facts).encode() + b"\n")
    for blob in blobs:
        out.write(blob)
    out.flush()


if __name__ == "__main__":
    main()
