// The transcript: messages as they are kept, and the answer as it grows. Knows the DOM and nothing of the host.

import { ApprovalCard, describe } from "./approval.js";
import { icon, make, makeButton, makeFold } from "./elements.js";
import { attachedList } from "./attached.js";
import { attachmentsOf } from "./attachment-fields.js";
import { StreamingMarkdown, renderMarkdown } from "./markdown.js";
import { number, t } from "./strings.js";
import { inOrder, ownWords } from "./text.js";
import { addReceipts, Trace } from "./trace.js";

/** Messages drawn by themselves; older ones come in steps of as many, on demand. */
const PAGE = 20;
/** As many are drawn before the first frame, and then at a time: the end of a chat fills a screen with about so many. */
const AT_ONCE = 4;
/** Nearer than this to the end, the view follows the answer. */
const STICK = 90;

export class ChatView {
    #scroller;
    #list;
    #jump;
    #empty;
    #live = null;
    #follow = true;
    #on;
    #focusedAsk = null;
    /** The messages of the chat that were there when it was shown, and how many of them are not drawn. */
    #messages = [];
    #notDrawn = 0;
    #drawing = 0;

    /**
     * `on` has `act(name, index, message)` for a message's buttons (again, goOn, undo, more), `answer(id, outcome)` for a
     * question, and `runs()`, which answers the chat's runs.
     */
    constructor({ scroller, list, jump, empty }, on) {
        this.#scroller = scroller;
        this.#list = list;
        this.#jump = jump;
        this.#empty = empty;
        this.#on = on;
        scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
        jump.addEventListener("click", () => this.toEnd());
        list.addEventListener("click", (event) => this.#clicked(event));
        // The strip below takes its room from the scroller.
        const sizes = new ResizeObserver(() => this.#keepUp());
        for (const element of [list, scroller]) sizes.observe(element);
    }

    /** A question in one line. */
    describe(ask) {
        return describe(ask);
    }

    /** Draws a saved chat, its end first in view. */
    show(messages) {
        this.#live?.cancel();
        this.#live = null;
        this.#list.replaceChildren();
        this.#messages = [...messages];
        this.#notDrawn = messages.length;
        this.#drawBack(Math.max(0, messages.length - PAGE));
        this.#markLast();
        this.#reveal();
        this.toEnd();
    }

    // From the end back to `first`: a few messages at once, the others after the frame that shows those.
    #drawBack(first) {
        const from = Math.max(first, this.#notDrawn - AT_ONCE);
        this.#list.prepend(...this.#messages.slice(from, this.#notDrawn).map((message) => this.#saved(message)));
        this.#notDrawn = from;
        const mine = (this.#drawing += 1);
        if (from > first) afterFrame(() => mine === this.#drawing && this.#keepPlace(() => this.#drawBack(first)));
        else if (from > 0) this.#offerEarlier();
    }

    /** What is added above moves nothing that is being read. The end stays in view by itself. */
    #keepPlace(add) {
        if (this.#follow) return add();
        const below = this.#scroller.scrollHeight - this.#scroller.scrollTop;
        add();
        this.#scroller.scrollTop = this.#scroller.scrollHeight - below;
    }

    addUser(message) {
        this.#list.append(this.#saved(message));
        this.#markLast();
        this.#reveal();
        this.toEnd();
    }

    removeLastUser() {
        const last = this.#list.lastElementChild;
        if (last?.classList.contains("user")) last.remove();
        this.#markLast();
        this.#reveal();
    }

    removeLastAnswer() {
        const last = this.#list.lastElementChild;
        if (last?.classList.contains("assistant")) last.remove();
    }

    // How many messages of the chat stand before this one: those drawn, and those that are not yet.
    #indexOf(article) {
        return this.#notDrawn + [...this.#list.querySelectorAll(":scope > article:not(.unkept)")].indexOf(article);
    }

    #saved(message) {
        return savedMessage(message, this.#on.runs);
    }

    /** An empty answer, or the one already growing emptied again for a replay. */
    beginAnswer() {
        this.#focusedAsk = this.#live?.focusedAsk ?? null;
        this.#live?.cancel();
        this.#live?.element.remove();
        this.#live = new LiveAnswer(() => this.#keepUp(), this.#on);
        this.#list.append(this.#live.element);
        this.#markLast();
        this.#reveal();
        this.#keepUp();
    }

    paint(answer) {
        this.#live?.paint(answer);
    }

    /** A step, a question or what became of it, in the answer that grows. */
    carryOut(action, text) {
        if (action.do === "step") this.#live?.addStep(action, text);
        if (action.do === "ask") this.#live?.ask(action, this.#focusedAsk);
        if (action.do === "askState") this.#live?.showAsk(action, text);
        this.#keepUp();
    }

    removeAnswer() {
        this.#live?.cancel();
        this.#live?.element.remove();
        this.#live = null;
        this.#markLast();
        this.#reveal();
    }

    finishAnswer(message, outcome, files) {
        if (!this.#live) return;
        this.#live.finish(message, outcome, files);
        // An answer without anything in it is on the screen and not in the chat.
        this.#live.element.classList.toggle("unkept", message === null);
        this.#live = null;
        this.#markLast();
        this.#keepUp();
    }

    toEnd() {
        this.#follow = true;
        this.#scroller.scrollTop = this.#scroller.scrollHeight;
        this.#jump.hidden = true;
    }

    #reveal() {
        const empty = this.#list.childElementCount === 0;
        this.#empty.hidden = !empty;
        this.#list.hidden = empty;
    }

    // Only the last answer can be asked for again.
    #markLast() {
        for (const element of this.#list.querySelectorAll(".assistant.last")) element.classList.remove("last");
        const last = this.#list.lastElementChild;
        if (last?.classList.contains("assistant")) last.classList.add("last");
    }

    #offerEarlier() {
        const from = Math.max(0, this.#notDrawn - PAGE);
        const button = makeButton("quiet earlier", t("earlier", this.#notDrawn - from));
        button.addEventListener("click", () => {
            this.#follow = false;
            this.#keepPlace(() => {
                button.remove();
                this.#drawBack(from);
            });
        });
        this.#list.prepend(button);
    }

    // Only scrolling changes whether the view follows; an answer that grows or shrinks does not.
    #scrolled() {
        this.#follow = this.#isNearEnd();
        this.#jump.hidden = this.#follow;
    }

    #keepUp() {
        if (this.#follow) this.#scroller.scrollTop = this.#scroller.scrollHeight;
        this.#jump.hidden = this.#follow || this.#isNearEnd();
    }

    #isNearEnd() {
        const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
        return scrollHeight - scrollTop - clientHeight < STICK;
    }

    async #clicked(event) {
        const button = event.target.closest("button");
        if (!button) return;
        const message = button.closest("article");
        if (button.dataset.act) this.#on.act(button.dataset.act, this.#indexOf(message), message.dataset.source);
        if (!button.dataset.copy) return;
        const text = button.dataset.copy === "code"
            ? button.closest("figure").querySelector("code").textContent
            : message.dataset.source;
        const copied = await copyText(text);
        const words = button.querySelector("span") ?? button;
        words.textContent = copied ? t("copied") : t("copyFailed");
        setTimeout(() => (words.textContent = t("copy")), 1_600);
    }
}

/** A page that nobody sees has no frames. */
const afterFrame = (run) => (document.hidden ? setTimeout(run) : requestAnimationFrame(() => setTimeout(run)));

/** The clipboard interface needs a secure origin; loopback is one, but an embedded view may still say no. */
export async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const field = make("textarea", "offstage");
        field.value = text;
        document.body.append(field);
        field.select();
        const copied = document.execCommand("copy");
        field.remove();
        return copied;
    }
}

class LiveAnswer {
    element = articleFor("assistant");
    /** The answer's text in pieces, between which the steps stand: `{ body, markdown, from }`. */
    #pieces = [];
    #reasoning = null;
    #pending = { text: "", thinking: "" };
    #frame = 0;
    #grew;
    #on;
    #trace = null;
    #cards = [];

    constructor(grew, on) {
        this.#grew = grew;
        this.#on = on;
        this.element.classList.add("live");
        this.element.setAttribute("aria-busy", "true");
        this.#begin(0);
    }

    #begin(from) {
        const body = addBody(this.element);
        this.#pieces.push({ body, markdown: new StreamingMarkdown(body), from });
        this.#trace = new Trace((list) => body.before(list));
    }

    #textOf(index, text) {
        return text.slice(this.#pieces[index].from, this.#pieces[index + 1]?.from);
    }

    /** Any number of calls in one frame are one drawing. */
    paint(answer) {
        this.#pending = answer;
        this.#frame ||= requestAnimationFrame((now) => this.#draw(now));
    }

    #draw(now) {
        this.#frame = 0;
        const { text, thinking } = this.#pending;
        if (thinking !== "") {
            this.#reasoning ??= addReasoning(this.element, t("reasoningLive"));
            this.#reasoning.lastElementChild.textContent = thinking;
        }
        this.element.classList.toggle("started", text !== "");
        let drawn = true;
        this.#pieces.forEach(({ markdown }, index) => {
            drawn = markdown.update(this.#textOf(index, text), now) && drawn;
        });
        if (!drawn) this.#frame = requestAnimationFrame((later) => this.#draw(later));
        this.#grew();
    }

    addStep({ step, files }, text) {
        // A step after words stands below them, and what is said next below the step.
        const from = Math.min(step.at ?? 0, text.length);
        if (text.slice(this.#pieces.at(-1).from, from).trim() !== "") this.#begin(from);
        this.#trace.addStep(step, files);
        this.paint({ ...this.#pending, text });
    }

    /** The question and button that has the focus, as `{ id, outcome }`, or null. */
    get focusedAsk() {
        const card = this.#cards.find(({ focused }) => focused !== null);
        return card ? { id: card.id, outcome: card.focused } : null;
    }

    ask({ ask }, focused) {
        const card = new ApprovalCard(ask, this.#on.answer);
        this.#cards.push(card);
        if (card.isOpen) this.element.append(card.element);
        else this.#trace.addAnswered(card.element);
        if (focused?.id === ask.id && card.isOpen) card.focus(focused.outcome);
        this.#showBusy();
    }

    showAsk({ id, state, until }, text) {
        const card = this.#cards.find((other) => other.id === id);
        if (!card) return;
        const wasOpen = card.isOpen;
        card.show(state, until);
        if (wasOpen && !card.isOpen) {
            if (this.#textOf(this.#pieces.length - 1, text).trim() !== "") this.#begin(text.length);
            this.#trace.addAnswered(card.element);
        }
        if (!card.isOpen && card.hadFocus) card.focusLine();
        this.#showBusy();
    }

    // A screen reader may pass over what is busy, and a question is there to be read.
    #showBusy() {
        const asking = this.#cards.some(({ isOpen }) => isOpen);
        this.element.setAttribute("aria-busy", String(!asking));
    }

    cancel() {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        for (const card of this.#cards) card.leave();
    }

    finish(message, outcome, files) {
        this.cancel();
        this.#trace.addFiles(files);
        const text = message?.content ?? "";
        this.element.classList.remove("live");
        this.element.removeAttribute("aria-busy");
        this.element.dataset.source = text;
        if (message?.thinking) {
            this.#reasoning ??= addReasoning(this.element, "");
            this.#reasoning.firstElementChild.lastElementChild.textContent = t("reasoning");
            this.#reasoning.lastElementChild.textContent = message.thinking;
        }
        this.#pieces.forEach(({ markdown }, index) => markdown.finish(this.#textOf(index, text)));
        for (const { body } of this.#pieces.slice(0, -1)) if (body.childNodes.length === 0) body.remove();
        if (text === "" && !outcome.error) addAside(this.element, "note", outcome.stopped ? t("stopped") : t("emptyAnswer"));
        if (outcome.error) addAside(this.element, "failure", outcome.error);
        if (message?.steps) addReceipts(this.element, message.steps, this.#on.runs);
        addFooter(this.element, outcome);
    }
}

/** A saved message. What is in it may be older than this page, or damaged: of a message that cannot be drawn whole, the words are. */
function savedMessage(message, runs) {
    try {
        return drawnMessage(message, runs);
    } catch {
        const article = articleFor(message?.role === "user" ? "user" : "assistant");
        addBody(article).textContent = typeof message?.content === "string" ? message.content : "";
        return article;
    }
}

function drawnMessage(message, runs) {
    const { role, content, thinking, tokenCount, tokPerSec, aborted, truncated, stoppedBy } = message;
    const steps = listOf(message.steps, "tool");
    const artifacts = listOf(message.artifacts, "name");
    const text = typeof content === "string" ? content : "";
    const article = articleFor(role === "user" ? "user" : "assistant");
    if (role === "user") {
        const words = ownWords(text);
        article.dataset.source = words;
        const attached = attachmentsOf(message);
        if (attached.length > 0) article.append(attachedList(attached));
        if (words !== "") addBody(article).textContent = words;
        article.append(action("more", "", t("messageActions"), { act: "more" }));
        return article;
    }
    article.dataset.source = text;
    if (thinking) addReasoning(article, t("reasoning")).lastElementChild.textContent = thinking;
    let trace = null;
    for (const piece of inOrder(text, steps)) {
        const body = addBody(article);
        if (trace === null || piece.steps.length > 0) trace = new Trace((list) => body.before(list));
        for (const step of piece.steps) trace.addStep(step, []);
        body.append(renderMarkdown(piece.text));
    }
    trace.addFiles(artifacts);
    if (steps.length > 0) addReceipts(article, steps, runs);
    addFooter(article, { tokens: tokenCount, perSecond: tokPerSec, stopped: aborted, truncated, stoppedBy });
    return article;
}

/** Those of a list that are what it should hold. */
const listOf = (list, key) => (Array.isArray(list) ? list.filter((one) => typeof one?.[key] === "string") : []);

function articleFor(role) {
    const article = make("article", `message ${role}`);
    article.setAttribute("aria-label", t(role === "user" ? "you" : "assistant"));
    return article;
}

function addBody(article) {
    const body = make("div", "body");
    body.dir = "auto";
    article.append(body);
    return body;
}

function addReasoning(article, words) {
    const details = makeFold("reasoning", words);
    const text = make("div");
    text.dir = "auto";
    details.append(text);
    article.prepend(details);
    return details;
}

function addAside(article, className, words) {
    [...article.querySelectorAll(":scope > .body")].at(-1).after(make("p", className, words));
}

function addFooter(article, outcome) {
    const footer = make("footer");
    if (article.dataset.source) footer.append(action("copy", t("copy"), t("copyAnswer"), { copy: "answer" }));
    footer.append(action("again", t("regenerate"), t("regenerateLabel"), { act: "again" }));
    if (article.dataset.source && (outcome?.truncated || outcome?.stopped)) {
        footer.append(action("forward", t("goOn"), t("goOnLabel"), { act: "goOn" }));
    }
    footer.append(action("undo", t("undo"), t("undoLabel"), { act: "undo" }));
    footer.append(action("more", "", t("messageActions"), { act: "more" }));
    const facts = [];
    if (outcome?.stoppedBy) facts.push(t("stoppedBy", outcome.stoppedBy));
    if (outcome?.stopped) facts.push(t("stopped"));
    if (outcome?.truncated) facts.push(t("truncated"));
    if (outcome?.incomplete) facts.push(t("incomplete"));
    if (outcome?.tokens > 0) facts.push(t("tokens", number(outcome.tokens)));
    if (outcome?.tokens > 0 && outcome.perSecond > 0) facts.push(t("perSecond", number(outcome.perSecond, 1)));
    footer.append(make("span", "facts", facts.join(" · ")));
    article.append(footer);
}

function action(symbol, words, label, data) {
    const button = makeButton(`quiet ${symbol}`);
    button.setAttribute("aria-label", label);
    button.title = label;
    Object.assign(button.dataset, data);
    button.append(icon(symbol));
    if (words) button.append(make("span", "", words));
    return button;
}
