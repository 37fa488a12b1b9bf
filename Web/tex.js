// Where mathematics is in a text, and where a dollar is a dollar. Pure: knows positions in strings and nothing else.

/** Longer than this nobody writes between two delimiters. */
export const FORMULA_LIMIT = 4_000;

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
    const limit = Math.min(text.length, from + FORMULA_LIMIT);
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

// Between "$5 and 10$" there are words and no sign that TeX would have.
function isFormula(tex, after) {
    if (/\s$/.test(tex) || /\w/.test(after)) return false;
    return !/^[\d.,]+\s+[^\W\d_]/.test(tex) || /[\\^_={}+*<>|]/.test(tex);
}

/**
 * The displayed formula that begins a block, of `lines` from the one with this number: `{ last, tex }`. When it has no end,
 * `last` is null, and `open` says whether more text could bring one.
 */
export function formulaBlock(lines, first) {
    const start = lines[first].trimStart();
    const [open, close] = PAIRS.find(([delimiter, , display]) => display && start.startsWith(delimiter)) ?? [];
    if (!open) return null;
    let tex = "";
    for (let line = first; line < lines.length; line += 1) {
        const words = line === first ? start.slice(open.length) : lines[line];
        if (line > first && words.trim() === "") return { last: null, open: false };
        const at = words.indexOf(close);
        if (at >= 0) {
            tex += words.slice(0, at);
            // With words behind it, it is a part of a paragraph.
            if (!/^\s*[.,;:]?\s*$/.test(words.slice(at + close.length)) || tex.trim() === "") return { last: null, open: false };
            return { last: line, tex, after: words.slice(at + close.length).trim() };
        }
        tex += `${words}\n`;
        if (tex.length > FORMULA_LIMIT) return { last: null, open: false };
    }
    return { last: null, open: true };
}
