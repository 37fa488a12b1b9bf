// The answer that grows: its words, its reasoning, its steps and its questions, in the order they come.

import { ApprovalCard } from "./approval.js";
import { StreamingMarkdown } from "./markdown.js";
import { addAside, addBody, addFooter, addReasoning, articleFor } from "./message.js";
import { t } from "./strings.js";
import { addReceipts, Trace } from "./trace.js";

export class LiveAnswer {
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
