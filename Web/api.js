// The host's HTTP routes. Everything is same-origin and carries the cookie; nothing else is ever asked.

import { SSEParser } from "./sse.js";
import { t } from "./strings.js";

/** What the host refused, or that it could not be reached (`transport` is then true and `status` 0). */
export class HostError extends Error {
    constructor(message, { status = 0, code = null, hint = null, transport = false } = {}) {
        super(message);
        Object.assign(this, { status, code, hint, transport });
    }
}

/** Only a failing fetch or read is a transport failure; a reply that cannot be parsed is not. */
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
        if (error.name === "AbortError") throw error;
        throw new HostError(String(error.message || error), { transport: true });
    }
}

async function refusal(response) {
    let words = {};
    try {
        words = await response.json();
    } catch {
        // A proxy or a crash may answer without JSON; the status says enough.
    }
    return new HostError(words.error || "", { status: response.status, code: words.code ?? null, hint: words.hint ?? null });
}

async function json(method, path, options = {}) {
    const response = await request(method, path, { timeout: 10_000, ...options });
    if (!response.ok) throw await refusal(response);
    return response.json();
}

const entry = (id) => `/api/agent/catalog/${encodeURIComponent(id)}`;
const chat = (id) => `/api/agent/conversations/${encodeURIComponent(id)}`;

export const host = {
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
    rewind: (id) => json("POST", `${chat(id)}/rewind`, { body: {}, timeout: 60_000 }),
    redo: (id) => json("POST", `${chat(id)}/redo`, { body: {}, timeout: 60_000 }),
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
    loadModel: (model) => json("POST", "/api/models/load", { body: { model }, timeout: 0 }),

    upload,
    claimShare: async () => (await json("POST", "/api/agent/share/claim", { body: {} })).share ?? null,
    discardShare: (id) => json("POST", "/api/agent/share/discard", { body: { id } }),

    /** Starts a turn; `reader` hears `headers(turnId)`, `bytes()`, `frame(object)` and, once, `ended()`. */
    chat: (body, signal, reader) => stream("POST", "/api/chat", { body, signal }, reader),
    attach: (turn, from, signal, reader) =>
        stream("GET", `/api/agent/turns/${encodeURIComponent(turn)}?from=${from}`, { signal }, reader),
};

/** Stores a file in the host. Not fetch, which cannot tell how much of a body has gone. */
function upload(file, { signal, progress }) {
    return new Promise((resolve, reject) => {
        const sending = new XMLHttpRequest();
        const form = new FormData();
        form.append("file", file, file.name);
        signal.addEventListener("abort", () => sending.abort(), { once: true });
        sending.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
        sending.onabort = () => reject(new DOMException("The upload was given up.", "AbortError"));
        sending.onerror = () => reject(new HostError("", { transport: true }));
        sending.onload = () => {
            let reply = {};
            try {
                reply = JSON.parse(sending.responseText);
            } catch {
                // What cannot be read is told by its status.
            }
            // With several files in a request a host answers a list; this page sends one at a time.
            const [stored] = Array.isArray(reply.files) ? reply.files : [reply];
            const { status } = sending;
            if (status >= 200 && status < 300 && (stored?.file || stored?.url)) return resolve(stored);
            reject(new HostError(reply.error || t("refusedPlain", status), { status, code: reply.code ?? null, hint: reply.hint ?? null }));
        };
        sending.open("POST", "/api/upload");
        sending.send(form);
    });
}

async function stream(method, path, options, reader) {
    const response = await request(method, path, options);
    if (!response.ok) throw await refusal(response);
    reader.headers(response.headers.get("X-Alcove-Turn"));
    const parser = new SSEParser();
    const bytes = response.body.getReader();
    for (;;) {
        let piece;
        try {
            piece = await bytes.read();
        } catch (error) {
            if (error.name === "AbortError") throw error;
            throw new HostError(String(error.message || error), { transport: true });
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
