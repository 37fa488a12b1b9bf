// The host's HTTP routes. Everything is same-origin and carries the cookie; nothing else is ever asked.

import { hostWords } from "./strings.js";

/** What the host refused, or that it could not be reached (`transport` is then true and `status` 0). */
export class HostError extends Error {
    constructor(message, { status = 0, code = null, hint = null, transport = false } = {}) {
        super(message);
        Object.assign(this, { status, code, hint, transport });
    }
}

/** Only a failing fetch or read is a transport failure, not a reply that cannot be parsed. */
async function request(method, path, { body, raw, signal, timeout } = {}) {
    const signals = [signal, timeout ? AbortSignal.timeout(timeout) : null].filter(Boolean);
    try {
        return await fetch(path, {
            method,
            headers: (body ?? raw) === undefined ? {} : { "Content-Type": "application/json" },
            body: body === undefined ? raw : JSON.stringify(body),
            signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
            credentials: "same-origin",
            cache: "no-store",
        });
    } catch (error) {
        throw lost(error);
    }
}

/** A line that failed, which is told of; one that was given up here is no failure. */
function lost(error) {
    if (error.name === "AbortError") return error;
    host.lost();
    return new HostError(String(error.message || error), { transport: true });
}

async function refusal(response) {
    let words = {};
    try {
        words = await response.json();
    } catch {
        // A proxy or a crash may answer without JSON; the status says enough.
    }
    const { error, hint } = await hostWords(words);
    return new HostError(error, { status: response.status, code: words.code ?? null, hint });
}

export async function json(method, path, options = {}) {
    const response = await request(method, path, { timeout: 10_000, ...options });
    if (!response.ok) throw await refusal(response);
    return response.json();
}

/** A part of this module that is loaded when it is wanted. It comes from the host, so not coming means the same. */
async function part(file) {
    return import(`./${file}`).catch((error) => {
        throw new HostError(String(error.message || error), { transport: true });
    });
}

const entry = (id) => `/api/agent/catalog/${encodeURIComponent(id)}`;
const chat = (id) => `/api/agent/conversations/${encodeURIComponent(id)}`;

export const host = {
    /** Hears that the host could not be reached. */
    lost: () => {},
    engine: () => json("GET", "/api/agent/engine"),
    models: () => json("GET", "/api/models"),
    launch: () => json("GET", "/api/agent/launch"),
    chats: async () => (await json("GET", "/api/agent/conversations")).conversations ?? [],
    rename: (id, title) => json("POST", chat(id), { body: { title } }),
    remove: (id) => json("DELETE", chat(id)),
    search: async (words, signal) =>
        (await json("GET", `/api/agent/conversations?search=${encodeURIComponent(words)}`, { signal })).conversations ?? [],
    removeMany: (which) => json("POST", "/api/agent/conversations/delete", { body: which, timeout: 0 }),
    branch: (id, messages) => json("POST", `${chat(id)}/branch`, { body: { messages } }),
    /** `sight` is what is shown of the chat (`sightOf`): what is not cannot be taken back. */
    rewind: (id, sight) => json("POST", `${chat(id)}/rewind`, { body: sight, timeout: 60_000 }),
    redo: (id, sight) => json("POST", `${chat(id)}/redo`, { body: sight, timeout: 60_000 }),
    exportAddress: (id, format) => `${chat(id)}/export?format=${format}`,
    exportAllAddress: "/api/agent/export",
    importChats: (file) => json("POST", "/api/agent/import", { raw: file, timeout: 0 }),
    open: (id) => json("POST", `/api/sessions?conversation=${encodeURIComponent(id)}`, { body: {} }),
    turn: async (id) => (await json("GET", `/api/agent/turns?conversation=${encodeURIComponent(id)}`)).turn ?? null,
    stopTurn: (id) => json("POST", `/api/agent/turns/${encodeURIComponent(id)}/stop`, { body: {} }),

    approvals: async () => (await json("GET", "/api/agent/approvals")).approvals ?? [],
    answer: (id, signature, outcome) =>
        json("POST", `/api/agent/approvals/${encodeURIComponent(id)}`, { body: { signature, outcome } }),
    runs: async (id) => (await json("GET", `/api/agent/runs?conversation=${encodeURIComponent(id)}`)).runs ?? [],

    settings: () => json("GET", "/api/agent/settings"),
    changeSettings: (part) => json("PATCH", "/api/agent/settings", { body: part }),

    catalog: async () => (await json("GET", "/api/agent/catalog")).models ?? [],
    downloads: async () => (await json("GET", "/api/agent/downloads")).downloads ?? [],
    /** Starts a download or joins it: the frames are a window on it, and leaving stops nothing. */
    download: (id, signal, reader) => stream("POST", `${entry(id)}/download`, { body: {}, signal }, reader),
    cancelDownload: (id) => json("POST", `${entry(id)}/download/cancel`, { body: {} }),
    removeModel: (id) => json("DELETE", entry(id), { timeout: 60_000 }),
    importModel: (path, copy) => json("POST", "/api/models/import", { body: { path, copy }, timeout: 0 }),
    loadModel: (model) => json("POST", "/api/models/load", { body: { model }, timeout: 0 }),

    upload: async (file, options) => (await part("upload.js")).upload(file, options),
    claimShare: async () => (await json("POST", "/api/agent/share/claim", { body: {} })).share ?? null,
    discardShare: (id) => json("POST", "/api/agent/share/discard", { body: { id } }),

    /** Starts a turn; `reader` hears `headers(turnId)`, `bytes()`, `frame(object)` and, once, `ended()`. */
    chat: (body, signal, reader) => stream("POST", "/api/chat", { body, signal }, reader),
    attach: (turn, from, signal, reader) =>
        stream("GET", `/api/agent/turns/${encodeURIComponent(turn)}?from=${from}`, { signal }, reader),
};

export async function stream(method, path, options, reader) {
    const reading = part("sse.js");
    reading.catch(() => {});
    const response = await request(method, path, options);
    if (!response.ok) throw await refusal(response);
    reader.headers(response.headers.get("X-Alcove-Turn"));
    const { SSEParser } = await reading;
    const parser = new SSEParser();
    const bytes = response.body.getReader();
    for (;;) {
        let piece;
        try {
            piece = await bytes.read();
        } catch (error) {
            throw lost(error);
        }
        if (piece.done) break;
        reader.bytes();
        for (const event of parser.push(piece.value)) {
            const frame = parseFrame(event.data);
            if (frame) reader.frame(frame);
        }
    }
    reader.ended();
}

/** One broken frame costs that frame, not the answer. */
function parseFrame(data) {
    try {
        const frame = JSON.parse(data);
        return frame && typeof frame === "object" ? frame : null;
    } catch {
        console.warn("alcove: a frame was not JSON and was skipped");
        return null;
    }
}
