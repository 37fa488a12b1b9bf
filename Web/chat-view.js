// The transcript: messages as they are kept, and the answer as it grows. Knows the DOM and nothing of the host.

import { describe } from "./approval.js";
import { copyText } from "./clipboard.js";
import { makeButton } from "./elements.js";
import { LiveAnswer } from "./live-answer.js";
import { noAnswer, savedMessage } from "./message.js";
import { t } from "./strings.js";

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
    /** What says that the last question has no answer; once it has one it is no longer in the page. */
    #noAnswer = null;

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

    /** Draws a saved chat, its end first in view. A question at the end has no answer, until one begins to grow. */
    show(messages) {
        this.#live?.cancel();
        this.#live = null;
        this.#list.replaceChildren();
        this.#messages = [...messages];
        this.#notDrawn = messages.length;
        this.#drawBack(Math.max(0, messages.length - PAGE));
        if (messages.at(-1)?.role === "user") this.#list.append((this.#noAnswer = noAnswer()));
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
        this.#noAnswer?.remove();
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
        this.#noAnswer?.remove();
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
