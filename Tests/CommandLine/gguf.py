"""The starter model's file with keys of its header changed."""

import struct
from pathlib import Path

STRING, UINT32 = 8, 4
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<IQ", STRING, len(data)) + data


def changed(source: Path, target: Path, **keys: bytes | None) -> Path:
    """A copy with the values of some keys replaced (`__` in a name is a point); None leaves a key out."""
    with source.open("rb") as file:
        read = lambda form: struct.unpack("<" + form, file.read(struct.calcsize(form)))[0]
        string = lambda: file.read(read("Q"))
        assert file.read(4) == b"GGUF"
        version, tensors, count = read("I"), read("Q"), read("Q")
        pairs = {}
        for _ in range(count):
            key, start = string(), file.tell()
            kind = read("I")
            if kind == STRING:
                string()
            elif kind == 9:
                of, length = read("I"), read("Q")
                if of == STRING:
                    for _ in range(length):
                        string()
                else:
                    file.seek(SIZES[of] * length, 1)
            else:
                file.seek(SIZES[kind], 1)
            end = file.tell()
            file.seek(start)
            pairs[key] = file.read(end - start)
        start = file.tell()
        for _ in range(tensors):
            string()
            file.seek(8 * read("I") + 12, 1)
        end = file.tell()
        file.seek(start)
        infos = file.read(end - start)
        file.seek(-(-end // 32) * 32)
        weights = file.read()
    for name, value in keys.items():
        key = name.replace("__", ".").encode()
        if value is None:
            pairs.pop(key, None)
        else:
            pairs[key] = value
    head = b"GGUF" + struct.pack("<IQQ", version, tensors, len(pairs))
    head += b"".join(struct.pack("<Q", len(key)) + key + value for key, value in pairs.items()) + infos
    target.write_bytes(head + b"\0" * (-len(head) % 32) + weights)
    return target
