// A text file in pieces that can be kept, each with the place where it begins. Pure: no DOM, no words of the page's own.

/** Most bytes of a file, most pieces of it, most characters of a piece. */
export const FILE_LIMIT = 256 * 1024;
export const PIECES = 20;
export const PIECE_LENGTH = 18_000;

/**
 * `[{ text, offset }]`, offsets in bytes from the file's beginning; cut between paragraphs where there are some, else
 * between lines, else anywhere but within a character. null for what is no text, empty, or too long.
 */
export function filePieces(bytes) {
    if (bytes.length === 0 || bytes.length > FILE_LIMIT || bytes.includes(0)) return null;
    let text;
    try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
        return null;
    }
    const length = (part) => new TextEncoder().encode(part).length;
    const pieces = [];
    let offset = 0;
    while (text !== "") {
        const end = text.length <= PIECE_LENGTH ? text.length : cut(text);
        const part = text.slice(0, end);
        const lead = part.length - part.replace(/^[\s\ufeff]+/, "").length;
        const words = part.slice(lead).trimEnd();
        if (words !== "") pieces.push({ text: words, offset: offset + length(part.slice(0, lead)) });
        offset += length(part);
        text = text.slice(end);
    }
    return pieces.length > 0 && pieces.length <= PIECES ? pieces : null;
}

function cut(text) {
    const head = text.slice(0, PIECE_LENGTH);
    for (const [mark, size] of [["\n\n", 2], ["\n", 1], [" ", 1]]) {
        const at = head.lastIndexOf(mark);
        if (at > 0) return at + size;
    }
    // A pair of surrogates is one character.
    return /[\ud800-\udbff]$/.test(head) ? PIECE_LENGTH - 1 : PIECE_LENGTH;
}
