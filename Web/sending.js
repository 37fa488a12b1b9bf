// From the box to the host: sends, asks again, and gives back what did not arrive.

import { attachmentsOf, messageFields } from "./attachment-fields.js";
import { keepFiles, keepText, toolsAreOn } from "./drafts.js";
import { t } from "./strings.js";
import { ownWords, sightOf } from "./text.js";

export class Sending {
    #page;
    /** The draft that is on its way. */
    #sent = null;
    /** What was sent before there was a chat to send it in. */
    #held = null;
    /** The earlier message that is written anew: `{ index, before: { text, files } }`, or null. */
    #editing = null;

    /** `page` is what app.js puts together. */
    constructor(page) {
        this.#page = page;
    }

    get isEditing() {
        return this.#editing !== null;
    }

    get isUnderWay() {
        return this.#sent !== null;
    }

    /** Answers whether the words may leave the box. */
    send(text, files = this.#page.attachments.ready) {
        const { attachments, chats, link, notices, transcript, troubles } = this.#page;
        const chat = chats.current;
        if (!chat || link.answering) return false;
        if (chats.isOpening || transcript.view === null) {
            // A chat is being opened: what is sent now belongs to it, and would be lost in the one that goes.
            this.#held = { text, files };
            if (files.length > 0) attachments.ready = [];
            transcript.need().then(() => this.sendHeld(), (error) => {
                this.#giveHeldBack();
                troubles.failed(error);
            });
            return true;
        }
        notices.clear();
        const draft = { text, files, sight: sightOf(chat.history) };
        if (this.#editing) {
            Object.assign(draft, { restore: chat.history, editing: this.#editing });
            chat.history = chat.history.slice(0, this.#editing.index);
            transcript.view.show(chat.history);
            this.#stopEditing();
        }
        const message = { role: "user", content: text, ...messageFields(files) };
        chat.history.push(message);
        transcript.view.addUser(message);
        this.#ask(draft);
        if (files.length > 0) attachments.ready = [];
        return true;
    }

    /** Once a chat is open. */
    sendHeld() {
        const { chats, transcript } = this.#page;
        if (this.#held === null || chats.isOpening || transcript.view === null) return;
        const { text, files } = this.#held;
        this.#held = null;
        if (!this.send(text, files)) this.#returnToBox(text, files);
    }

    #giveHeldBack() {
        if (this.#held === null) return;
        const { text, files } = this.#held;
        this.#held = null;
        this.#returnToBox(text, files);
    }

    regenerate() {
        const { chats, notices, transcript } = this.#page;
        if (!this.#mayAsk) return;
        const { history } = chats.current;
        const sight = sightOf(history);
        this.cancelEdit();
        notices.clear();
        while (history.at(-1)?.role === "assistant") history.pop();
        transcript.view.removeLastAnswer();
        this.#ask({ again: true, sight });
    }

    goOn() {
        if (!this.#mayAsk) return;
        this.cancelEdit();
        this.send(t("goOnPrompt"), []);
    }

    get #mayAsk() {
        const { chats, link, model } = this.#page;
        return chats.current !== null && !link.answering && model.state === "Loaded";
    }

    #ask(draft) {
        const { chats, link, shares } = this.#page;
        const chat = chats.current;
        this.#sent = draft;
        const body = { messages: chat.history, sessionId: chat.sessionId, commands: true, ...draft.sight };
        if (typeof chat.think === "boolean") body.think = chat.think;
        if (toolsAreOn(chat)) body.profile = "agent";
        const shareIds = shares?.ids(chat.id) ?? [];
        if (shareIds.length > 0 && !draft.again) body.shareIds = shareIds;
        link.dispatch({ type: "send", draft, body });
    }

    /** The host has taken it on. */
    accepted() {
        const { attachments, chats, composer, notices, shares, transcript } = this.#page;
        const draft = this.#sent;
        this.#sent = null;
        // What was in the box before an earlier message was taken up to be changed.
        if (draft?.editing) {
            composer.giveBack(draft.editing.before.text);
            attachments.giveBack(draft.editing.before.files);
        }
        keepText(chats.current, composer.text);
        keepFiles(chats.current, attachments.ready);
        if (transcript.tellPlain()) notices.add({ sentence: t("plainText") });
        if (draft && !draft.again && shares?.ids(chats.current.id).length > 0) shares.sent();
        chats.refresh();
    }

    /** It did not arrive. */
    giveBack(draft) {
        const { chats, composer, transcript } = this.#page;
        const chat = chats.current;
        this.#sent = null;
        if (draft.again) {
            chats.open(chat.id);
            return;
        }
        if (draft.restore) {
            chat.history = draft.restore;
            transcript.view.show(chat.history);
            this.#editing = draft.editing;
            composer.setEditing(true);
        } else {
            if (chat.history.at(-1)?.role === "user") chat.history.pop();
            transcript.view.removeLastUser();
        }
        this.#returnToBox(draft.text, draft.files);
    }

    #returnToBox(text, files) {
        const { attachments, chats, composer } = this.#page;
        composer.giveBack(text);
        attachments.giveBack(files);
        keepText(chats.current, composer.text);
        keepFiles(chats.current, attachments.ready);
    }

    /** The chat is not what it was here: a message that was written anew is one of its own now. */
    keepWords() {
        if (this.#editing) this.#stopEditing();
    }

    /** Another chat is open now. */
    leave() {
        if (this.#editing) this.cancelEdit();
        this.#sent = null;
    }

    // MARK: writing an earlier message anew

    edit(index) {
        const { attachments, chats, composer, link } = this.#page;
        const message = chats.current.history[index];
        if (link.answering || message?.role !== "user") return;
        const before = this.#editing?.before ?? { text: composer.text, files: attachments.ready };
        this.#editing = { index, before };
        composer.setEditing(true);
        composer.text = ownWords(message.content ?? "");
        attachments.ready = attachmentsOf(message);
        composer.focus();
    }

    #stopEditing() {
        this.#editing = null;
        this.#page.composer.setEditing(false);
    }

    cancelEdit() {
        if (!this.#editing) return;
        const { attachments, chats, composer } = this.#page;
        const { before } = this.#editing;
        this.#stopEditing();
        composer.text = before.text;
        attachments.ready = before.files;
        keepText(chats.current, composer.text);
        composer.focus();
    }
}
