// Markdown to safe DOM. markdown-it turns untrusted text into HTML with raw HTML switched off, DOMPurify strips what
// is not on the list, and only then do nodes reach the page. Without the staged libraries the text is shown as it is.

import { make, makeButton } from "./elements.js";
import { moreWords, t } from "./strings.js";
import { highlight } from "./highlight.js";
import { addMathematics, drawMathematics } from "./mathematics.js";

/** Longer texts are shown plain: no answer is this long, and the parser's worst cases grow faster than the text. */
const TEXT_LIMIT = 300_000;
/** One paragraph's worth of inline markup; `[a](` twenty thousand times takes seconds, at this size a sixth of one. */
const INLINE_LIMIT = 20_000;
/** markdown-it 10 fills short table rows up to the header's width, so a wide header with many rows is quadratic. */
const COLUMN_LIMIT = 64;

/** Code longer than this goes uncoloured, and in pieces of so many lines. */
const LONG_CODE = 40_000;
const PIECE_LINES = 80;

const allowed = {
    ALLOWED_TAGS: ["a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li",
        "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"],
    ALLOWED_ATTR: ["alt", "class", "href", "src", "start", "title", "data-align"],
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
};

let parser = null;
let purify = null;

/** Loads the staged libraries; false when they are not there. */
export async function loadMarkdown() {
    try {
        const [markdownIt, domPurify] = await Promise.all([
            import("./vendor/markdown-it.js"), import("./vendor/purify.js"), moreWords(),
        ]);
        purify = domPurify.default;
        // Not every packaged release of the sanitiser works; one that throws must not take the page along.
        if (!purify.isSupported || !purify.sanitize("<b>x</b>")) return false;
        parser = makeParser(markdownIt.default);
        return true;
    } catch {
        parser = null;
        return false;
    }
}

function makeParser(markdownIt) {
    const md = markdownIt("default", { html: false, linkify: true, breaks: true, typographer: false });
    const { escapeHtml } = md.utils;

    // Web addresses and mail only when somebody wrote them so: "e.g. main.rs" is not a web site.
    md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
    md.validateLink = (url) => linkTarget(url) !== null;

    md.core.ruler.before("inline", "inline_limit", (state) => {
        for (const token of state.tokens) {
            if (token.type !== "inline" || token.content.length <= INLINE_LIMIT) continue;
            token.type = "long_text";
        }
    });
    md.renderer.rules.long_text = (tokens, index) => escapeHtml(tokens[index].content);

    md.core.ruler.push("tasks", ({ tokens }) => tokens.forEach((token, index) => {
        const first = token.children?.[0];
        if (token.type !== "inline" || tokens[index - 2]?.type !== "list_item_open" || first?.type !== "text") return;
        const [box, mark] = /^\[([ xX])\](?=\s)/.exec(first.content) ?? [];
        if (!box) return;
        first.content = first.content.slice(box.length).trimStart();
        tokens[index - 2].attrJoin("class", mark === " " ? "task" : "task done");
    }));

    const tableRule = md.block.ruler.__rules__.find((rule) => rule.name === "table");
    const table = tableRule.fn;
    md.block.ruler.at("table", (state, startLine, endLine, silent) => {
        const header = state.src.slice(state.bMarks[startLine], state.eMarks[startLine]);
        return header.split("|").length <= COLUMN_LIMIT && table(state, startLine, endLine, silent);
    }, { alt: ["paragraph", "reference"] });

    md.renderer.rules.image = (tokens, index) => {
        const token = tokens[index];
        const source = token.attrGet("src") ?? "";
        const alt = token.content;
        if (isOwnPath(source)) {
            return `<img src="${escapeHtml(source)}" alt="${escapeHtml(alt)}">`;
        }
        const words = escapeHtml(t("imageLeftOut", alt || t("imageNoName")));
        return /^https?:/i.test(source) ? `<a href="${escapeHtml(source)}">${words}</a>` : `<em>${words}</em>`;
    };

    // Inline styles are forbidden by the page's policy; a class says the same.
    for (const cell of ["td_open", "th_open"]) {
        md.renderer.rules[cell] = (tokens, index, options, env, self) => {
            const token = tokens[index];
            const align = /text-align:\s*(center|right)/.exec(token.attrGet("style") ?? "");
            token.attrs = align ? [["class", `align-${align[1]}`]] : null;
            return self.renderToken(tokens, index, options);
        };
    }
    addMathematics(md);
    return md;
}

function isOwnPath(url) {
    return /^\/(?![/\\])/.test(url);
}

/** http(s), mailto, or a path on this origin; null for everything else. */
export function linkTarget(url) {
    if (/^(https?:\/\/|mailto:)/i.test(url)) return url;
    return isOwnPath(url) ? url : null;
}

/** Renders a whole text. */
export function renderMarkdown(text) {
    if (!parser || text.length > TEXT_LIMIT) return plain(text);
    return renderSource(text, {});
}

function renderSource(text, env, { live = false } = {}) {
    env.live = live;
    const html = parser.renderer.render(parser.parse(text, env), parser.options, env);
    const fragment = purify.sanitize(html, allowed);
    dress(fragment, live);
    return fragment;
}

function plain(text) {
    const fragment = document.createDocumentFragment();
    const block = make("div", "plain", text);
    block.dir = "auto";
    fragment.append(block);
    return fragment;
}

// What the sanitiser let through gets direction, link manners, and frames for code and tables.
function dress(fragment, live) {
    for (const element of fragment.querySelectorAll("p, h1, h2, h3, h4, h5, h6, td, th")) element.dir = "auto";
    // These look past what has a direction of its own. Their numbers, bars and columns begin where their text does.
    for (const element of fragment.querySelectorAll("ul, ol, blockquote, table")) element.dir = directionOf(element);
    // An element with its own direction is left out when the paragraph around it looks for its first strong letter.
    for (const code of fragment.querySelectorAll("code")) code.dir = "ltr";
    for (const item of fragment.querySelectorAll("li.task")) {
        const box = make("input");
        Object.assign(box, { type: "checkbox", disabled: true, checked: item.classList.contains("done") });
        box.setAttribute("aria-label", t(box.checked ? "taskDone" : "taskOpen"));
        (item.firstElementChild?.localName === "p" ? item.firstElementChild : item).prepend(box);
    }
    for (const link of fragment.querySelectorAll("a")) {
        const target = linkTarget(link.getAttribute("href") ?? "");
        if (target === null) {
            link.replaceWith(...link.childNodes);
            continue;
        }
        link.target = "_blank";
        link.rel = "noopener noreferrer";
    }
    for (const image of fragment.querySelectorAll("img")) {
        if (!isOwnPath(image.getAttribute("src") ?? "")) image.remove();
        else image.loading = "lazy";
    }
    for (const table of fragment.querySelectorAll("table")) {
        const frame = make("div", "table");
        frame.tabIndex = 0;
        table.replaceWith(frame);
        frame.append(table);
    }
    for (const pre of fragment.querySelectorAll("pre")) frameCode(pre, live);
    drawMathematics(fragment, purify);
}

/** The direction of the first letter that has one, code and formulas left out. */
function directionOf(element) {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        if (texts.currentNode.parentElement.closest("code, .math")) continue;
        const [letter] = /\p{L}/u.exec(texts.currentNode.data) ?? [];
        if (letter) return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(letter) ? "rtl" : "ltr";
    }
    return "ltr";
}

function frameCode(pre, live) {
    const code = pre.querySelector("code") ?? pre.appendChild(document.createElement("code"));
    const language = /(?:^|\s)language-([\w+#.-]{1,30})/.exec(code.className)?.[1] ?? "";
    code.className = "";
    pre.dir = "ltr";
    pre.tabIndex = 0;
    const frame = make("figure", "code");
    const head = make("figcaption");
    const label = make("span", "", language || t("code"));
    const copy = makeButton("quiet", t("copy"));
    copy.dataset.copy = "code";
    copy.setAttribute("aria-label", t("copyCode"));
    head.append(label, copy);
    pre.replaceWith(frame);
    frame.append(head, pre);
    if (!live && code.textContent.length > LONG_CODE) inPieces(frame, code);
    else if (!live) highlight(code, language, (html) => purify.sanitize(html, {
        ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"], ALLOW_DATA_ATTR: false, RETURN_DOM_FRAGMENT: true,
    }));
}

// So that only what is in sight is laid out; the pieces' texts together are still the whole code, for Copy.
function inPieces(frame, code) {
    frame.classList.add("long");
    const lines = code.textContent.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    const pieces = [];
    for (let start = 0; start < lines.length; start += PIECE_LINES) {
        pieces.push(make("span", "piece", lines.slice(start, start + PIECE_LINES).join("")));
    }
    code.replaceChildren(...pieces);
}

/**
 * Renders an answer as it grows. Blocks that no further text can change are drawn once and never touched again; only
 * the unfinished end is drawn anew, so the work a frame costs follows the last block and not the answer.
 */
export class StreamingMarkdown {
    #root;
    #env = {};
    #frozen = "";
    #tail = [];
    #nextDraw = 0;

    constructor(root) {
        this.#root = root;
    }

    /** Draws `text`; answers false when it put the drawing off because the last one was dear. */
    update(text, now) {
        if (!text.startsWith(this.#frozen)) this.#restart();
        if (!parser || text.length > TEXT_LIMIT) {
            this.#restart();
            this.#replaceTail(plain(text));
            return true;
        }
        if (now < this.#nextDraw) return false;
        if (this.#growCode(text.slice(this.#frozen.length))) return true;
        const began = performance.now();
        const boundary = this.#boundary(text.slice(this.#frozen.length));
        if (boundary > 0) {
            const done = text.slice(this.#frozen.length, this.#frozen.length + boundary);
            this.#replaceTail(renderSource(done, this.#env));
            this.#tail = [];
            this.#frozen += done;
        }
        const rest = text.slice(this.#frozen.length);
        this.#replaceTail(renderSource(rest, this.#env, { live: true }));
        const cost = performance.now() - began;
        this.#nextDraw = cost > 8 ? now + 4 * cost : 0;
        return true;
    }

    /** Draws the end. A link defined below its use changes finished blocks, so then everything is drawn once more. */
    finish(text) {
        this.#nextDraw = 0;
        const late = this.#env.references && Object.keys(this.#env.references).length > 0;
        if (late || !text.startsWith(this.#frozen) || !parser || text.length > TEXT_LIMIT) {
            this.#root.replaceChildren(renderMarkdown(text));
            return;
        }
        this.#replaceTail(renderSource(text.slice(this.#frozen.length), this.#env));
    }

    #restart() {
        this.#root.replaceChildren();
        this.#env = {};
        this.#frozen = "";
        this.#tail = [];
    }

    #replaceTail(fragment) {
        const fresh = [...fragment.childNodes];
        for (const node of this.#tail) node.remove();
        this.#root.append(fragment);
        this.#tail = fresh;
    }

    // Where the last block begins, counting only blocks whose first line is complete: "#" alone is a heading that
    // breaks a paragraph, "#tag" is not, and until the line ends nobody knows which it will be.
    #boundary(source) {
        const lines = source.split("\n");
        const complete = lines.length - 1;
        if (complete < 1) return 0;
        let line = 0;
        for (const token of parser.parse(source, { references: this.#env.references, live: true })) {
            if (token.level !== 0 || !token.map || token.nesting < 0) continue;
            if (token.map[0] < complete) line = token.map[0];
        }
        let offset = 0;
        for (let index = 0; index < line; index += 1) offset += lines[index].length + 1;
        return offset;
    }

    // A long program still being written is one block; its text node grows instead of being made again each frame.
    #growCode(source) {
        if (this.#tail.length !== 1 || this.#tail[0].nodeName !== "FIGURE") return false;
        const open = /^(`{3,}|~{3,})[^`\n]*\n([\s\S]*)$/.exec(source);
        // A line that may be the closing fence, whole or half arrived, is the parser's to judge.
        if (!open || /^ {0,3}(?:`+|~+)[ \t]*$/m.test(open[2])) return false;
        const code = this.#tail[0].querySelector("code");
        if (code.firstChild) code.firstChild.data = open[2];
        else code.append(open[2]);
        return true;
    }
}
