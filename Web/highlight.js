// Colours for code, made in a worker. The highlighter is old and knows patterns that some texts make very slow; in a
// worker that costs the colours of one block, never the page.

const LIMIT = 40_000;
const PATIENCE = 1_500;

let worker = null;
let broken = false;
let count = 0;
const waiting = new Map();

/** Colours `code` in place when the language is known; `sanitise` turns the worker's HTML into a safe fragment. */
export function highlight(code, language, sanitise) {
    const text = code.textContent;
    if (!language || broken || text.length > LIMIT) return;
    const id = (count += 1);
    const timer = setTimeout(() => restart(), PATIENCE + 100 * waiting.size);
    waiting.set(id, { code, text, sanitise, timer });
    start().postMessage({ id, text, language: language.toLowerCase() });
}

function start() {
    if (worker) return worker;
    worker = new Worker(new URL("./highlight-worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => {
        const job = waiting.get(data.id);
        if (!job) return;
        waiting.delete(data.id);
        clearTimeout(job.timer);
        // The block may have grown or gone meanwhile.
        if (data.html === null || job.code.textContent !== job.text) return;
        const coloured = job.sanitise(data.html);
        if (coloured.textContent === job.text) job.code.replaceChildren(coloured);
    };
    worker.onerror = () => {
        broken = true;
        restart();
    };
    return worker;
}

function restart() {
    for (const job of waiting.values()) clearTimeout(job.timer);
    waiting.clear();
    worker?.terminate();
    worker = null;
}
