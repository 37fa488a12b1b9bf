// One chat's link to its running turn, as a state machine: events in, actions out. No DOM, no fetch, no clock.
//
// The host owns the turn; the page only reads it. So the reader may be lost (a phone locks, a socket dies) without the
// answer being lost, and this file decides when to look for it again, and when to stop looking. Every event carries
// `now` in milliseconds where time matters. `handle` answers a list of `{ do: ... }` actions, for the page to carry out
// in order.

/** A stream that gave a byte (keep-alives count) this recently is alive. */
export const TRUST = 8_000;
/** A request that has no headers yet is busy with the prompt; it is trusted this long. */
export const TRUST_UNANSWERED = 600_000;
/** Waits between look-ups while the host cannot be reached: about 38 seconds in all. */
export const RETRY_AFTER = [800, 2_000, 5_000, 10_000, 20_000];
/** A look-up older than this is taken for lost, and another may start. */
export const LOOKUP_LIMIT = 12_000;
/** How much of what is being produced the strip shows. */
const STRIP_LINES = 3;
const STRIP_CHARACTERS = 400;

export class Transport {
    conversation = null;
    /** The host's id of the turn being read, once its headers came. */
    turn = null;
    /** Whether an answer is on its way: Send is Stop. */
    answering = false;
    /** What the bubble shows. */
    live = emptyAnswer();

    #reader = null;
    #readers = 0;
    #draft = null;
    #seen = new Set();
    #reread = new Set();
    /** A turn that was opened before the host had kept its message, or null. */
    #early = null;
    #told = new Set();
    #ordinal = 0;
    #lookup = null;
    #lookups = 0;
    #attempts = 0;
    #visible = true;
    /** What was said to questions here, by id: a replay asks them again, and they must not be answered twice. */
    #answers = new Map();
    #activity = noActivity();
    #filesShown = 0;

    /** @param {{ type: string, [key: string]: any }} event */
    handle(event) {
        const answer = {
            opened: () => this.#opened(event),
            left: () => this.#detach(),
            send: () => this.#send(event),
            headers: () => this.#headers(event),
            bytes: () => this.#bytes(event),
            frame: () => this.#frame(event),
            ended: () => this.#ended(event),
            refused: () => this.#refused(event),
            failed: () => this.#failed(event),
            watch: () => (this.#reader && this.#visible && !this.#isAlive(event.now) ? this.#resume(event) : []),
            retry: () => this.#resume(event),
            visible: () => this.#shown(event),
            hidden: () => this.#hidden(),
            lookedUp: () => this.#lookedUp(event),
            lookupFailed: () => this.#lookupFailed(event),
            stop: () => this.#stop(event),
            answer: () => this.#answer(event),
            answered: () => this.#settleAsk(event.id, event.outcome),
            answerRefused: () => this.#answerRefused(event),
            asksWaiting: () => this.#asksWaiting(event),
        }[event.type];
        if (!answer) throw new TypeError(`The transport knows no event "${event.type}".`);
        return answer();
    }

    #opened({ conversation, activeTurn, now }) {
        const actions = this.#detach();
        this.conversation = conversation;
        if (!activeTurn) return actions;
        // A finished turn is in the transcript already.
        if (!activeTurn.running) {
            this.#seen.add(activeTurn.id);
            return actions;
        }
        // Nothing has happened in it yet: its message is not in the chat as it was opened, and will be with the first frame.
        if (activeTurn.frames === 0) this.#early = activeTurn.id;
        return [...actions, ...this.#attach(activeTurn.id, now)];
    }

    #send({ draft, body, now }) {
        if (this.answering || !this.conversation) return [];
        this.#draft = draft;
        // A look-up begun to stop the last turn must not stop this one; the host ends the last one by itself.
        this.#lookup = null;
        this.#begin();
        this.#reader = { id: (this.#readers += 1), kind: "send", awaiting: true, since: now, lastByte: now };
        return [{ do: "showAnswer" }, { do: "strip", phase: "thinking" }, { do: "chat", reader: this.#reader.id, body }];
    }

    #begin() {
        this.answering = true;
        this.live = emptyAnswer();
        this.#activity = noActivity();
        this.#filesShown = 0;
        this.#ordinal = 0;
        this.turn = null;
    }

    #isCurrent(event) {
        return this.#reader !== null && this.#reader.id === event.reader;
    }

    #headers(event) {
        if (!this.#isCurrent(event)) return [];
        this.#reader.awaiting = false;
        this.#reader.lastByte = event.now;
        this.#draft = null;
        this.#attempts = 0;
        if (event.turn) {
            this.turn = event.turn;
            this.#seen.add(event.turn);
        }
        if (this.#early !== null && this.#early === this.turn) {
            this.#early = null;
            return [{ do: "reopen", conversation: this.conversation }];
        }
        return [{ do: "accepted" }];
    }

    #bytes(event) {
        if (this.#isCurrent(event)) this.#reader.lastByte = event.now;
        return [];
    }

    #frame(event) {
        if (!this.#isCurrent(event)) return [];
        const frame = event.frame;
        const actions = [];
        this.#ordinal += 1;
        if (frame.prompt_progress) {
            const { done, total } = frame.prompt_progress;
            actions.push({ do: "strip", phase: "reading", fraction: total > 0 ? Math.min(1, done / total) : null });
        }
        if (typeof frame.thinking === "string") {
            this.live.thinking += frame.thinking;
            actions.push(
                { do: "strip", phase: "thinking", lines: lastLines(this.live.thinking) }, { do: "paint" });
        }
        // An empty replacement is meaningful: it takes the text so far away.
        if (typeof frame.replace === "string") {
            this.live.text = frame.replace;
            actions.push({ do: "paint" });
        }
        if (typeof frame.token === "string") {
            this.live.text += frame.token;
            actions.push({ do: "strip", phase: "writing" }, { do: "paint" });
        }
        if (typeof frame.skill_step === "string") actions.push(...this.#stepped(frame));
        if (typeof frame.tool_progress === "string") actions.push(...this.#progressed(frame));
        if (frame.artifact) this.#made([frame.artifact]);
        if (frame.approval) actions.push(...this.#asked(frame.approval, event.now));
        if (typeof frame.approval_answered === "string") {
            actions.push({ do: "strip", phase: "working" }, ...this.#settleAsk(frame.approval_answered, frame.outcome, true));
        }
        if (typeof frame.notice === "string") actions.push(...this.#tellOnce({ sentence: frame.notice }));
        if (typeof frame.error === "string" && !frame.done) this.live.error = frame.error;
        if (frame.done === true) this.live.done = frame;
        return actions;
    }

    /** A replay brings the same notices again; each is shown once a turn. */
    #tellOnce(notice) {
        const key = `${this.turn}:${this.#ordinal}`;
        if (this.#told.has(key)) return [];
        this.#told.add(key);
        return [{ do: "notice", ...notice }];
    }

    #progressed({ tool_progress: phase, tool, text, detail, seconds }) {
        const now = this.#activity;
        const name = typeof tool === "string" ? tool : null;
        // A call's name may come after its first letters; a new phase or another tool begins a new text.
        const goes = phase === "finished" || (now.phase === phase && !detail && (now.tool === null || now.tool === name));
        if (!goes) this.#activity = { ...noActivity(), detail: typeof detail === "string" ? detail : "" };
        this.#activity.phase = phase;
        this.#activity.tool = name;
        if (typeof text === "string") this.#activity.text = (this.#activity.text + text).slice(-4_000);
        const lines = lastLines(this.#activity.text) || lastLines(this.#activity.detail);
        const known = { writing: "preparing", running: "running", finished: "finished" }[phase];
        if (!known) return [];
        // A call being written carries no time: the strip counts that by itself.
        return [{ do: "strip", phase: known, tool: name, ...(Number.isFinite(seconds) && { seconds }), lines }];
    }

    #stepped({ skill_step: tool, detail, ok, seconds, receipt, files }) {
        // Where in the answer it stood: text and steps are shown in their order.
        const at = this.live.text.length;
        const step = { tool, detail: detail ?? "", ok: ok === true, seconds: seconds ?? 0, receipt: receipt ?? null, at };
        this.live.steps.push(step);
        if (Array.isArray(files)) this.#made(files);
        return [{ do: "step", step, files: this.#takeNewFiles() }];
    }

    /** A file is told of twice, by itself and with its step. */
    #made(files) {
        for (const { name, bytes, url } of files) {
            if (this.live.artifacts.some((other) => other.url === url)) continue;
            this.live.artifacts.push({ name, bytes, url });
        }
    }

    #takeNewFiles() {
        const fresh = this.live.artifacts.slice(this.#filesShown);
        this.#filesShown = this.live.artifacts.length;
        return fresh;
    }

    #asked(approval, now) {
        const state = this.#answers.get(approval.id) ?? "waiting";
        const ask = { ...approval, until: now + 1_000 * (approval.expires || 0), state };
        this.live.asks.push(ask);
        const actions = [{ do: "strip", phase: "asking" }, { do: "ask", ask: { ...ask } }];
        // Read again from the start, a question may be long answered, or have little time left.
        if (this.#reader.kind === "attach" && ask.state === "waiting") actions.push({ do: "checkAsks" });
        return actions;
    }

    #ask(id) {
        return this.live.asks.find((ask) => ask.id === id);
    }

    /** One question, one answer, however often the button is pressed. */
    #answer({ id, outcome }) {
        const ask = this.#ask(id);
        if (!ask || ask.state !== "waiting" || (outcome === "allowed_for_chat" && !ask.remember)) return [];
        return [...this.#mark(ask, "sending"), { do: "answer", id, signature: ask.signature, outcome }];
    }

    #answerRefused({ id, status }) {
        if (status === 404) return this.#settleAsk(id, "elsewhere");
        const ask = this.#ask(id);
        return ask?.state === "sending" ? this.#mark(ask, "waiting") : [];
    }

    /** What the host says is waiting now; `checked` are the questions that stood here when it was asked. */
    #asksWaiting({ asks, checked, now }) {
        return this.live.asks.filter(({ id, state }) => state === "waiting" && checked.includes(id)).flatMap((ask) => {
            const found = asks.find(({ id }) => id === ask.id);
            if (!found) return this.#settleAsk(ask.id, "elsewhere");
            if (Number.isFinite(found.expires)) ask.until = now + 1_000 * found.expires;
            return this.#mark(ask, "waiting");
        });
    }

    // The turn's own word on an outcome stands over what the page concluded from a refusal.
    #settleAsk(id, outcome, certain = false) {
        const ask = this.#ask(id);
        if (!ask || (!certain && ask.state !== "waiting" && ask.state !== "sending")) return [];
        return this.#mark(ask, outcome);
    }

    #mark(ask, state) {
        ask.state = state;
        if (state === "waiting") this.#answers.delete(ask.id);
        else this.#answers.set(ask.id, state);
        return [{ do: "askState", id: ask.id, state, until: ask.until }];
    }

    #ended(event) {
        if (!this.#isCurrent(event)) return [];
        this.#reader = null;
        if (this.live.done || !this.turn) return this.#finish();
        return this.#lookUp(event.now, "ended");
    }

    #refused(event) {
        if (!this.#isCurrent(event)) return [];
        const { kind } = this.#reader;
        const notice = { do: "notice", sentence: event.error, hint: event.hint, code: event.code, status: event.status };
        this.#reader = null;
        if (kind === "send") return [...this.#giveBack(), notice];
        if (event.status === 404) {
            return this.#hasWords() ? this.#settle() : [...this.#idle(), { do: "removeAnswer" }];
        }
        if (event.status === 401) return [...this.#idle(), notice];
        return this.#retryLater();
    }

    #failed(event) {
        if (!this.#isCurrent(event)) return [];
        this.#reader = null;
        if (event.transport) return this.#retryLater();
        this.live.error = event.error;
        return this.#finish();
    }

    #isAlive(now) {
        if (!this.#reader) return false;
        return this.#reader.awaiting
            ? now - this.#reader.since < TRUST_UNANSWERED
            : now - this.#reader.lastByte < TRUST;
    }

    #shown(event) {
        this.#visible = true;
        return this.#resume(event);
    }

    #hidden() {
        this.#visible = false;
        return [{ do: "cancelRetry" }];
    }

    #retryLater() {
        if (!this.answering) return [];
        // While hidden no timer runs true; becoming visible resumes at once.
        const strip = { do: "strip", phase: this.#draft === null ? "lost" : "unsent" };
        if (!this.#visible) return [strip];
        if (this.#attempts >= RETRY_AFTER.length) return this.#giveUp();
        const after = RETRY_AFTER[this.#attempts];
        this.#attempts += 1;
        return [strip, { do: "retryIn", after }];
    }

    #giveUp() {
        const notice = { do: "notice", key: "gaveUp" };
        if (this.#draft !== null) return [...this.#giveBack(), { do: "notice", key: "sendLost" }];
        if (!this.#hasWords()) return [...this.#idle(), { do: "removeAnswer" }, notice];
        this.live.incomplete = true;
        return [...this.#finish(), notice];
    }

    #resume({ now }) {
        if (!this.conversation || this.#isAlive(now)) return [];
        if (this.#lookup && now - this.#lookup.since < LOOKUP_LIMIT) return [];
        const actions = [{ do: "cancelRetry" }];
        // An unanswered request is never superseded on suspicion: it may be a long prompt.
        if (this.#reader && !this.#reader.awaiting) {
            actions.push({ do: "abort", reader: this.#reader.id });
            this.#reader = null;
        }
        return [...actions, ...this.#lookUp(now, "resume")];
    }

    #lookUp(now, why) {
        this.#lookup = { id: (this.#lookups += 1), since: now, why };
        return [{ do: "lookUp", lookup: this.#lookup.id, conversation: this.conversation }];
    }

    #lookedUp({ lookup, turn, now }) {
        if (!this.#lookup || this.#lookup.id !== lookup) return [];
        const { why } = this.#lookup;
        this.#lookup = null;
        this.#attempts = 0;
        if (why === "stop") {
            if (turn) this.#seen.add(turn.id);
            return turn?.running ? [{ do: "stopTurn", turn: turn.id }] : [];
        }
        if (turn && turn.id === this.turn) return this.#foundOwn(turn, why, now);
        const unseen = turn && !this.#seen.has(turn.id);
        if (unseen && this.#draft !== null) return this.#attach(turn.id, now);
        if (this.#draft !== null) {
            // Still waiting for headers, and the host knows nothing yet: it may be queueing. Leave the request be.
            if (this.#reader) return [];
            return [...this.#giveBack(), { do: "notice", key: "sendLost" }];
        }
        if (this.answering || unseen) {
            if (turn) this.#seen.add(turn.id);
            return this.#settle();
        }
        return [];
    }

    #foundOwn(turn, why, now) {
        if (!this.answering) return [];
        // The stream ended, yet the turn runs: wait a little, for a host that hangs up at once.
        if (turn.running) return why === "ended" ? this.#retryLater() : this.#attach(turn.id, now);
        if (this.#reread.has(turn.id)) return this.#hasWords() ? this.#finish() : this.#settle();
        this.#reread.add(turn.id);
        return this.#attach(turn.id, now);
    }

    #lookupFailed({ lookup }) {
        if (!this.#lookup || this.#lookup.id !== lookup) return [];
        const { why } = this.#lookup;
        this.#lookup = null;
        if (why === "stop" || !this.answering || this.#reader) return [];
        return this.#retryLater();
    }

    #attach(turn, now) {
        const actions = this.#reader ? [{ do: "abort", reader: this.#reader.id }] : [];
        this.#begin();
        this.turn = turn;
        this.#draft = null;
        this.#seen.add(turn);
        this.#reader = { id: (this.#readers += 1), kind: "attach", awaiting: true, since: now, lastByte: now };
        return [
            ...actions, { do: "showAnswer" }, { do: "strip", phase: "thinking" },
            { do: "attach", reader: this.#reader.id, turn, from: 0 },
        ];
    }

    #stop({ now }) {
        if (!this.answering) return [];
        const turn = this.turn;
        if (turn) {
            this.live.stopped = true;
            const abort = this.#reader ? [{ do: "abort", reader: this.#reader.id }] : [];
            this.#reader = null;
            return [{ do: "stopTurn", turn }, ...abort, ...this.#finish()];
        }
        // Nothing was answered yet: the words go back, and the turn, if the host has begun one, is stopped.
        const abort = this.#reader ? [{ do: "abort", reader: this.#reader.id }] : [];
        this.#reader = null;
        return [...abort, ...this.#giveBack(), ...this.#lookUp(now, "stop")];
    }

    #hasWords() {
        const { text, thinking, steps, artifacts } = this.live;
        return text !== "" || thinking !== "" || steps.length > 0 || artifacts.length > 0;
    }

    #finish() {
        const { text, thinking, steps, artifacts, done, error, stopped, incomplete } = this.live;
        const message = this.#hasWords() ? { role: "assistant", content: text } : null;
        if (message && thinking !== "") message.thinking = thinking;
        if (steps.length > 0) message.steps = steps;
        if (artifacts.length > 0) message.artifacts = artifacts;
        // As the host keeps them: the next message's history must not take them away.
        if (message && done) {
            const { tokenCount, tokPerSec, promptTokens, aborted, truncated } = done;
            Object.assign(message, { tokenCount, tokPerSec, aborted, truncated }, promptTokens > 0 && { promptTokens });
        }
        // Stopped here, the last frame was not waited for.
        if (message && stopped && !done) message.aborted = true;
        const outcome = {
            tokens: done?.tokenCount ?? null,
            perSecond: done?.tokPerSec ?? null,
            stopped: Boolean(stopped || done?.aborted),
            truncated: Boolean(done?.truncated),
            error: (typeof done?.error === "string" && done.error) || error || null,
            incomplete: Boolean(incomplete || (!done && !stopped && !error)),
            stoppedBy: typeof done?.stoppedBy === "string" ? done.stoppedBy : null,
        };
        // Nobody is left to hear an answer.
        const open = this.live.asks.filter(({ state }) => state === "waiting" || state === "sending");
        const closed = open.flatMap(({ id }) => this.#settleAsk(id, "withdrawn"));
        return [...this.#idle(), ...closed, { do: "finish", message, outcome, files: this.#takeNewFiles() }];
    }

    /** Takes the stored transcript as the truth. */
    #settle() {
        return [...this.#idle(), { do: "reopen", conversation: this.conversation }];
    }

    /** A send that did not arrive: nothing the person wrote is lost. */
    #giveBack() {
        const draft = this.#draft;
        return [...this.#idle(), { do: "removeAnswer" }, ...(draft === null ? [] : [{ do: "giveBack", draft }])];
    }

    #idle() {
        this.answering = false;
        this.turn = null;
        this.#draft = null;
        this.#lookup = null;
        this.#attempts = 0;
        return [{ do: "cancelRetry" }, { do: "strip", phase: null }];
    }

    #detach() {
        const abort = this.#reader ? [{ do: "abort", reader: this.#reader.id }] : [];
        this.#reader = null;
        return [...abort, ...this.#idle()];
    }
}

function emptyAnswer() {
    return {
        text: "", thinking: "", steps: [], artifacts: [], asks: [],
        done: null, error: null, stopped: false, incomplete: false,
    };
}

function noActivity() {
    return { phase: null, tool: null, detail: "", text: "" };
}

/** The last lines of `text` that say anything, without a terminal's colours. */
export function lastLines(text) {
    const plain = text.slice(-2_000).replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, "");
    const lines = plain.split(/\r\n|\n|\r/).filter((line) => line.trim() !== "");
    return lines.slice(-STRIP_LINES).join("\n").slice(-STRIP_CHARACTERS);
}
