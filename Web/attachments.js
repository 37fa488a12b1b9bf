// The files of the message being written: chips above the box, each stored in the host as soon as it is chosen.

import { attachmentFrom } from "./attachment-fields.js";
import { picture, shownName } from "./attached.js";
import { icon, make, makeButton } from "./elements.js";
import { percent, t, together } from "./strings.js";
import { visible } from "./text.js";

/** A pasted text longer than this is easier to read as a file. */
const PASTE_LIMIT = 4_000;
/** So many files are stored at a time; the rest wait their turn. */
const AT_ONCE = 2;

export class Attachments {
    #list;
    #upload;
    #on;
    #items = [];

    /**
     * `upload(file, { signal, progress })` answers what the host said. `on` has `changed()`, `failed(sentence)`,
     * `say(sentence)` for a screen reader and `words(text)` for a pasted text that could not be stored.
     */
    constructor(list, upload, on) {
        this.#list = list;
        this.#upload = upload;
        this.#on = on;
    }

    /** The stored ones, as a message keeps them. */
    get ready() {
        return this.#items.filter(({ state }) => state === "ready").map(({ attachment }) => attachment);
    }

    get isEmpty() {
        return this.#items.length === 0;
    }

    /** Whether one is on its way or did not arrive: a message sent now would go without it. */
    get isWaiting() {
        return this.#items.some(({ state }) => state !== "ready");
    }

    /** Puts these stored files in place of what is there; what is on its way is given up. */
    set ready(attachments) {
        for (const item of this.#items) item.abort?.abort();
        this.#items = [];
        for (const attachment of attachments) this.#show({ state: "ready", attachment, name: shownName(attachment) });
        this.#changed();
    }

    /** These stored files, before what is there. */
    giveBack(attachments) {
        const known = new Set(this.ready.map(({ file }) => file));
        const back = attachments.filter(({ file }) => !known.has(file));
        for (const attachment of back.reverse()) this.#show({ state: "ready", attachment, name: shownName(attachment) }, true);
        this.#changed();
    }

    remove(files) {
        for (const item of this.#items.filter(({ attachment }) => files.includes(attachment?.file))) this.#drop(item);
    }

    add(files, { pasted = null } = {}) {
        for (const file of files) {
            if (file.size === 0) {
                this.#on.failed(t("attachFailed", visible(file.name), t("attachEmpty")));
                continue;
            }
            this.#show({ state: "waiting", file, name: visible(file.name || t("attachFile")), pasted });
        }
        this.#changed();
        this.#next();
    }

    /** Takes files, and texts too long for the box, out of what is pasted; answers whether it did. */
    paste(data) {
        if (data.files.length > 0) {
            this.add(data.files);
            return true;
        }
        const text = data.getData("text/plain");
        if (text.length <= PASTE_LIMIT) return false;
        this.add([new File([text], t("attachPasted"), { type: "text/plain" })], { pasted: text });
        this.#on.say(t("attachPastedHint"));
        return true;
    }

    /** Files dropped anywhere on `area`, which has the class `dropping` while they hover over it. */
    acceptDrops(area) {
        const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
        let leave = null;
        area.addEventListener("dragover", (event) => {
            if (!carriesFiles(event) || document.querySelector("dialog[open]")) return;
            event.preventDefault();
            clearTimeout(leave);
            area.classList.add("dropping");
            // Leaving is told of every child that is crossed; no more hovering for a while is what it means.
            leave = setTimeout(() => area.classList.remove("dropping"), 250);
        });
        area.addEventListener("drop", (event) => {
            if (!carriesFiles(event)) return;
            event.preventDefault();
            area.classList.remove("dropping");
            const items = [...event.dataTransfer.items].filter(({ kind }) => kind === "file");
            const folders = items.filter((item) => item.webkitGetAsEntry?.()?.isDirectory);
            if (folders.length > 0) this.#on.failed(t("attachFailed", folders[0].getAsFile()?.name ?? "", t("attachFolder")));
            const chosen = items.filter((item) => !folders.includes(item)).map((item) => item.getAsFile()).filter(Boolean);
            if (chosen.length > 0) this.add(chosen);
        });
    }

    #next() {
        const running = this.#items.filter(({ state }) => state === "uploading").length;
        for (const item of this.#items.filter(({ state }) => state === "waiting").slice(0, AT_ONCE - running)) this.#store(item);
    }

    async #store(item) {
        item.state = "uploading";
        item.abort = new AbortController();
        this.#draw(item);
        try {
            const reply = await this.#upload(item.file, {
                signal: item.abort.signal,
                progress: (fraction) => {
                    item.fraction = fraction;
                    this.#draw(item);
                },
            });
            item.state = "ready";
            item.attachment = attachmentFrom({ fileName: item.name, ...reply });
            item.name = shownName(item.attachment);
            if (reply.warning) this.#on.failed(reply.warning);
            this.#on.say(t("attachReady", item.name));
        } catch (error) {
            if (error.name === "AbortError") return;
            const why = error.transport ? t("attachUnreachable") : error.message;
            this.#on.failed(together(t("attachFailed", item.name, why), error.hint));
            if (item.pasted !== null) {
                this.#drop(item);
                this.#on.words(item.pasted);
                return;
            }
            item.state = "failed";
        } finally {
            item.abort = null;
            this.#next();
        }
        this.#draw(item);
        this.#changed();
    }

    #drop(item) {
        item.abort?.abort();
        const index = this.#items.indexOf(item);
        this.#items = this.#items.filter((other) => other !== item);
        const hadFocus = item.chip.contains(document.activeElement);
        this.#changed();
        if (hadFocus) this.#list.children[Math.min(index, this.#items.length - 1)]?.querySelector("button:last-child").focus();
        this.#next();
        return hadFocus && this.#items.length === 0;
    }

    #show(item, first = false) {
        item.chip = make("li", "chip");
        item.pasted ??= null;
        const name = make("bdi");
        const bar = make("progress");
        bar.max = 1;
        bar.setAttribute("aria-label", item.name);
        const again = makeButton("icon-button retry");
        again.append(icon("again"));
        again.setAttribute("aria-label", t("attachRetry", item.name));
        again.addEventListener("click", () => {
            item.state = "waiting";
            this.#draw(item);
            this.#next();
            this.#changed();
        });
        const remove = makeButton("icon-button");
        remove.append(icon("close"));
        remove.setAttribute("aria-label", t("attachRemove", item.name));
        remove.addEventListener("click", () => this.#drop(item) && this.#on.emptied());
        const look = make("span", "look");
        look.append(icon("file"));
        item.chip.append(look, name, bar, again, remove);
        this.#draw(item);
        if (first) this.#items.unshift(item);
        else this.#items.push(item);
    }

    #draw(item) {
        const { chip, state, attachment, fraction = 0 } = item;
        const [look, name, bar, again] = chip.children;
        chip.dataset.state = state;
        name.textContent = item.name;
        name.title = item.name;
        bar.hidden = state !== "uploading" && state !== "waiting";
        bar.value = fraction;
        bar.setAttribute("aria-valuetext", t("attachUploading", item.name, percent(fraction)));
        again.hidden = state !== "failed";
        if (state === "ready" && attachment.mediaType === "image" && !look.querySelector("img")) {
            look.replaceChildren(picture(attachment.previewFile ?? attachment.file, ""));
        }
    }

    #changed() {
        this.#list.replaceChildren(...this.#items.map(({ chip }) => chip));
        this.#list.hidden = this.#items.length === 0;
        this.#on.changed();
    }
}
