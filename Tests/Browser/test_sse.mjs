import assert from "node:assert/strict";
import { test } from "node:test";
import { LINE_LIMIT, SSEParser } from "../../Web/sse.js";

function read(pieces) {
    const parser = new SSEParser();
    return pieces.flatMap((piece) => parser.push(piece)).map(({ data }) => data);
}

const bytes = (text) => new TextEncoder().encode(text);

test("CR and LF that arrive apart are one line end", () => {
    assert.deepEqual(read(["data: A\r\n", "data: B\r", "\n", "data: C\r\n", "\n"]), ["A\nB\nC"]);
});

test("a CR alone is a line end too", () => {
    assert.deepEqual(read(["data: A\r\n", "data: B\r", "data: C\r\n", "\n"]), ["A\nB\nC"]);
    assert.deepEqual(read(["data: A\r\rdata: B\r\r"]), ["A", "B"]);
});

test("every split of a stream reads the same, inside a character and between CR and LF included", () => {
    const stream = bytes(': hello\r\n\r\ndata: {"t":"é 😸 שלום"}\r\n\r\ndata:two\ndata: lines\n\nid: 7\rdata: end\r\r');
    const expected = ['{"t":"é 😸 שלום"}', "two\nlines", "end"];
    for (let first = 0; first <= stream.length; first += 1) {
        assert.deepEqual(read([stream.slice(0, first), stream.slice(first)]), expected, `split at ${first}`);
        for (let second = first; second <= stream.length; second += 3) {
            assert.deepEqual(read([stream.slice(0, first), stream.slice(first, second), stream.slice(second)]), expected);
        }
    }
    assert.deepEqual(read([...stream].map((byte) => Uint8Array.of(byte))), expected);
});

test("five thousand events in odd-sized reads are five thousand events", () => {
    const stream = bytes(Array.from({ length: 5000 }, (_, i) => `data: {"i":${i},"e":"é"}\n\n`).join(""));
    const pieces = [];
    for (let at = 0; at < stream.length; at += 16_384) pieces.push(stream.slice(at, at + 16_384));
    const events = read(pieces);
    assert.equal(events.length, 5000);
    assert.equal(JSON.parse(events[4999]).i, 4999);
});

test("comments are not events, and what was never ended was never sent", () => {
    assert.deepEqual(read([": keep-alive\n\n", "data: whole\n\n", "data: half\n"]), ["whole"]);
});

test("only one space after the colon is dropped, and a field without a colon has an empty value", () => {
    assert.deepEqual(read(["data:  two\n\n", "data\n\n", "data:\ndata:\n\n"]), [" two", "", "\n"]);
});

test("a byte order mark before the first field is dropped", () => {
    assert.deepEqual(read([Uint8Array.of(0xef, 0xbb), Uint8Array.of(0xbf), bytes("data: x\n\n")]), ["x"]);
});

test("a line without end is refused instead of filling the memory", () => {
    const parser = new SSEParser();
    const piece = "x".repeat(1024 * 1024);
    assert.throws(() => {
        for (let sent = 0; sent <= LINE_LIMIT; sent += piece.length) parser.push(piece);
    }, /longer than 8 MiB/);
});
