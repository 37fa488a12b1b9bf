// Mathematics in answers: taught to the Markdown parser, and drawn as MathML, which browsers lay out and screen readers
// read. What cannot be drawn stays as it was written.

import { make } from "./elements.js";
import { displayed, displayedAt, formulaAt } from "./tex.js";

/** KaTeX knows inputs that keep it busy for ever. In a worker that costs those formulas, never the page. */
const PATIENCE = 3_000;
/** As many are drawn of one text; those beyond stay as they were written. */
const AT_MOST = 500;
/** A formula in a line that is longer than this may be wider than a phone; it is scrolled there. */
const LONG = 40;
/** Formulas remembered, as a growing answer is drawn again and again. */
const REMEMBERED = 500;

/** What KaTeX makes; nothing with an address, an event or a style. */
const allowed = {
    ALLOWED_TAGS: ["math", "semantics", "annotation", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot",
        "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none", "mtable", "mtr",
        "mtd", "mlabeledtr", "mstyle", "mpadded", "mphantom", "menclose", "merror"],
    ALLOWED_ATTR: ["accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "display", "displaystyle",
        "encoding", "fence", "form", "height", "linethickness", "lspace", "mathbackground", "mathcolor", "mathsize",
        "mathvariant", "maxsize", "minsize", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator",
        "stretchy", "voffset", "width", "xmlns"],
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
};

/** Adds formulas to a markdown-it parser; they come out as their source in a span of a class. */
export function addMathematics(md) {
    const { escapeHtml } = md.utils;
    md.inline.ruler.before("escape", "math", (state, silent) => {
        const found = formulaAt(state.src, state.pos);
        if (found === null || found.end > state.posMax) return false;
        if (!silent) {
            const token = state.push("math", "", 0);
            token.content = state.src.slice(state.pos, found.end);
            token.meta = found.display;
        }
        state.pos = found.end;
        return true;
    });
    md.block.ruler.before("fence", "math_block", (state, startLine, endLine, silent) => {
        if (state.sCount[startLine] - state.blkIndent >= 4) return false;
        const found = displayedAt(state.src, state.bMarks[startLine] + state.tShift[startLine]);
        // While an answer grows, a formula without its end holds its lines together: they are no list and no heading.
        const growing = found?.close === null;
        if (found === null || (growing && !state.env.live)) return false;
        if (silent) return true;
        let last = startLine;
        const isInside = (line) => line < endLine && (state.isEmpty(line) || state.sCount[line] >= state.blkIndent);
        while ((growing || state.eMarks[last] < found.close) && isInside(last + 1)) last += 1;
        // What stands further left has left the list that this is in.
        if (!growing && state.eMarks[last] < found.close) return false;
        const token = state.push(growing ? "math_open" : "math", "", 0);
        token.block = true;
        token.map = [startLine, last + 1];
        token.content = state.getLines(startLine, last + 1, state.blkIndent, false).trim();
        token.meta = true;
        state.line = last + 1;
        return true;
    }, { alt: ["paragraph", "reference", "blockquote", "list"] });
    md.renderer.rules.math = (tokens, index) => {
        const { content, meta, block } = tokens[index];
        const span = `<span class="math${meta ? " display" : ""}">${escapeHtml(content)}</span>`;
        return block ? `<p>${span}</p>\n` : span;
    };
    md.renderer.rules.math_open = (tokens, index) => `<p>${escapeHtml(tokens[index].content).replaceAll("\n", "<br>")}</p>\n`;
}

let worker = null;
let broken = false;
const drawn = new Map();
const waiting = new Map();

/** Draws the formulas under `root`: at once those that were drawn before, the others as they come. */
export function drawMathematics(root, purify) {
    for (const span of [...root.querySelectorAll("span.math")].slice(0, AT_MOST)) {
        const source = span.textContent;
        span.dir = "ltr";
        if (drawn.has(source)) show(span, drawn.get(source), purify);
        else if (!broken) ask(source, span, purify);
    }
}

function ask(source, span, purify) {
    const job = waiting.get(source);
    if (job) {
        job.spans.push(span);
        return;
    }
    const { tex, display } = formulaAt(source, 0) ?? { tex: displayed(source).tex, display: true };
    waiting.set(source, { spans: [span], purify, timer: setTimeout(() => giveUp(source), PATIENCE * (1 + waiting.size / 10)) });
    start().postMessage({ source, tex, display });
}

function start() {
    if (worker) return worker;
    worker = new Worker(new URL("./mathematics-worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data: { source, markup } }) => {
        const job = waiting.get(source);
        if (!job) return;
        waiting.delete(source);
        clearTimeout(job.timer);
        remember(source, markup);
        for (const span of job.spans) show(span, markup, job.purify);
    };
    // The library is not there: formulas stay as they were written.
    worker.onerror = () => {
        broken = true;
        stop();
    };
    return worker;
}

function remember(source, markup) {
    drawn.set(source, markup);
    if (drawn.size > REMEMBERED) drawn.delete(drawn.keys().next().value);
}

/** The oldest formula takes too long; those behind it are asked for again by a fresh worker. */
function giveUp(source) {
    const others = [...waiting].filter(([other]) => other !== source);
    stop();
    remember(source, null);
    for (const [other, { spans, purify }] of others) for (const span of spans) ask(other, span, purify);
}

function stop() {
    for (const { timer } of waiting.values()) clearTimeout(timer);
    waiting.clear();
    worker?.terminate();
    worker = null;
}

function show(span, markup, purify) {
    if (markup === null) return;
    const source = span.textContent;
    const fragment = purify.sanitize(markup, allowed);
    if (!fragment.querySelector("math")) return;
    span.replaceChildren(fragment);
    span.title = source;
    const isDisplayed = span.classList.contains("display");
    if (!isDisplayed && source.length <= LONG) return;
    span.classList.add("long");
    const { after } = displayed(source);
    if (isDisplayed && after) span.append(make("span", "", after));
    // Wider than the page, it is scrolled by keys too.
    span.tabIndex = 0;
}
