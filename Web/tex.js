// Where mathematics is in a text, and where a dollar is a dollar. Pure: knows positions in strings and nothing else.

/** Longer than this nobody writes between two delimiters, in a block and in a line. */
export const FORMULA_LIMIT = 4_000;
export const INLINE_LIMIT = 1_000;

const PAIRS = [["$$", "$$", true], ["\\[", "\\]", true], ["\\(", "\\)", false], ["$", "$", false]];

/**
 * The formula that begins at `start`: `{ end, tex, display }`, or null. A single dollar opens one only where it cannot be
 * money or a variable of a shell: no letter, digit or dollar before it, no space after it, and an end that has no space
 * before and no letter or digit after it.
 */
export function formulaAt(text, start) {
    const pair = PAIRS.find(([open]) => text.startsWith(open, start));
    if (!pair) return null;
    const [open, close, display] = pair;
    const from = start + open.length;
    const limit = Math.min(text.length, from + INLINE_LIMIT);
    const single = open === "$";
    if (single && (/[\w$]/.test(text[start - 1] ?? "") || /\s/.test(text[from] ?? " "))) return null;
    for (let at = from; at < limit; at += 1) {
        // What is marked as code is no part of a formula.
        if (text[at] === "`" || text.startsWith("\n\n", at)) return null;
        if (text.startsWith(close, at) && !(single && text[at + 1] === "$")) {
            const tex = text.slice(from, at);
            if (single && !isFormula(tex, text[at + 1] ?? "")) return null;
            return tex.trim() === "" ? null : { end: at + close.length, tex, display };
        }
        if (text[at] === "\\") at += 1;
    }
    return null;
}

// Between "$5 and 10$" and in "$10 (or 9$)" there are words, or half of a pair of brackets, and no sign that TeX would have.
function isFormula(tex, after) {
    if (/\s$/.test(tex) || /\w/.test(after)) return false;
    if (!/^[\d.,]/.test(tex) || /[\\^_={}+*<>|]/.test(tex)) return true;
    return !/^[\d.,]+\s+\p{L}|[\s(\[]\p{L}{2}/u.test(tex) && count(tex, /[([]/g) === count(tex, /[)\]]/g);
}

const count = (text, pattern) => text.match(pattern)?.length ?? 0;

/** Where the next of something is in a text; asked from further and further on, it reads the text once. */
class Places {
    #text;
    #found = new Map();

    constructor(text) {
        this.#text = text;
    }

    isOf(text) {
        return this.#text === text;
    }

    /** The place at or after `from`, or Infinity. */
    next(pattern, from) {
        const before = this.#found.get(pattern);
        if (before && before.from <= from && before.at >= from) return before.at;
        pattern.lastIndex = from;
        const at = pattern.exec(this.#text)?.index ?? Infinity;
        this.#found.set(pattern, { from, at });
        return at;
    }
}

const CLOSE = { "$$": /\$\$/g, "\\[": /\\\]/g };
const BLANK = /\n[ \t>]*\n/g;
const BEHIND = /[ \t]*[.,;:]?[ \t]*(?=\n|$)/y;
let places = new Places("");

/**
 * The displayed formula that begins a block at `start`: `{ close }`, where its last delimiter begins; with `close` null when
 * the text ends before it, so that more text could bring it. Null when there is none.
 */
export function displayedAt(text, start) {
    const open = text.startsWith("$$", start) ? "$$" : text.startsWith("\\[", start) ? "\\[" : null;
    if (open === null) return null;
    if (!places.isOf(text)) places = new Places(text);
    const close = places.next(CLOSE[open], start + 2);
    const end = Math.min(places.next(BLANK, start), start + FORMULA_LIMIT);
    if (close === Infinity) return end >= text.length ? { close: null } : null;
    BEHIND.lastIndex = close + 2;
    // With words behind it, it is a part of a paragraph.
    return close < end && BEHIND.test(text) && text.slice(start + 2, close).trim() !== "" ? { close } : null;
}

/** What is between the delimiters of a displayed formula, and the point behind it: `{ tex, after }`. */
export function displayed(source) {
    const [, tex, after] = /^(?:\$\$|\\\[)([^]*?)(?:\$\$|\\\])\s*([.,;:]?)$/.exec(source) ?? [null, "", ""];
    return { tex, after };
}
