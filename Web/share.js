// Things other programs shared with Alcove: one at a time becomes a fresh chat's draft, and is never sent by itself. The
// host forgets it when a send that names it was accepted, or when it is discarded here.

import { attachmentFrom } from "./attachment-fields.js";
import { keepText } from "./drafts.js";
import { icon, make, makeButton } from "./elements.js";
import { t } from "./strings.js";
import { oneLine } from "./text.js";

/** As many are remembered as applied, so that one is not applied twice. */
const REMEMBERED = 16;

/** The words of a draft and what was shared, with one space between, but a line break kept. */
export function joined(before, shared) {
    if (before === "" || shared === "") return before + shared;
    return /\s$/.test(before) || /^\s/.test(shared) ? before + shared : `${before} ${shared}`;
}

/** The draft without the shared part, when nobody has changed it. */
export function without(text, before, shared) {
    const whole = joined(before, shared);
    return text.startsWith(whole) ? before + text.slice(whole.length) : text;
}

/** Words that an explicit command takes as one, whatever stands in them. */
function held(text) {
    const marks = ['""', "“”", "「」", "『』", "«»"].find(([begin, end]) => !text.includes(begin) && !text.includes(end));
    return marks ? marks[0] + text + marks[1] : text;
}

/** What tells and does on this page, for shares that go into it. `started()` is whether a chat may be opened by itself. */
export function sharesOf(place, page, started) {
    const { attachments, chats, composer, link, notices, troubles } = page;
    return new Shares(place, page.host, {
        mayApply: () => started() && !link.answering && !chats.isOpening,
        fresh: async (id) => ((await chats.open(id)) ? chats.current.id : null),
        focus: () => composer.focus(),
        text: () => composer.text,
        setText: (words) => {
            composer.text = words;
            keepText(chats.current, words);
        },
        attach: (list) => attachments.giveBack(list), detach: (files) => attachments.remove(files),
        notice: (sentence) => notices.add({ sentence }), failed: (error) => troubles.failed(error),
    });
}

class Shares {
    #host;
    #on;
    #place;
    #applied = [];
    #current = null;
    #busy = false;
    #again = false;

    /**
     * `on` has `mayApply()`, `fresh(id)`, which opens a chat, a new one for "new", and answers its id or null, `text`,
     * `setText(words)`, `focus()`, `attach(list)`, `detach(files)`, `notice(sentence)` and `failed(error)`.
     */
    constructor(place, host, on) {
        this.#place = place;
        this.#host = host;
        this.#on = on;
    }

    /** Ids that go with the next send of that chat. */
    ids(chat) {
        return this.#current?.chat === chat ? [this.#current.id] : [];
    }

    /** What was shared belongs to the chat that was opened for it. */
    showFor(chat) {
        this.#place.hidden = this.#current === null || this.#current.chat !== chat;
    }

    /** The send that named them was accepted. */
    sent() {
        this.#current = null;
        this.#place.replaceChildren();
        this.take();
    }

    async take() {
        if (this.#busy || this.#current || !this.#on.mayApply()) {
            this.#again = true;
            return;
        }
        this.#again = false;
        this.#busy = true;
        try {
            const share = await this.#host.claimShare();
            if (!share || this.#applied.includes(share.id)) return;
            const chat = await this.#on.fresh(share.chat ?? "new");
            if (chat === null) return;
            if (share.entry) await this.#enter(share);
            else this.#apply(share, chat);
        } catch (error) {
            // A host without an inbox, or none at all: others tell of the second.
            if (error.status === 401) this.#on.failed(error);
        } finally {
            this.#busy = false;
        }
    }

    /** Something that stood in the way has gone. */
    retry() {
        if (this.#again) this.take();
    }

    #remember({ id }) {
        this.#applied = [...this.#applied, id].slice(-REMEMBERED);
    }

    /** Words for the box, once: from here on they are this browser's draft. Sending them is the person's to do. */
    async #enter(share) {
        this.#remember(share);
        const text = String(share.text ?? "");
        const words = { continue: text || t("entryContinue"), capture: t("entryCapture", held(text)) }[share.entry] ?? text;
        const before = this.#on.text();
        // Claimed by a page that was closed before it could say so.
        if (!before.endsWith(words)) this.#on.setText(joined(before, words));
        this.#on.focus();
        for (const sentence of share.notices ?? []) this.#on.notice(String(sentence));
        this.#again = true;
        await this.#host.discardShare(share.id).catch((error) => {
            if (error.status !== 409) throw error;
        });
    }

    #apply(share, chat) {
        this.#remember(share);
        const attachments = (share.attachments ?? [])
            .filter((one) => one && (one.file || one.url))
            .map((one) => ({ ...attachmentFrom(one), ...(one.attachment ?? {}) }));
        const before = this.#on.text();
        const words = typeof share.text === "string" ? share.text : "";
        this.#current = { id: share.id, chat, before, words, files: attachments.map(({ file }) => file) };
        this.#on.setText(joined(before, words));
        this.#on.attach(attachments);
        for (const sentence of share.notices ?? []) this.#on.notice(String(sentence));
        const chip = make("div", "chip");
        const name = make("bdi", "", share.title ? t("shareTitle", oneLine(share.title, 60)) : t("shareUntitled"));
        const remove = makeButton("icon-button");
        remove.setAttribute("aria-label", t("shareRemove"));
        remove.append(icon("close"));
        remove.addEventListener("click", () => this.#discard());
        const look = make("span", "look");
        look.append(icon("export"));
        chip.append(look, name, remove);
        this.#place.replaceChildren(chip);
        this.showFor(chat);
    }

    async #discard() {
        const { id, before, words, files } = this.#current;
        try {
            await this.#host.discardShare(id);
        } catch (error) {
            // Already gone, or being sent: then it is not here to discard.
            if (error.status !== 409) return this.#on.failed(error);
        }
        this.#current = null;
        this.#place.replaceChildren();
        this.#on.setText(without(this.#on.text(), before, words));
        this.#on.detach(files);
        this.take();
    }
}
