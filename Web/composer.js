// The message box, Send and Stop, and the strip above them that says what is going on.

import { setIcon } from "./elements.js";
import { percent, t } from "./strings.js";
import { visible } from "./text.js";

/** From this width Enter sends; on a phone it makes a line. */
const desk = matchMedia("(min-width: 700px)");
/** The strip counts seconds only once a wait is worth counting. */
const COUNT_AFTER = 3;
const COUNTED_TOGETHER = new Set(["thinking", "reading", "writing", "lost", "unsent"]);

export class Composer {
    #parts;
    #answering = false;
    #ready = false;
    #files = { some: false, waiting: false };
    #activity = null;
    #since = 0;
    #ticker = null;
    #frame = 0;

    /**
     * `on` has `send(text)`, `stop()`, `draft(text)`, which hears every change, `tools(on)`, `attach()`,
     * `paste(clipboard)`, which answers whether it took what is there, and `cancelEdit()`.
     */
    constructor(parts, on) {
        this.#parts = parts;
        const { form, box, tools, attach, editing } = parts;
        attach.addEventListener("click", () => on.attach());
        editing.querySelector("button").addEventListener("click", () => on.cancelEdit());
        box.addEventListener("paste", (event) => event.clipboardData && on.paste(event.clipboardData) && event.preventDefault());
        tools.title = t("toolsHint");
        tools.addEventListener("click", () => on.tools(tools.getAttribute("aria-checked") !== "true"));
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
        // Words an input method is still composing are not touched for nothing.
        if (this.#parts.box.value !== value) this.#parts.box.value = value;
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

    /** Whether a chat is open, and a model there to answer; while none is, `commands` says whether explicit ones are taken. */
    setReady(ready, commands = false) {
        this.#ready = ready || commands;
        this.#parts.box.placeholder = t(ready ? "placeholder" : commands ? "placeholderCommands" : "placeholderNoModel");
        this.#fit();
    }

    /** Whether there are files with the message, and whether one of them is not stored yet. */
    setFiles(some, waiting) {
        this.#files = { some, waiting };
        this.#show();
    }

    /** Whether an earlier message is being written anew. */
    setEditing(editing) {
        this.#parts.editing.hidden = !editing;
    }

    /** Puts `text` where the caret is. */
    insert(text) {
        const { box } = this.#parts;
        box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
        box.dispatchEvent(new Event("input"));
    }

    setAnswering(answering) {
        this.#answering = answering;
        this.#show();
    }

    setTools(on) {
        this.#parts.tools.setAttribute("aria-checked", String(on));
    }

    /**
     * What is going on: `phase` is thinking, reading, writing, lost, working, asking, or, of a tool, preparing,
     * running or finished; null when nothing is. Any number of calls in one frame are one drawing.
     */
    strip(activity) {
        const { phase, seconds } = activity;
        const before = this.#activity;
        this.#activity = phase === null ? null : activity;
        if (phase === null) {
            cancelAnimationFrame(this.#frame);
            this.#frame = 0;
            clearInterval(this.#ticker);
            this.#ticker = null;
            this.#parts.strip.hidden = true;
            return;
        }
        // A turn's thinking, reading and writing are one wait; a tool's phases each have their own.
        const sameWait = before && (before.phase === phase || (COUNTED_TOGETHER.has(phase) && COUNTED_TOGETHER.has(before.phase)));
        if (Number.isFinite(seconds)) this.#since = Date.now() - 1_000 * seconds;
        else if (!sameWait) this.#since = Date.now();
        this.#parts.strip.hidden = false;
        this.#ticker ??= setInterval(() => this.#count(), 1_000);
        this.#frame ||= requestAnimationFrame(() => this.#drawStrip());
    }

    #drawStrip() {
        this.#frame = 0;
        const { strip, label, progress, lines } = this.#parts;
        const { phase, tool, fraction = null, lines: text = "" } = this.#activity;
        strip.dataset.phase = phase;
        progress.hidden = fraction === null;
        if (fraction !== null) progress.value = fraction;
        const words = t(`strip_${phase}`, tool);
        setText(label, fraction === null ? words : `${words} ${percent(fraction)}`);
        lines.hidden = text === "";
        setText(lines, text === "" ? "" : visible(text));
        this.#count();
    }

    #count() {
        if (this.#activity === null) return;
        const { phase, seconds: told } = this.#activity;
        const passed = phase === "finished" ? Math.round(told) : Math.floor((Date.now() - this.#since) / 1_000);
        const from = phase === "finished" ? 0 : phase === "running" ? 1 : COUNT_AFTER;
        setText(this.#parts.elapsed, passed < from || phase === "asking" ? "" : t("seconds", passed));
    }

    get #canSend() {
        return this.#ready && !this.#files.waiting && (this.#files.some || this.text.trim() !== "");
    }

    #trySend(on) {
        if (this.#canSend && on.send(this.text)) this.text = "";
    }

    #hint() {
        this.#parts.box.title = desk.matches ? t("keysDesk") : "";
        this.#parts.box.enterKeyHint = desk.matches ? "send" : "enter";
    }

    #show() {
        const { send, form } = this.#parts;
        const name = this.#answering ? "stop" : "send";
        send.disabled = !this.#answering && !this.#canSend;
        if (!this.#answering) send.title = t(this.#files.waiting ? "attachWait" : "send");
        if (form.dataset.mode === name) return;
        form.dataset.mode = name;
        send.setAttribute("aria-label", t(name));
        send.title = t(name);
        setIcon(send.querySelector("svg"), name);
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

function setText(element, words) {
    if (element.textContent !== words) element.textContent = words;
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
