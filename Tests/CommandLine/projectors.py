"""Projectors with random weights for the starter model: it sees (LLaVA's kind, which needs no tokens of its own) or hears
(ultravox), and answers about each picture and sound otherwise, but what it means is chance."""

import random
import struct
from pathlib import Path

WIDTH, HIDDEN, PATCH, SIZE = 32, 64, 16, 64
STARTER_WIDTH = 576


class Writer:
    def __init__(self, seed: int) -> None:
        self.dice, self.pairs, self.tensors = random.Random(seed), [], []

    @staticmethod
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def key(self, name: str, value) -> None:
        head = self.text(name)
        if isinstance(value, bool):
            self.pairs.append(head + struct.pack("<IB", 7, value))
        elif isinstance(value, str):
            self.pairs.append(head + struct.pack("<I", 8) + self.text(value))
        elif isinstance(value, int):
            self.pairs.append(head + struct.pack("<II", 4, value))
        elif isinstance(value, float):
            self.pairs.append(head + struct.pack("<If", 6, value))
        else:
            self.pairs.append(head + struct.pack("<IIQ", 9, 6, len(value)) + struct.pack(f"<{len(value)}f", *value))

    def tensor(self, name: str, *shape: int, value: float | None = None, half: bool = False) -> None:
        count = 1
        for size in shape:
            count *= size
        numbers = [value] * count if value is not None else [self.dice.uniform(-0.2, 0.2) for _ in range(count)]
        self.tensors.append((name, shape, half, struct.pack(f"<{count}{'e' if half else 'f'}", *numbers)))

    def blocks(self, prefix: str, layers: int) -> None:
        for layer in range(layers):
            block = f"{prefix}.blk.{layer}."
            for name in ("ln1", "ln2"):
                self.tensor(block + name + ".weight", WIDTH, value=1)
                self.tensor(block + name + ".bias", WIDTH, value=0)
            for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
                self.tensor(block + name + ".weight", WIDTH, WIDTH)
                if prefix != "a" or name != "attn_k":
                    self.tensor(block + name + ".bias", WIDTH, value=0)
            self.tensor(block + "ffn_up.weight", WIDTH, HIDDEN)
            self.tensor(block + "ffn_up.bias", HIDDEN, value=0)
            self.tensor(block + "ffn_down.weight", HIDDEN, WIDTH)
            self.tensor(block + "ffn_down.bias", WIDTH, value=0)

    def head(self, kind: str, projector: str, layers: int, width: int, **more: int) -> None:
        self.key("general.architecture", "clip")
        self.key("general.type", "mmproj")
        self.key("general.name", f"Tiny {projector}")
        self.key(f"clip.has_{kind}_encoder", True)
        self.key("clip.projector_type", projector)
        self.key("clip.use_gelu", True)
        numbers = {
            "embedding_length": WIDTH, "feed_forward_length": HIDDEN, "block_count": layers, "attention.head_count": 2,
            "projection_dim": width, **more,
        }
        for name, number in numbers.items():
            self.key(f"clip.{kind}.{name}", number)
        self.key(f"clip.{kind}.attention.layer_norm_epsilon", 1e-6)

    def write(self, path: Path) -> Path:
        infos, data = b"", b""
        for name, shape, half, numbers in self.tensors:
            infos += self.text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
            infos += struct.pack("<IQ", 1 if half else 0, len(data))
            data += numbers + b"\0" * (-len(numbers) % 32)
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.pairs)) + b"".join(self.pairs) + infos
        path.write_bytes(head + b"\0" * (-len(head) % 32) + data)
        return path


def eyes(path: Path, width: int = STARTER_WIDTH, seed: int = 5, without: str = "", projector: str = "mlp",
         size: int = SIZE) -> Path:
    writer = Writer(seed)
    writer.head("vision", projector, 2, width, image_size=size, patch_size=PATCH)
    writer.key("clip.vision.image_mean", [0.5, 0.5, 0.5])
    writer.key("clip.vision.image_std", [0.5, 0.5, 0.5])
    writer.tensor("v.patch_embd.weight", PATCH, PATCH, 3, WIDTH)
    writer.tensor("v.position_embd.weight", WIDTH, (size // PATCH) ** 2)
    writer.blocks("v", 2)
    writer.tensor("mm.0.weight", WIDTH, HIDDEN)
    writer.tensor("mm.0.bias", HIDDEN, value=0)
    writer.tensor("mm.2.weight", HIDDEN, width)
    writer.tensor("mm.2.bias", width, value=0)
    writer.tensors = [tensor for tensor in writer.tensors if tensor[0] != without]
    return writer.write(path)


def ears(path: Path, width: int = STARTER_WIDTH, seed: int = 6) -> Path:
    writer = Writer(seed)
    bins, stack = 80, 4
    writer.head("audio", "ultravox", 1, width, num_mel_bins=bins)
    writer.key("clip.audio.projector.stack_factor", stack)
    writer.tensor("a.conv1d.1.weight", 3, bins, WIDTH, half=True)
    writer.tensor("a.conv1d.1.bias", 1, WIDTH, value=0)
    writer.tensor("a.conv1d.2.weight", 3, WIDTH, WIDTH, half=True)
    writer.tensor("a.conv1d.2.bias", 1, WIDTH, value=0)
    writer.tensor("a.position_embd.weight", WIDTH, 1500)
    writer.tensor("a.post_ln.weight", WIDTH, value=1)
    writer.tensor("a.post_ln.bias", WIDTH, value=0)
    writer.blocks("a", 1)
    writer.tensor("mm.a.norm_pre.weight", WIDTH * stack, value=1)
    writer.tensor("mm.a.mlp.1.weight", WIDTH * stack, 128)
    writer.tensor("mm.a.norm_mid.weight", 64, value=1)
    writer.tensor("mm.a.mlp.2.weight", 64, width)
    return writer.write(path)
