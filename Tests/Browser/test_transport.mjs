import assert from "node:assert/strict";
import { test } from "node:test";
import { lastLines, LOOKUP_LIMIT, RETRY_AFTER, Transport, TRUST, TRUST_UNANSWERED } from "../../Web/transport.js";

/** A page without a browser: feeds events at a clock of its own and keeps the actions. */
class Bench {
    transport = new Transport();
    now = 1_000_000;
    log = [];

    constructor({ activeTurn = null } = {}) {
        this.handle({ type: "opened", conversation: "c", activeTurn });
    }

    handle(event) {
        const actions = this.transport.handle({ now: this.now, ...event });
        this.log.push(...actions);
        return actions;
    }

    /** The last action of a kind. */
    last(kind) {
        return this.log.findLast((action) => action.do === kind);
    }

    count(kind) {
        return this.log.filter((action) => action.do === kind).length;
    }

    send(text = "hello") {
        this.handle({ type: "send", draft: { text }, body: { messages: [] } });
        return this.last("chat").reader;
    }

    /** A send whose headers have come. */
    begin(turn = "t1") {
        const reader = this.send();
        this.handle({ type: "headers", reader, turn });
        return reader;
    }

    frames(reader, ...frames) {
        for (const frame of frames) this.handle({ type: "frame", reader, frame });
    }

    found(turn) {
        return this.handle({ type: "lookedUp", lookup: this.last("lookUp").lookup, turn });
    }

    later(milliseconds) {
        this.now += milliseconds;
    }
}

const kinds = (actions) => actions.map((action) => action.do);
const running = (id) => ({ id, running: true, state: "Running", frames: 3 });
const ended = (id) => ({ id, running: false, state: "Completed", frames: 3 });
const done = { done: true, tokenCount: 2, tokPerSec: 40, aborted: false, truncated: false };

test("a plain answer is sent, painted and finished", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { thinking: "hm" }, { token: "Pa" }, { token: "ris" }, done);
    const actions = bench.handle({ type: "ended", reader });
    assert.deepEqual(actions.at(-1), {
        do: "finish",
        message: {
            role: "assistant", content: "Paris", thinking: "hm",
            tokenCount: 2, tokPerSec: 40, aborted: false, truncated: false,
        },
        outcome: { tokens: 2, perSecond: 40, stopped: false, truncated: false, error: null, incomplete: false, stoppedBy: null },
        files: [],
    });
    assert.equal(bench.transport.answering, false);
});

test("the strip follows reading, thinking and writing", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { prompt_progress: { done: 43, total: 100 } });
    assert.deepEqual(bench.last("strip"), { do: "strip", phase: "reading", fraction: 0.43 });
    bench.frames(reader, { thinking: "a" });
    assert.equal(bench.last("strip").phase, "thinking");
    bench.frames(reader, { token: "a" });
    assert.equal(bench.last("strip").phase, "writing");
    bench.frames(reader, done);
    bench.handle({ type: "ended", reader });
    assert.equal(bench.last("strip").phase, null);
});

test("an empty replacement takes the text away", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { token: "wrong" }, { replace: "" }, { token: "right" });
    assert.equal(bench.transport.live.text, "right");
});

test("a refused send gives the words back and says why", () => {
    const bench = new Bench();
    const reader = bench.send("my words");
    const actions = bench.handle({ type: "refused", reader, status: 400, error: "No model is loaded.", hint: "Load one." });
    assert.deepEqual(kinds(actions), ["cancelRetry", "strip", "removeAnswer", "giveBack", "notice"]);
    assert.equal(bench.last("giveBack").draft.text, "my words");
    assert.equal(bench.last("notice").sentence, "No model is loaded.");
});

test("a send lost before its headers is looked for, and given back when the host knows nothing of it", () => {
    const bench = new Bench();
    const reader = bench.send("my words");
    bench.handle({ type: "failed", reader, transport: true });
    assert.equal(bench.last("retryIn").after, RETRY_AFTER[0]);
    bench.handle({ type: "retry" });
    bench.found(null);
    assert.equal(bench.last("giveBack").draft.text, "my words");
    assert.equal(bench.last("notice").key, "sendLost");
    assert.equal(bench.transport.answering, false);
});

test("a send lost before its headers is attached to when the host did get it", () => {
    const bench = new Bench();
    const reader = bench.send();
    bench.handle({ type: "failed", reader, transport: true });
    bench.handle({ type: "retry" });
    bench.found(running("new"));
    assert.deepEqual({ turn: bench.last("attach").turn, from: bench.last("attach").from }, { turn: "new", from: 0 });
    assert.equal(bench.count("giveBack"), 0);
});

test("a turn that was in the transcript when the chat opened is never taken for the answer to a lost send", () => {
    const bench = new Bench({ activeTurn: ended("old") });
    const reader = bench.send("my words");
    bench.handle({ type: "failed", reader, transport: true });
    bench.handle({ type: "retry" });
    bench.found(ended("old"));
    assert.equal(bench.count("attach"), 0);
    assert.equal(bench.last("giveBack").draft.text, "my words");
});

test("opening a chat whose turn runs attaches to it from its first frame", () => {
    const bench = new Bench({ activeTurn: running("t9") });
    assert.equal(bench.last("attach").turn, "t9");
    assert.equal(bench.last("attach").from, 0);
    assert.equal(bench.transport.answering, true);
});

test("a line cut in the middle is taken up again from frame 0, and nothing shows twice", () => {
    const bench = new Bench();
    const first = bench.begin();
    bench.frames(first, { notice: "The context was shortened." }, { token: "half" });
    bench.handle({ type: "failed", reader: first, transport: true });
    bench.handle({ type: "retry" });
    bench.found(running("t1"));
    const second = bench.last("attach").reader;
    bench.handle({ type: "headers", reader: second, turn: "t1" });
    bench.frames(second, { notice: "The context was shortened." }, { token: "half" }, { token: " whole" }, done);
    bench.handle({ type: "ended", reader: second });
    assert.equal(bench.last("finish").message.content, "half whole");
    assert.equal(bench.count("notice"), 1);
});

test("what a superseded reader still says is not heard", () => {
    const bench = new Bench();
    const first = bench.begin();
    bench.handle({ type: "failed", reader: first, transport: true });
    bench.handle({ type: "retry" });
    bench.found(running("t1"));
    bench.frames(first, { token: "ghost" });
    bench.handle({ type: "ended", reader: first });
    bench.handle({ type: "failed", reader: first, transport: true });
    assert.equal(bench.transport.live.text, "");
    assert.equal(bench.transport.answering, true);
});

test("the watchdog leaves a stream alone while bytes come, and resumes one gone silent", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.later(TRUST - 1);
    bench.handle({ type: "bytes", reader });
    bench.later(TRUST - 1);
    assert.deepEqual(bench.handle({ type: "watch" }), []);
    bench.later(2);
    assert.deepEqual(kinds(bench.handle({ type: "watch" })), ["cancelRetry", "abort", "lookUp"]);
});

test("a request without headers is trusted for ten minutes and never superseded on suspicion", () => {
    const bench = new Bench();
    bench.send();
    bench.later(TRUST_UNANSWERED - 1);
    assert.deepEqual(bench.handle({ type: "watch" }), []);
    assert.deepEqual(bench.handle({ type: "visible" }), []);
    bench.later(2);
    assert.deepEqual(kinds(bench.handle({ type: "watch" })), ["cancelRetry", "lookUp"]);
    assert.deepEqual(bench.found(null), []);
    assert.equal(bench.transport.answering, true);
});

test("one look-up at a time, until it is too old to be waited for", () => {
    const bench = new Bench();
    bench.handle({ type: "visible" });
    assert.deepEqual(bench.handle({ type: "visible" }), []);
    bench.later(LOOKUP_LIMIT + 1);
    assert.equal(bench.handle({ type: "visible" }).at(-1).do, "lookUp");
});

test("an unreachable host is asked again five times, then the fragment is kept and the person is told", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { token: "half" });
    bench.handle({ type: "failed", reader, transport: true });
    const waits = [bench.last("retryIn").after];
    for (let attempt = 0; attempt < RETRY_AFTER.length; attempt += 1) {
        bench.handle({ type: "retry" });
        const actions = bench.handle({ type: "lookupFailed", lookup: bench.last("lookUp").lookup });
        const again = actions.find((action) => action.do === "retryIn");
        if (again) waits.push(again.after);
    }
    assert.deepEqual(waits, RETRY_AFTER);
    assert.equal(bench.last("finish").message.content, "half");
    assert.equal(bench.last("finish").outcome.incomplete, true);
    assert.equal(bench.last("notice").key, "gaveUp");
    assert.equal(bench.transport.answering, false);
});

test("any answer from the host starts the waits anew", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.handle({ type: "failed", reader, transport: true });
    bench.handle({ type: "retry" });
    bench.handle({ type: "lookupFailed", lookup: bench.last("lookUp").lookup });
    assert.equal(bench.last("retryIn").after, RETRY_AFTER[1]);
    bench.handle({ type: "retry" });
    bench.found(running("t1"));
    bench.handle({ type: "failed", reader: bench.last("attach").reader, transport: true });
    assert.equal(bench.last("retryIn").after, RETRY_AFTER[0]);
});

test("while hidden nothing is retried; becoming visible looks at once", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.handle({ type: "hidden" });
    bench.handle({ type: "failed", reader, transport: true });
    assert.equal(bench.count("retryIn"), 0);
    assert.equal(bench.handle({ type: "visible" }).at(-1).do, "lookUp");
});

test("a stream that ends without done is looked into: running waits, finished is read once more, then it is enough", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { token: "half" });
    assert.equal(bench.handle({ type: "ended", reader }).at(-1).do, "lookUp");
    assert.equal(bench.found(running("t1")).at(-1).do, "retryIn");
    bench.handle({ type: "retry" });
    assert.equal(bench.found(ended("t1")).at(-1).do, "attach");
    const again = bench.last("attach").reader;
    bench.handle({ type: "headers", reader: again, turn: "t1" });
    bench.frames(again, { token: "half" });
    bench.handle({ type: "ended", reader: again });
    assert.equal(bench.found(ended("t1")).at(-1).do, "finish");
    assert.equal(bench.last("finish").message.content, "half");
});

test("a turn the host has forgotten is settled from the saved chat when words were shown", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.handle({ type: "failed", reader, transport: true });
    bench.handle({ type: "retry" });
    bench.found(running("t1"));
    bench.handle({ type: "refused", reader: bench.last("attach").reader, status: 404, error: "Gone." });
    assert.equal(bench.last("removeAnswer").do, "removeAnswer");

    const shown = new Bench();
    const first = shown.begin();
    shown.frames(first, { token: "half" });
    shown.later(TRUST + 1);
    shown.handle({ type: "watch" });
    shown.found(null);
    assert.deepEqual(shown.last("reopen"), { do: "reopen", conversation: "c" });
});

test("a turn begun on another page is shown by opening the chat again, not by pasting its answer here", () => {
    const bench = new Bench();
    bench.handle({ type: "visible" });
    assert.equal(bench.found(running("other")).at(-1).do, "reopen");
    bench.later(1);
    bench.handle({ type: "visible" });
    assert.deepEqual(bench.found(running("other")), []);
});

test("Stop with a turn stops it, lets go of the reader and keeps what was said", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { token: "so far" });
    const actions = bench.handle({ type: "stop" });
    assert.deepEqual(actions.slice(0, 2), [{ do: "stopTurn", turn: "t1" }, { do: "abort", reader }]);
    assert.equal(bench.last("finish").message.content, "so far");
    assert.equal(bench.last("finish").outcome.stopped, true);
    bench.frames(reader, { token: " and more" });
    assert.equal(bench.count("finish"), 1);
});

test("Stop before any headers gives the words back and stops the turn the host may have begun", () => {
    const bench = new Bench();
    bench.send("my words");
    bench.handle({ type: "stop" });
    assert.equal(bench.last("giveBack").draft.text, "my words");
    assert.deepEqual(bench.found(running("late")), [{ do: "stopTurn", turn: "late" }]);
});

test("a look-up begun by Stop does not stop the next turn", () => {
    const bench = new Bench();
    bench.send("first");
    bench.handle({ type: "stop" });
    const { lookup } = bench.last("lookUp");
    bench.send("second");
    assert.deepEqual(bench.handle({ type: "lookedUp", lookup, turn: running("second") }), []);
});

test("once stopped or left, no retry is alive and no late answer is heard", () => {
    for (const leave of [{ type: "stop" }, { type: "left" }, { type: "opened", conversation: "d", activeTurn: null }]) {
        const bench = new Bench();
        const reader = bench.begin();
        bench.handle({ type: "failed", reader, transport: true });
        bench.handle({ type: "retry" });
        const { lookup } = bench.last("lookUp");
        const actions = bench.handle(leave);
        assert.ok(kinds(actions).includes("cancelRetry"), leave.type);
        assert.deepEqual(bench.handle({ type: "lookedUp", lookup, turn: running("t1") }), [], leave.type);
    }
});

test("a second send while one is answered is not taken", () => {
    const bench = new Bench();
    bench.begin();
    assert.deepEqual(bench.handle({ type: "send", draft: { text: "again" }, body: {} }), []);
});

test("an error inside a turn keeps the words said before it", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { token: "half" }, { error: "The model ran out of memory." }, { ...done, error: "The model ran out of memory." });
    bench.handle({ type: "ended", reader });
    assert.equal(bench.last("finish").message.content, "half");
    assert.equal(bench.last("finish").outcome.error, "The model ran out of memory.");
});

const question = { id: "q1", call: "k1", tool: "shell", shown: "ls", effect: "runs code", signature: "sig", remember: false, expires: 600 };
const step = { skill_step: "shell", agent_id: null, skill: null, detail: "ls", ok: true, round: 1, seconds: 2.2, receipt: "r1", files: null };
const file = (name) => ({ name, bytes: 10, url: `/api/code/artifacts/t1/${name}` });

test("the strip follows a call being written, running and finished, with the last of what it says", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { tool_progress: "writing", tool: null, text: "ls " }, { tool_progress: "writing", tool: "shell", text: "-l" });
    assert.deepEqual(bench.last("strip"), { do: "strip", phase: "preparing", tool: "shell", lines: "ls -l" });
    bench.frames(reader, { tool_progress: "running", tool: "shell", detail: "ls -l", seconds: 0 });
    assert.deepEqual(bench.last("strip"), { do: "strip", phase: "running", tool: "shell", seconds: 0, lines: "ls -l" });
    bench.frames(reader, { tool_progress: "running", tool: "shell", text: "one\n\ntwo\n", seconds: 1 });
    bench.frames(reader, { tool_progress: "running", tool: "shell", text: "three\nfour", seconds: 2 });
    assert.deepEqual(bench.last("strip"), { do: "strip", phase: "running", tool: "shell", seconds: 2, lines: "two\nthree\nfour" });
    bench.frames(reader, step, { tool_progress: "finished", tool: "shell", seconds: 2.2 });
    assert.deepEqual(bench.last("strip"), { do: "strip", phase: "finished", tool: "shell", seconds: 2.2, lines: "two\nthree\nfour" });
    bench.frames(reader, { tool_progress: "writing", tool: "shell", text: "pwd" });
    assert.equal(bench.last("strip").lines, "pwd");
});

test("the last lines leave out blanks, colours and what is too long", () => {
    assert.equal(lastLines("a\n \n\u001b[31mb\u001b[0m\r\nc\rd\n\n"), "b\nc\nd");
    assert.equal(lastLines("x".repeat(5_000)).length, 400);
    assert.equal(lastLines("\n \n"), "");
});

test("a file that is told of twice belongs to its step once, and both are kept with the answer", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { artifact: file("a.csv") }, { ...step, files: [file("a.csv"), file("b.csv")] }, { artifact: file("b.csv") });
    assert.deepEqual(bench.last("step").files.map(({ name }) => name), ["a.csv", "b.csv"]);
    bench.frames(reader, { artifact: file("late.csv") }, { ...done, stoppedBy: "round limit" });
    bench.handle({ type: "ended", reader });
    const { message, files, outcome } = bench.last("finish");
    assert.deepEqual(files.map(({ name }) => name), ["late.csv"]);
    assert.deepEqual(message.steps, [{ tool: "shell", detail: "ls", ok: true, seconds: 2.2, receipt: "r1", at: 0 }]);
    assert.equal(message.artifacts.length, 3);
    assert.equal(outcome.stoppedBy, "round limit");
});

test("a question is answered once with its own signature, and the turn's word settles it", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { approval: question });
    assert.equal(bench.last("ask").ask.until, bench.now + 600_000);
    assert.equal(bench.last("strip").phase, "asking");
    bench.handle({ type: "answer", id: "q1", outcome: "allowed" });
    assert.deepEqual(bench.last("answer"), { do: "answer", id: "q1", signature: "sig", outcome: "allowed" });
    assert.deepEqual(bench.handle({ type: "answer", id: "q1", outcome: "allowed" }), []);
    assert.deepEqual(bench.handle({ type: "answer", id: "q1", outcome: "refused" }), []);
    bench.handle({ type: "answered", id: "q1", outcome: "allowed" });
    bench.frames(reader, { approval_answered: "q1", call: "k1", outcome: "allowed" });
    assert.equal(bench.last("askState").state, "allowed");
    assert.equal(bench.count("checkAsks"), 0);
});

test("what may not be remembered is not allowed for the chat, and a question unknown here is not answered", () => {
    const bench = new Bench();
    bench.frames(bench.begin(), { approval: question });
    assert.deepEqual(bench.handle({ type: "answer", id: "q1", outcome: "allowed_for_chat" }), []);
    assert.deepEqual(bench.handle({ type: "answer", id: "q2", outcome: "allowed" }), []);
});

test("an answer the host no longer waits for says so, until the turn tells what it was", () => {
    const bench = new Bench();
    const reader = bench.begin();
    bench.frames(reader, { approval: question });
    bench.handle({ type: "answer", id: "q1", outcome: "allowed" });
    bench.handle({ type: "answerRefused", id: "q1", status: 404 });
    assert.equal(bench.last("askState").state, "elsewhere");
    bench.frames(reader, { approval_answered: "q1", call: "k1", outcome: "refused" });
    assert.equal(bench.last("askState").state, "refused");
});

test("an answer that did not arrive may be given again", () => {
    const bench = new Bench();
    bench.frames(bench.begin(), { approval: question });
    bench.handle({ type: "answer", id: "q1", outcome: "refused" });
    bench.handle({ type: "answerRefused", id: "q1", status: 0 });
    assert.equal(bench.last("askState").state, "waiting");
    bench.handle({ type: "answer", id: "q1", outcome: "refused" });
    assert.equal(bench.count("answer"), 2);
});

test("a replay asks again only what is open, and the host says what still is", () => {
    const bench = new Bench({ activeTurn: running("t9") });
    const { reader } = bench.last("attach");
    bench.handle({ type: "headers", reader, turn: "t9" });
    bench.frames(reader, { approval: question }, { approval: { ...question, id: "q2" } }, { approval: { ...question, id: "q3" } });
    assert.equal(bench.last("ask").ask.state, "waiting");
    assert.equal(bench.count("checkAsks"), 3);
    bench.handle({ type: "asksWaiting", asks: [{ id: "q2", expires: 40 }], checked: ["q1", "q2"] });
    const states = bench.log.filter((action) => action.do === "askState");
    assert.deepEqual(states.map(({ id, state }) => [id, state]), [["q1", "elsewhere"], ["q2", "waiting"]]);
    assert.equal(states[1].until, bench.now + 40_000);
});

test("a question answered here stays answered when the line is cut and the turn is read again", () => {
    const bench = new Bench();
    const first = bench.begin();
    bench.frames(first, { approval: question });
    bench.handle({ type: "answer", id: "q1", outcome: "allowed" });
    bench.handle({ type: "failed", reader: first, transport: true });
    bench.handle({ type: "retry" });
    bench.found(running("t1"));
    const second = bench.last("attach").reader;
    bench.handle({ type: "headers", reader: second, turn: "t1" });
    bench.frames(second, { approval: question });
    assert.equal(bench.last("ask").ask.state, "sending");
    assert.deepEqual(bench.handle({ type: "answer", id: "q1", outcome: "allowed" }), []);
    bench.frames(second, { approval_answered: "q1", call: "k1", outcome: "allowed" });
    assert.equal(bench.last("askState").state, "allowed");
});

test("a question nobody answered closes with its turn", () => {
    const bench = new Bench();
    bench.frames(bench.begin(), { approval: question });
    bench.handle({ type: "stop" });
    assert.equal(bench.last("askState").state, "withdrawn");
    assert.deepEqual(bench.handle({ type: "answer", id: "q1", outcome: "allowed" }), []);
});

test("every order of a few events ends idle or answering, never throws, and never loses a draft", () => {
    let seed = 7;
    const random = (n) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % n;
    for (let round = 0; round < 3_000; round += 1) {
        const bench = new Bench();
        let draft = 0;
        const resolved = () => ["accepted", "giveBack", "attach", "finish"].reduce((sum, kind) => sum + bench.count(kind), 0);
        for (let step = 0; step < 14; step += 1) {
            bench.later(random(9_000));
            const reader = Math.max(bench.last("chat")?.reader ?? 0, bench.last("attach")?.reader ?? 0);
            const lookup = bench.last("lookUp")?.lookup;
            const choice = [
                () => { const before = bench.count("chat"); bench.handle({ type: "send", draft: { text: "d" }, body: {} }); draft += bench.count("chat") - before; },
                () => bench.handle({ type: "headers", reader, turn: `t${random(2)}` }),
                () => bench.handle({ type: "frame", reader, frame: { token: "x" } }),
                () => bench.handle({ type: "ended", reader }),
                () => bench.handle({ type: "failed", reader, transport: true }),
                () => bench.handle({ type: "lookedUp", lookup, turn: [null, running("t1"), ended("t0")][random(3)] }),
                () => bench.handle({ type: "lookupFailed", lookup }),
                () => bench.handle({ type: "retry" }),
                () => bench.handle({ type: "watch" }),
                () => bench.handle({ type: ["visible", "hidden"][random(2)] }),
                () => bench.handle({ type: "stop" }),
            ][random(11)];
            choice();
        }
        if (!bench.transport.answering) assert.ok(resolved() >= Math.min(1, draft), `round ${round} lost a draft`);
    }
});
