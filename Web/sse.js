// Server-sent events, read from bytes or text cut at any place. Pure: nothing here knows fetch or the DOM.

/** Longest line the parser keeps, in characters. A host that sends more is not speaking this protocol. */
export const LINE_LIMIT = 8 * 1024 * 1024;

/**
 * Feed it pieces with `push`; each call answers the events that piece completed, as `{ data, event }`.
 *
 * Follows the rules of the HTML standard: CR, LF and CRLF all end a line (also when CR and LF arrive apart), several
 * `data:` lines join with a newline, comments are dropped, an event without data is dropped, and what has no blank
 * line after it when the stream ends was never sent.
 */
export class SSEParser {
    #decoder = new TextDecoder();
    #line = "";
    #skipLineFeed = false;
    #data = null;
    #event = "";

    /** @param {Uint8Array | string} piece */
    push(piece) {
        // TextDecoder holds back a character whose bytes are still arriving, and drops a leading byte order mark.
        const text = typeof piece === "string" ? piece : this.#decoder.decode(piece, { stream: true });
        const events = [];
        let start = 0;
        for (let index = 0; index < text.length; index += 1) {
            const code = text.charCodeAt(index);
            if (code === 10 && this.#skipLineFeed) {
                this.#skipLineFeed = false;
                start = index + 1;
                continue;
            }
            this.#skipLineFeed = false;
            if (code !== 10 && code !== 13) continue;
            this.#endLine(this.#line + text.slice(start, index), events);
            this.#line = "";
            start = index + 1;
            this.#skipLineFeed = code === 13;
        }
        this.#line += text.slice(start);
        if (this.#line.length > LINE_LIMIT) throw new RangeError("A line of the stream is longer than 8 MiB.");
        return events;
    }

    #endLine(line, events) {
        if (line === "") {
            if (this.#data !== null) events.push({ data: this.#data, event: this.#event || "message" });
            this.#data = null;
            this.#event = "";
            return;
        }
        const colon = line.indexOf(":");
        if (colon === 0) return;
        const field = colon < 0 ? line : line.slice(0, colon);
        const rest = colon < 0 ? "" : line.slice(colon + 1);
        const value = rest.startsWith(" ") ? rest.slice(1) : rest;
        if (field === "data") this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
        if (field === "event") this.#event = value;
    }
}
