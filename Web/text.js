// What is done to texts before they are shown. Pure: no DOM, no words of the page's own.

/** Text that came from a model, with what could turn a line around or hide in it spelled out. */
export function visible(text) {
    return String(text).replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (character) =>
        `‹U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

/** `text` on one line, at most `limit` characters of it. */
export function oneLine(text, limit) {
    const line = visible(text).replace(/\s+/g, " ").trim();
    const characters = [...line.slice(0, 4 * limit)];
    return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
}

/** A title on one line, without what cannot be seen and could turn the words around it about. */
export function titleText(text) {
    return String(text ?? "").replace(/[\t-\r\u0085\u2028\u2029]/g, " ")
        .replace(/[\0-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, "").trim();
}

/** What is shown of a chat, so that the host can refuse to take away what is not. */
export function sightOf(history) {
    const end = history.at(-1)?.content;
    return { seen: history.length, ...(typeof end === "string" && { seenEnd: end }) };
}

/** A message's own words: files that an older host wrote into them are shown as chips and not as text. */
export function ownWords(content) {
    const end = "[End of file]";
    const cut = content.startsWith("[File: ") ? content.lastIndexOf(end) : -1;
    return cut < 0 ? content : content.slice(cut + end.length).trimStart();
}

/**
 * An answer in the order it came about: `[{ text, steps }]`, each piece's steps before its text. A step says how much
 * text was there `at` its time; one that does not (older chats) comes first.
 */
export function inOrder(text, steps) {
    const pieces = [{ text: "", steps: [], from: 0 }];
    for (const step of steps) {
        const at = Math.min(text.length, Number.isInteger(step.at) && step.at > 0 ? step.at : 0);
        const last = pieces.at(-1);
        if (at > last.from && text.slice(last.from, at).trim() !== "") pieces.push({ text: "", steps: [], from: at });
        pieces.at(-1).steps.push(step);
    }
    pieces.forEach((piece, index) => (piece.text = text.slice(piece.from, pieces[index + 1]?.from)));
    return pieces.map(({ text: words, steps: done }) => ({ text: words, steps: done }));
}

/**
 * The file's name as a person would say it. The name inside the file is whatever its maker's training run was called
 * ("Smollm2 135M 8k Lc100K Mix1 Ep2"); the file's own is what people know it by.
 */
export function displayName(file) {
    return file
        .replace(/^.*[/\\]/, "")
        .replace(/\.gguf$/i, "")
        .replace(/[-_](?:it|instruct)(?=[-_.]|$)/i, "")
        .replace(/[-.]((?:UD-)?I?Q\d\w*|B?F16|F32)$/i, " $1")
        .replace(/-+/g, " ")
        .trim();
}
