// The open chat's link to its turn: carries out what the transport decides, on the screen and towards the host.

import { host, HostError } from "./api.js";
import { t } from "./strings.js";

/** How often a reader's life is looked at. */
const WATCH_EVERY = 4_000;
/** After a replay the questions on the screen are looked up once it has been quiet for so long. */
const CHECK_AFTER = 250;
/** A waking phone hands the page back before its sockets. */
const WAKE_AFTER = 250;

export class TurnLink {
    #page;
    /** What decides; null until something can be answered. */
    #transport = null;
    #opened = null;
    /** The chat whose answer was given up for lost, or null. */
    #gaveUp = null;
    #controllers = new Map();
    #retryTimer = null;
    #checkTimer = null;

    /** `page` is what app.js puts together; its `chats`, `sending` and `troubles` hear what became of a turn. */
    constructor(page) {
        this.#page = page;
        setInterval(() => this.dispatch({ type: "watch" }), WATCH_EVERY);
        document.addEventListener("visibilitychange", () => {
            if (document.hidden) this.dispatch({ type: "hidden" });
            else setTimeout(() => this.dispatch({ type: "visible" }), WAKE_AFTER);
        });
        addEventListener("pageshow", (event) => event.persisted && this.dispatch({ type: "visible" }));
    }

    get answering() {
        return this.#transport?.answering ?? false;
    }

    /** Takes the state machine on, which is loaded with what draws messages: no turn can be read before. */
    follow(transport) {
        this.#transport = transport;
        if (this.#opened) this.dispatch(this.#opened);
    }

    /** The host can be reached again: an answer that was given up for lost is looked for once more. */
    back() {
        const { chats, notices } = this.#page;
        this.dispatch({ type: "visible" });
        if (this.#gaveUp === null || this.#gaveUp !== chats.current?.id || this.answering) return;
        notices.clear();
        chats.open(this.#gaveUp);
    }

    dispatch(event) {
        if (event.type === "opened") {
            this.#opened = event;
            this.#gaveUp = null;
        }
        if (this.#transport === null) return;
        for (const action of this.#transport.handle({ now: Date.now(), ...event })) this.#carryOut(action);
    }

    #carryOut(action) {
        const { chats, composer, say, sending, transcript, troubles } = this.#page;
        const { view } = transcript;
        switch (action.do) {
            case "showAnswer":
                view.beginAnswer();
                say("");
                composer.setAnswering(true);
                break;
            case "strip":
                composer.strip(action);
                composer.setAnswering(this.answering);
                break;
            case "chat":
                this.#read(action.reader, (signal, reader) => host.chat(action.body, signal, reader));
                break;
            case "attach":
                this.#read(action.reader, (signal, reader) => host.attach(action.turn, action.from, signal, reader));
                break;
            case "abort":
                this.#controllers.get(action.reader)?.abort();
                break;
            case "lookUp":
                this.#lookUp(action);
                break;
            case "stopTurn":
                host.stopTurn(action.turn).catch(() => {});
                break;
            case "retryIn":
                clearTimeout(this.#retryTimer);
                this.#retryTimer = setTimeout(() => this.dispatch({ type: "retry" }), action.after);
                break;
            case "cancelRetry":
                clearTimeout(this.#retryTimer);
                break;
            case "accepted":
                sending.accepted();
                break;
            case "paint":
                view.paint(this.#transport.live);
                break;
            case "step":
            case "ask":
            case "askState":
                view.carryOut(action, this.#transport.live.text);
                this.#announceAsk(action);
                break;
            case "answer":
                this.#answer(action);
                break;
            case "checkAsks":
                clearTimeout(this.#checkTimer);
                this.#checkTimer = setTimeout(() => this.#checkAsks(), CHECK_AFTER);
                break;
            case "finish":
                chats.finished(action);
                troubles.offerNetwork(action);
                break;
            case "removeAnswer":
                view.removeAnswer();
                break;
            case "giveBack":
                sending.giveBack(action.draft);
                break;
            case "reopen":
                chats.open(action.conversation);
                break;
            case "notice":
                if (action.key === "gaveUp") this.#gaveUp = chats.current.id;
                troubles.notice(action);
                break;
        }
    }

    async #read(reader, start) {
        const controller = new AbortController();
        this.#controllers.set(reader, controller);
        const heard = (event) => !controller.signal.aborted && this.dispatch({ reader, ...event });
        try {
            await start(controller.signal, {
                headers: (turn) => heard({ type: "headers", turn }),
                bytes: () => heard({ type: "bytes" }),
                frame: (frame) => heard({ type: "frame", frame }),
                ended: () => heard({ type: "ended" }),
            });
        } catch (error) {
            if (!controller.signal.aborted) this.#readFailed(reader, error);
        } finally {
            this.#controllers.delete(reader);
        }
    }

    #readFailed(reader, error) {
        const { chats, sending, troubles } = this.#page;
        if (!(error instanceof HostError && error.status > 0)) {
            this.dispatch({ type: "failed", reader, transport: error.transport === true, error: error.message });
            return;
        }
        if (error.status === 401) troubles.showGate();
        this.dispatch({
            type: "refused", reader, status: error.status, code: error.code, hint: error.hint,
            error: error.message || t("refusedPlain", error.status),
        });
        if (error.code === "chat_changed") {
            sending.keepWords();
            chats.open(chats.current.id);
        }
        // The host has forgotten this session (it was started anew): the next send needs a fresh one.
        if (error.status === 404 && !this.answering && !sending.isEditing) chats.open(chats.current.id);
    }

    async #lookUp({ lookup, conversation }) {
        try {
            const turn = await host.turn(conversation).catch((error) => {
                if (error.status === 404) return null;
                throw error;
            });
            this.dispatch({ type: "lookedUp", lookup, turn });
        } catch (error) {
            if (error.status === 401) this.#page.troubles.showGate();
            this.dispatch({ type: "lookupFailed", lookup });
        }
    }

    // MARK: questions

    #announceAsk({ ask, state }) {
        const { say, transcript } = this.#page;
        const words = ask?.state === "waiting" ? t("askAnnounced", transcript.view.describe(ask)) : t("askOutcomes")[state];
        if (words) say(words);
    }

    async #answer({ id, signature, outcome }) {
        try {
            await host.answer(id, signature, outcome);
            this.dispatch({ type: "answered", id, outcome });
        } catch (error) {
            if (error.status !== 404) this.#page.troubles.failed(error);
            this.dispatch({ type: "answerRefused", id, status: error.status });
        }
    }

    /** After a replay: which of the questions on the screen the host still asks, and how long each has left. */
    async #checkAsks() {
        const checked = this.#transport.live.asks.filter(({ state }) => state === "waiting").map(({ id }) => id);
        if (checked.length === 0) return;
        // When this fails the card stays, and the answer to it tells.
        const asks = await host.approvals().catch(() => null);
        if (asks) this.dispatch({ type: "asksWaiting", asks, checked });
    }
}
