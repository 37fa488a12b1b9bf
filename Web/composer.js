// The message box, Send and Stop, and the strip above them that says what is going on.

import { t } from "./strings.js";

/** From this width Enter sends; on a phone it makes a line. */
const desk = matchMedia("(min-width: 700px)");
/** The strip counts seconds only once a wait is worth counting. */
const COUNT_AFTER = 3;

export class Composer {
    #parts;
    #answering = false;
    #ready = false;
    #phase = null;
    #since = 0;
    #ticker = null;

    /** `on` has `send(text)`, `stop()` and `draft(text)`, which hears every change. */
    constructor(parts, on) {
        this.#parts = parts;
        const { form, box } = parts;
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            if (this.#answering) on.stop();
            else this.#trySend(on);
        });
        box.addEventListener("input", () => {
            on.draft(box.value);
            this.#fit();
        });
        box.addEventListener("keydown", (event) => {
            // While an input method composes, Enter picks a word. Safari reports that key after the composition has
            // ended, and only the key code tells.
            if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
            const asked = event.ctrlKey || event.metaKey;
            if (event.shiftKey || event.altKey || (!desk.matches && !asked)) return;
            event.preventDefault();
            if (!this.#answering) this.#trySend(on);
        });
        desk.addEventListener("change", () => this.#hint());
        addEventListener("resize", () => this.#fit());
        this.#hint();
        this.#fit();
    }

    get text() {
        return this.#parts.box.value;
    }

    set text(value) {
        this.#parts.box.value = value;
        this.#fit();
    }

    focus() {
        const { box } = this.#parts;
        box.focus({ preventScroll: true });
        box.setSelectionRange(box.value.length, box.value.length);
    }

    /** On a phone focus would throw the keyboard up over what was opened. */
    focusOnDesk() {
        if (desk.matches && matchMedia("(hover: hover)").matches) this.focus();
    }

    /** Puts words back in front of whatever was typed since. */
    giveBack(text) {
        const later = this.text;
        this.text = later.trim() === "" ? text : `${text}\n${later}`;
    }

    /** Whether a model is there to answer. */
    setReady(ready) {
        this.#ready = ready;
        this.#parts.box.placeholder = t(ready ? "placeholder" : "placeholderNoModel");
        this.#fit();
    }

    setAnswering(answering) {
        this.#answering = answering;
        this.#show();
    }

    /** What is going on: thinking, reading, writing, lost, or null. */
    strip(phase, fraction = null) {
        const { strip, label, progress } = this.#parts;
        if (phase !== null && this.#phase === null) this.#since = Date.now();
        const changed = phase !== this.#phase;
        this.#phase = phase;
        strip.hidden = phase === null;
        progress.hidden = fraction === null;
        if (fraction !== null) progress.value = fraction;
        if (phase === null) {
            clearInterval(this.#ticker);
            this.#ticker = null;
            return;
        }
        const words = t(`strip_${phase}`);
        if (changed || fraction !== null) label.textContent = fraction === null ? words : `${words} ${t("percent", fraction)}`;
        this.#ticker ??= setInterval(() => this.#count(), 1_000);
        this.#count();
    }

    #count() {
        const seconds = Math.floor((Date.now() - this.#since) / 1_000);
        this.#parts.elapsed.textContent = seconds < COUNT_AFTER ? "" : `${seconds} s`;
    }

    #trySend(on) {
        const text = this.text;
        if (!this.#ready || text.trim() === "") return;
        if (on.send(text)) this.text = "";
    }

    #hint() {
        this.#parts.box.title = desk.matches ? t("keysDesk") : "";
        this.#parts.box.enterKeyHint = desk.matches ? "send" : "enter";
    }

    #show() {
        const { send, form } = this.#parts;
        const name = this.#answering ? "stop" : "send";
        send.disabled = !this.#answering && (!this.#ready || this.text.trim() === "");
        if (form.dataset.mode === name) return;
        form.dataset.mode = name;
        send.setAttribute("aria-label", t(name));
        send.title = t(name);
        send.querySelector("use").setAttribute("href", `icons.svg#${name}`);
    }

    // Where the style sheet's `field-sizing` is known the box grows by itself, without a layout forced at every key.
    #fit() {
        const { box } = this.#parts;
        this.#show();
        if (CSS.supports("field-sizing", "content")) return;
        box.style.height = "auto";
        box.style.height = `${Math.min(box.scrollHeight, Math.max(120, innerHeight * 0.26))}px`;
    }
}

/** Keeps the page as high as what is visible, so that the box stays above an on-screen keyboard. */
export function followViewport() {
    const viewport = window.visualViewport;
    if (!viewport) return;
    const follow = () => {
        // Zoomed in by fingers the visual viewport is a window onto the page, not its size.
        if (viewport.scale > 1.01) return;
        document.documentElement.style.setProperty("--vh", `${viewport.height}px`);
        window.scrollTo(0, 0);
    };
    viewport.addEventListener("resize", follow);
    viewport.addEventListener("scroll", follow);
    follow();
}
