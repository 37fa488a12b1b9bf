import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFrame, begun, fromListing, sorted, withMemory } from "../../Web/download-state.js";

const frame = { file: "a", fileIndex: 1, fileCount: 2, phase: "downloading", received: 25, total: 100, fraction: 0.25, bytesPerSecond: 5, etaSeconds: 15 };

test("progress is taken as it is told", () => {
    assert.deepEqual(afterFrame(begun(), frame), {
        state: "running", verifying: false, waiting: null, received: 25, total: 100, fraction: 0.25, speed: 5, left: 15, index: 1, count: 2, error: null,
    });
});

test("what is missing or makes no sense changes nothing and shows nothing odd", () => {
    const job = afterFrame(afterFrame(begun(), frame), { fraction: null, received: -1, etaSeconds: "soon", bytesPerSecond: NaN });
    assert.deepEqual([job.fraction, job.received, job.left, job.speed], [0.25, 25, null, 0]);
    assert.equal(afterFrame(begun(), { received: 300, total: 100 }).fraction, 1);
    assert.equal(afterFrame(begun(), { phase: "verifying" }).verifying, true);
});

test("why nothing comes is told as long as it is so", () => {
    const job = afterFrame(afterFrame(begun(), frame), { phase: "waiting", reason: "hub.example: this device is offline" });
    assert.equal(job.waiting, "hub.example: this device is offline");
    assert.equal(afterFrame(job, frame).waiting, null);
    assert.equal(afterFrame(job, { phase: "waiting" }).waiting, null);
});

test("a job ends once, in one of three ways", () => {
    const job = afterFrame(begun(), frame);
    assert.equal(afterFrame(job, { done: true, id: "a" }).state, "done");
    assert.equal(afterFrame(job, { cancelled: true, id: "a" }).state, "cancelled");
    assert.deepEqual((({ state, error }) => [state, error])(afterFrame(job, { error: "No room.", id: "a" })), ["failed", "No room."]);
});

test("a listing tells the same", () => {
    assert.equal(fromListing({ running: true, state: "Running", progress: frame }).fraction, 0.25);
    assert.equal(fromListing({ running: true, state: "Running", progress: null }).fraction, null);
    const ended = (state) => fromListing({ running: false, state, error: "why", progress: null }).state;
    assert.deepEqual(["Completed", "Cancelled", "Failed", "Unheard of"].map(ended), ["done", "cancelled", "failed", "cancelled"]);
});

test("what is here comes first, then at most three that are recommended", () => {
    const entry = (id, more = {}) => ({ id, state: "NotInstalled", fits: true, minDeviceMemoryGB: 4, totalBytes: 1, ...more });
    const { first, rest } = sorted([
        entry("big", { minDeviceMemoryGB: 16 }), entry("no", { fits: false }), entry("r4", { recommended: true, totalBytes: 9 }),
        entry("r1", { recommended: true }), entry("r2", { recommended: true, totalBytes: 2 }), entry("r3", { recommended: true, totalBytes: 3 }),
        entry("part", { state: "Partial", totalBytes: 50 }), entry("here", { installed: true, minDeviceMemoryGB: 8 }),
    ]);
    assert.deepEqual(first.map(({ id }) => id), ["part", "here", "r1", "r2", "r3"]);
    assert.deepEqual(rest.map(({ id }) => id), ["r4", "big", "no"]);
});

test("what an entry says of memory is read in either place", () => {
    const memory = ({ fits, tight, needsBytes, freeBytes, deviceBytes }) => [fits, tight, needsBytes, freeBytes, deviceBytes];
    assert.deepEqual(memory(withMemory({ fit: { verdict: "tooBig", needBytes: 9, freeBytes: 6, deviceBytes: 8 } })), [false, false, 9, 6, 8]);
    assert.deepEqual(memory(withMemory({ fit: { verdict: "tight", needBytes: 7, freeBytes: 6, deviceBytes: 8 } })), [true, true, 7, 6, 8]);
    assert.deepEqual(memory(withMemory({ fits: false, needsBytes: 9, freeBytes: 6 })), [false, false, 9, 6, null]);
    assert.deepEqual(memory(withMemory({})), [true, false, null, null, null]);
});
