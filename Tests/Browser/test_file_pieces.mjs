import assert from "node:assert/strict";
import { test } from "node:test";
import { FILE_LIMIT, filePieces, PIECE_LENGTH } from "../../Web/file-pieces.js";

const bytes = (text) => new TextEncoder().encode(text);

test("a short text is one piece, at the byte where its words begin", () => {
    assert.deepEqual(filePieces(bytes("Bread\nand milk\n")), [{ text: "Bread\nand milk", offset: 0 }]);
    assert.deepEqual(filePieces(bytes("\ufeff\n 面包\n")), [{ text: "面包", offset: 5 }]);
});

test("a long text is cut between paragraphs, and every piece stands where it says", () => {
    const text = Array.from({ length: 60 }, (_, n) => `Paragraph ${n}: ${"做面包 and rest. ".repeat(60).trim()}`).join("\n\n");
    const whole = bytes(text);
    const pieces = filePieces(whole);
    assert.ok(pieces.length > 2);
    for (const { text: words, offset } of pieces) {
        assert.ok(words.length <= PIECE_LENGTH && words.startsWith("Paragraph "));
        assert.deepEqual(whole.slice(offset, offset + bytes(words).length), bytes(words));
    }
    assert.ok(pieces.map(({ text: words }) => words).join("\n\n") === text);
});

test("a text without any gap is cut and no character is", () => {
    const text = "😀".repeat(20_000);
    const pieces = filePieces(bytes(text));
    assert.ok(pieces.map(({ text: words }) => words).join("") === text);
});

test("what is no text, empty or too long is refused", () => {
    for (const bad of [bytes(""), bytes(" \n"), new Uint8Array([65, 0, 66]), new Uint8Array([0xff, 0xfe, 65]), new Uint8Array(FILE_LIMIT + 1).fill(65)]) {
        assert.equal(filePieces(bad), null);
    }
});
