// The transcript: messages as they are kept, and the answer as it grows. Knows the DOM and nothing of the host.

import { ApprovalCard } from "./approval.js";
import { icon, make, makeButton, makeFold } from "./elements.js";
import { StreamingMarkdown, renderMarkdown } from "./markdown.js";
import { number, t } from "./strings.js";
import { addReceipts, Trace } from "./trace.js";

/** Messages drawn at first; older ones come in steps of as many, on demand. */
const PAGE = 40;
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

    /** `on` has `regenerate()`, `answer(id, outcome)` for a question, and `runs()`, which answers the chat's runs. */
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

    /** Draws a saved chat, its end first in view. */
    show(messages) {
        this.#live?.cancel();
        this.#live = null;
        this.#list.replaceChildren();
        const first = Math.max(0, messages.length - PAGE);
        this.#list.append(...messages.slice(first).map((message) => this.#saved(message)));
        if (first > 0) this.#offerEarlier(messages, first);
        this.#markLast();
        this.#reveal();
        this.toEnd();
    }

    addUser(text) {
        this.#list.append(this.#saved({ role: "user", content: text }));
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
    carryOut(action) {
        if (action.do === "step") this.#live?.addStep(action);
        if (action.do === "ask") this.#live?.ask(action, this.#focusedAsk);
        if (action.do === "askState") this.#live?.showAsk(action);
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

    #offerEarlier(messages, first) {
        const from = Math.max(0, first - PAGE);
        const button = makeButton("quiet earlier", t("earlier", first - from));
        button.addEventListener("click", () => {
            const before = this.#scroller.scrollHeight - this.#scroller.scrollTop;
            button.replaceWith(...messages.slice(from, first).map((message) => this.#saved(message)));
            if (from > 0) this.#offerEarlier(messages, from);
            this.#scroller.scrollTop = this.#scroller.scrollHeight - before;
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
        if (button.dataset.act === "again") this.#on.regenerate();
        if (!button.dataset.copy) return;
        const text = button.dataset.copy === "code"
            ? button.closest("figure").querySelector("code").textContent
            : button.closest("article").dataset.source;
        const copied = await copyText(text);
        const words = button.querySelector("span") ?? button;
        words.textContent = copied ? t("copied") : t("copyFailed");
        setTimeout(() => (words.textContent = t("copy")), 1_600);
    }
}

/** The clipboard interface needs a secure origin; loopback is one, but an embedded view may still say no. */
async function copyText(text) {
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
    #body = this.element.querySelector(".body");
    #markdown = new StreamingMarkdown(this.#body);
    #reasoning = null;
    #pending = null;
    #frame = 0;
    #grew;
    #on;
    #trace = new Trace(this.#body);
    #cards = [];

    constructor(grew, on) {
        this.#grew = grew;
        this.#on = on;
        this.element.classList.add("live");
        this.element.setAttribute("aria-busy", "true");
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
        if (!this.#markdown.update(text, now)) this.#frame = requestAnimationFrame((later) => this.#draw(later));
        this.#grew();
    }

    addStep({ step, files }) {
        this.#trace.addStep(step, files);
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

    showAsk({ id, state, until }) {
        const card = this.#cards.find((other) => other.id === id);
        if (!card) return;
        const wasOpen = card.isOpen;
        card.show(state, until);
        if (wasOpen && !card.isOpen) {
            this.#trace.addAnswered(card.element);
            if (card.hadFocus) card.focusLine();
        }
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
        this.#markdown.finish(text);
        if (text === "" && !outcome.error) addAside(this.element, "note", outcome.stopped ? t("stopped") : t("emptyAnswer"));
        if (outcome.error) addAside(this.element, "failure", outcome.error);
        if (message?.steps) addReceipts(this.element, message.steps, this.#on.runs);
        addFooter(this.element, outcome);
    }
}

function savedMessage(message, runs) {
    const { role, content, thinking, steps, artifacts, tokenCount, tokPerSec, aborted, truncated, stoppedBy } = message;
    const text = typeof content === "string" ? content : "";
    const article = articleFor(role === "user" ? "user" : "assistant");
    const body = article.querySelector(".body");
    article.dataset.source = text;
    if (role === "user") {
        body.textContent = text;
        return article;
    }
    if (thinking) addReasoning(article, t("reasoning")).lastElementChild.textContent = thinking;
    const trace = new Trace(body);
    for (const step of steps ?? []) trace.addStep(step, []);
    trace.addFiles(artifacts ?? []);
    body.append(renderMarkdown(text));
    if (steps?.length > 0) addReceipts(article, steps, runs);
    addFooter(article, { tokens: tokenCount, perSecond: tokPerSec, stopped: aborted, truncated, stoppedBy });
    return article;
}

function articleFor(role) {
    const article = make("article", `message ${role}`);
    article.setAttribute("aria-label", t(role === "user" ? "you" : "assistant"));
    const body = make("div", "body");
    body.dir = "auto";
    article.append(body);
    return article;
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
    article.querySelector(".body").after(make("p", className, words));
}

function addFooter(article, outcome) {
    const footer = make("footer");
    footer.append(action("copy", t("copy"), t("copyAnswer"), { copy: "answer" }));
    footer.append(action("again", t("regenerate"), t("regenerateLabel"), { act: "again" }));
    const facts = [];
    if (outcome?.stoppedBy) facts.push(t("stoppedBy", outcome.stoppedBy));
    if (outcome?.stopped) facts.push(t("stopped"));
    if (outcome?.truncated) facts.push(t("truncated"));
    if (outcome?.incomplete) facts.push(t("incomplete"));
    if (outcome?.tokens > 0) facts.push(t("tokens", number(outcome.tokens)));
    if (outcome?.tokens > 0 && outcome.perSecond > 0) facts.push(t("perSecond", number(outcome.perSecond, 1)));
    footer.append(make("span", "facts", facts.join(" · ")));
    if (!article.dataset.source) footer.querySelector("[data-copy]").remove();
    article.append(footer);
}

function action(symbol, words, label, data) {
    const button = makeButton(`quiet ${symbol}`);
    button.setAttribute("aria-label", label);
    Object.assign(button.dataset, data);
    button.append(icon(symbol), make("span", "", words));
    return button;
}
