// The open chat and the list of chats: opens, keeps, and shows what the host has of them.

import { host } from "./api.js";
import { forgetChat, keepFiles, keepText, keptFiles, keptText, toolsAreOn } from "./drafts.js";
import { t } from "./strings.js";
import { titleText } from "./text.js";

export class Chats {
    #page;
    #opening = 0;
    #pending = 0;
    #opened = null;
    #listed = new Set();
    /** The open chat: `{ id, sessionId, title, think, history }`. The page's history is what the next request sends. */
    current = null;
    /** What stood in the box when a chat was asked for, or null while none is on its way. */
    #before = null;

    /** `page` is what app.js puts together. */
    constructor(page) {
        this.#page = page;
    }

    /** Whether a chat is on its way. */
    get isOpening() {
        return this.#pending > 0;
    }

    /** How many were asked for, and the last of them. */
    get asked() {
        return { count: this.#opening, last: this.#opened };
    }

    open(id) {
        if (this.#pending === 0) this.#before = this.#page.composer.text;
        this.#pending += 1;
        this.#opened = this.#open(id).finally(() => {
            this.#pending -= 1;
            this.#page.sending.sendHeld();
        });
        return this.#opened;
    }

    async #open(id) {
        const { notices, transcript, troubles } = this.#page;
        const mine = (this.#opening += 1);
        let session;
        // What fails to load is told below, where it is needed. A chat that is not in the list has no messages.
        if (this.#listed.has(id)) transcript.need().catch(() => {});
        try {
            session = await host.open(id);
            if (session.messages?.length > 0 || session.activeTurn) await transcript.need();
        } catch (error) {
            if (mine !== this.#opening) return false;
            if (error.status !== 404) troubles.failed(error);
            else {
                if (id === this.current?.id) await this.#leaveGone();
                notices.add({ sentence: t("chatGone") });
            }
            return false;
        }
        if (mine !== this.#opening) return false;
        // What was on the screen stays until here: a chat that cannot be opened costs nothing.
        this.#show(session);
        return true;
    }

    /** The open chat was deleted elsewhere: what was meant for it goes with the person into a new one. */
    async #leaveGone() {
        const { attachments, composer } = this.#page;
        const { text } = composer, files = attachments.ready;
        forgetChat(this.current.id);
        if (!(await this.open("new"))) return;
        composer.giveBack(text);
        attachments.giveBack(files);
        keepText(this.current, composer.text);
        keepFiles(this.current, attachments.ready);
        this.refresh();
    }

    #show(session) {
        const { attachments, composer, drawer, link, notices, sending, shares, transcript } = this.#page;
        const before = this.current;
        const same = before?.id === session.conversationId;
        link.dispatch({ type: "left" });
        if (before !== null && !same) notices.clear();
        const typed = same ? "" : this.#typed();
        // What stood there before is the old chat's, unless an earlier message of it was being changed there.
        if (typed !== "" && !sending.isEditing) keepText(before, before === null ? "" : this.#before);
        sending.leave();
        this.current = {
            id: session.conversationId, sessionId: session.sessionId, title: titleText(session.title), think: session.think,
            history: [...(session.messages ?? [])],
        };
        // Back leads to the chat before; the first one, and one that Back led to, have their place already.
        const address = `#chat=${encodeURIComponent(this.current.id)}`;
        if (location.hash !== address) history[before === null ? "replaceState" : "pushState"](null, "", address);
        if (!same) composer.text = [keptText(this.current), typed].filter(Boolean).join("\n");
        if (typed !== "") keepText(this.current, composer.text);
        // Read again before the host had taken its message, a page has the words in its box still.
        const asked = session.activeTurn?.running ? this.current.history.at(-1) : null;
        if (asked?.role === "user" && asked.content === composer.text) {
            composer.text = "";
            keepText(this.current, "");
        }
        if (before === null) attachments.giveBack(keptFiles(this.current));
        else if (!same) attachments.ready = keptFiles(this.current);
        shares?.showFor(this.current.id);
        composer.setTools(toolsAreOn(this.current));
        if (transcript.view) transcript.view.show(this.current.history);
        else document.getElementById("empty").hidden = false;
        this.#showUsed();
        this.#showTitle();
        drawer.mark(this.current.id);
        link.dispatch({ type: "opened", conversation: this.current.id, activeTurn: session.activeTurn ?? null });
        if (session.canRedo) this.#page.messageActs((acts) => acts.offerRedo(this.#page));
    }

    /** Words typed since a chat was asked for, or before any was open: they are meant for the one that opens. */
    #typed() {
        const { text } = this.#page.composer;
        if (this.current === null || !text.startsWith(this.#before)) return text;
        return text.slice(this.#before.length).trimStart();
    }

    async openNew() {
        const { composer, drawer } = this.#page;
        drawer.makeWay();
        if (this.current && this.current.history.length === 0) composer.focus();
        else if (await this.open("new")) composer.focusOnDesk();
    }

    async refresh() {
        try {
            const chats = named(await host.chats());
            this.#listed = new Set(chats.map(({ id }) => id));
            this.#page.drawer.show(chats, this.current?.id);
            const listed = chats.find(({ id }) => id === this.current?.id);
            if (listed) {
                this.current.title = listed.title;
                this.#showTitle();
            }
            return chats;
        } catch (error) {
            if (error.status === 401) this.#page.troubles.showGate();
            return [];
        }
    }

    /** Chats with the words in them; null when the host did not say. */
    async search(words, signal) {
        try {
            return named(await host.search(words, signal));
        } catch (error) {
            if (error.name !== "AbortError" && !signal.aborted) this.#page.troubles.failed(error);
            return null;
        }
    }

    /** An answer is complete. */
    finished({ message, outcome, files }) {
        const { say, shares, transcript } = this.#page;
        if (message) this.current.history.push(message);
        transcript.view.finishAnswer(message, outcome, files);
        say(t("answerFinished"));
        this.#showUsed();
        this.refresh();
        shares?.retry();
    }

    /** What the chat holds now, after something in it was taken back. */
    showMessages(messages) {
        if (!Array.isArray(messages)) return void this.open(this.current.id);
        this.current.history = [...messages];
        this.#page.transcript.view.show(this.current.history);
        this.#showUsed();
        this.#showTitle();
    }

    /** How full the model's view of the chat was when it last answered. */
    #showUsed() {
        const { promptTokens, tokenCount } = this.current.history.findLast(({ role }) => role === "assistant") ?? {};
        this.#page.model.used = promptTokens > 0 ? promptTokens + (tokenCount ?? 0) : null;
    }

    #showTitle() {
        const { title, history } = this.current;
        document.title = title && history.length > 0 ? `${title} — Alcove` : "Alcove";
    }
}

/** Titles as they may be shown: older ones were kept as they came. */
const named = (chats) => chats.map((chat) => ({ ...chat, title: titleText(chat.title) }));
