"""Small models that make embeddings."""

import math
import random
import struct
import sys
from array import array
from pathlib import Path

from clients import MODEL, REPOSITORY

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "CommandLine"))
from gguf import UINT32, changed  # noqa: E402

VOCABULARY = REPOSITORY / ".deps/llama-testdata/ggml-vocab-bert-bge.gguf"


def uint32(value):
    return struct.pack("<II", UINT32, value)


def pooled(target, kind=1):
    """The starter model, whose file says how its vectors become one (1 mean, 2 first, 3 last, 4 rank)."""
    return str(changed(MODEL, target, llama__pooling_type=uint32(kind)))


def encoder(target, width=32, inner=64, layers=2, words=30522, length=512):
    """A BERT of random weights: real tokens, real computing, and vectors that mean nothing.

    Returns the path, and the weights by their names.
    """
    numbers = random.Random(7)
    tensors, weights = [], {}

    def tensor(name, *shape, ones=False):
        count = 1
        for size in shape:
            count *= size
        values = array("f", [1.0] * count if ones else [numbers.gauss(0, 0.2) for _ in range(count)])
        tensors.append((name, shape, values.tobytes()))
        weights[name] = values

    def norm(name):
        tensor(name + ".weight", width, ones=True)
        tensor(name + ".bias", width)

    tensor("token_embd.weight", width, words)
    tensor("token_types.weight", width, 2)
    tensor("position_embd.weight", width, length)
    norm("token_embd_norm")
    for layer in range(layers):
        for name in ["attn_q", "attn_k", "attn_v", "attn_output"]:
            tensor(f"blk.{layer}.{name}.weight", width, width)
            tensor(f"blk.{layer}.{name}.bias", width)
        norm(f"blk.{layer}.attn_output_norm")
        tensor(f"blk.{layer}.ffn_up.weight", width, inner)
        tensor(f"blk.{layer}.ffn_up.bias", inner)
        tensor(f"blk.{layer}.ffn_down.weight", inner, width)
        tensor(f"blk.{layer}.ffn_down.bias", width)
        norm(f"blk.{layer}.layer_output_norm")

    keys = {
        "bert__block_count": layers, "bert__embedding_length": width, "bert__feed_forward_length": inner,
        "bert__attention__head_count": 2, "bert__context_length": length, "bert__pooling_type": 2,
    }
    head = changed(VOCABULARY, target, **{key: uint32(value) for key, value in keys.items()})
    data = bytearray(head.read_bytes())
    # `changed` copied a file without tensors: the count stands behind the magic and the version.
    struct.pack_into("<Q", data, 8, len(tensors))
    del data[_end_of_keys(data):]
    offset, data_of_tensors = 0, bytearray()
    for name, shape, values in tensors:
        data += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", len(shape))
        data += struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", 0, offset)
        data_of_tensors += values + b"\0" * (-len(values) % 32)
        offset = len(data_of_tensors)
    target.write_bytes(bytes(data) + b"\0" * (-len(data) % 32) + bytes(data_of_tensors))
    return str(target), weights


def first_vector(weights, tokens, width=32, layers=2, heads=2):
    """What BERT makes of some tokens, computed here: the first token's vector, of length 1."""

    def linear(name, rows):
        matrix, bias = weights[name + ".weight"], weights[name + ".bias"]
        size = len(rows[0])
        return [
            [bias[i] + sum(a * b for a, b in zip(matrix[i * size:(i + 1) * size], row)) for i in range(len(bias))]
            for row in rows]

    def norm(name, rows):
        out = []
        for row in rows:
            mean = sum(row) / len(row)
            spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-12)
            out.append([
                (x - mean) / spread * scale + shift
                for x, scale, shift in zip(row, weights[name + ".weight"], weights[name + ".bias"])])
        return out

    def add(rows, others):
        return [[a + b for a, b in zip(row, other)] for row, other in zip(rows, others)]

    def attend(queries, keys, values):
        out = [[] for _ in queries]
        size = width // heads
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            for index, query in enumerate(queries):
                scores = [sum(a * b for a, b in zip(query[part], key[part])) / math.sqrt(size) for key in keys]
                shares = [math.exp(score - max(scores)) for score in scores]
                out[index] += [
                    sum(share * value[part][i] for share, value in zip(shares, values)) / sum(shares)
                    for i in range(size)]
        return out

    def row(name, index):
        return weights[name + ".weight"][index * width:(index + 1) * width]

    x = [
        [sum(three) for three in zip(row("token_embd", token), row("token_types", 0), row("position_embd", place))]
        for place, token in enumerate(tokens)]
    x = norm("token_embd_norm", x)
    for layer in range(layers):
        block = f"blk.{layer}."
        heard = attend(*(linear(block + name, x) for name in ["attn_q", "attn_k", "attn_v"]))
        x = norm(block + "attn_output_norm", add(x, linear(block + "attn_output", heard)))
        inner = [[v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in line] for line in linear(block + "ffn_up", x)]
        x = norm(block + "layer_output_norm", add(x, linear(block + "ffn_down", inner)))
    length = math.sqrt(sum(v * v for v in x[0]))
    return [v / length for v in x[0]]


def _end_of_keys(data):
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    place = 24
    (count,) = struct.unpack_from("<Q", data, 16)

    def skip_string(place):
        return place + 8 + struct.unpack_from("<Q", data, place)[0]

    for _ in range(count):
        place = skip_string(place)
        (kind,) = struct.unpack_from("<I", data, place)
        place += 4
        if kind == 8:
            place = skip_string(place)
        elif kind == 9:
            of, length = struct.unpack_from("<IQ", data, place)
            place += 12
            for _ in range(length if of == 8 else 0):
                place = skip_string(place)
            place += 0 if of == 8 else sizes[of] * length
        else:
            place += sizes[kind]
    return place
