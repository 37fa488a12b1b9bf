// A question to the person: what a tool is about to do, word for word, and the buttons that answer it.

import { make, makeButton, makeFold } from "./elements.js";
import { number, t } from "./strings.js";
import { oneLine, visible } from "./text.js";
import { exactText } from "./trace.js";

/** A text of more lines than this may go on out of sight, so the card says how many it has. */
const LINES_IN_SIGHT = 6;
let cards = 0;

export class ApprovalCard {
    element = make("section", "ask");
    /** Whether an answer is still awaited, or on its way. */
    isOpen = true;
    /** Whether the focus was in the card when it folded: whoever moves it then calls `focusLine`. */
    hadFocus = false;
    #ask;
    #buttons = make("div", "answers");
    #status = make("span", "left");
    #ticker = null;

    /** `onAnswer` gets the question's id and an outcome. */
    constructor(ask, onAnswer) {
        this.#ask = ask;
        const heading = make("h3", "", t("askTitle"));
        heading.id = `ask-${(cards += 1)}`;
        const lines = (ask.shown ?? "").split("\n").length;
        const what = make("p", "", describe(ask));
        if (lines > LINES_IN_SIGHT) what.append(` · ${t("askLines", number(lines))}`);
        what.id = `${heading.id}-what`;
        this.element.setAttribute("role", "group");
        this.element.setAttribute("aria-labelledby", heading.id);
        this.element.setAttribute("aria-describedby", what.id);
        for (const [outcome, words] of [["allowed", "allow"], ["allowed_for_chat", "allowForChat"], ["refused", "refuse"]]) {
            if (outcome === "allowed_for_chat" && !ask.remember) continue;
            const button = makeButton(outcome === "allowed" ? "primary" : "text", t(words));
            button.dataset.outcome = outcome;
            button.addEventListener("click", () => onAnswer(ask.id, outcome));
            this.#buttons.append(button);
        }
        const head = make("div", "head");
        head.append(heading, this.#status);
        this.element.append(head, what, exactText(ask.shown ?? "", t("askText")), this.#buttons);
        this.#ticker = setInterval(() => this.#count(), 1_000);
        this.show(ask.state, ask.until);
    }

    get id() {
        return this.#ask.id;
    }

    /** Which of its buttons has the focus, to give it back after a replay has drawn the card anew. */
    get focused() {
        return this.#buttons.contains(document.activeElement) ? document.activeElement.dataset.outcome : null;
    }

    focus(outcome) {
        this.#buttons.querySelector(`[data-outcome="${outcome}"]`)?.focus({ preventScroll: true });
    }

    /** Waiting, sending, or how it was answered. A settled card folds to one line. */
    show(state, until) {
        this.#ask.until = until;
        // Told twice, by the answer's own reply and by the turn: what is folded stays as it is, and so does the focus.
        if (!this.isOpen && this.element.dataset.state === state) return;
        this.isOpen = state === "waiting" || state === "sending";
        this.element.dataset.state = state;
        if (!this.isOpen) {
            this.#fold(state);
            return;
        }
        // Not the disabled property: a button that loses it also loses the focus, and the reader its place.
        for (const button of this.#buttons.children) button.setAttribute("aria-disabled", String(state === "sending"));
        this.#status.textContent = state === "sending" ? t("askSending") : "";
        this.#count();
    }

    leave() {
        clearInterval(this.#ticker);
    }

    #count() {
        if (this.element.dataset.state !== "waiting") return;
        const left = Math.max(0, Math.ceil((this.#ask.until - Date.now()) / 1_000));
        this.#status.textContent = left > 0 ? t("timeLeft", Math.floor(left / 60), left % 60) : t("timeUp");
    }

    #fold(state) {
        this.leave();
        this.hadFocus = this.element.contains(document.activeElement);
        const outcome = make("b", "", t("askOutcomes")[state] ?? visible(state));
        const details = makeFold("", outcome, ` · ${describe(this.#ask)}`);
        details.append(exactText(this.#ask.shown ?? "", t("askText")));
        for (const name of ["role", "aria-labelledby", "aria-describedby"]) this.element.removeAttribute(name);
        this.element.replaceChildren(details);
    }

    focusLine() {
        this.hadFocus = false;
        this.element.querySelector("summary")?.focus({ preventScroll: true });
    }
}

export function describe({ tool, effect }) {
    const name = oneLine(tool ?? "", 60);
    return effect ? t("askWhat", name, t("askEffects")[effect] ?? oneLine(effect, 120)) : t("askPlain", name);
}
