// Timers, and the loop that runs what waits.
(function (internal) {
'use strict';
const { host } = internal;
// The loop's own time: it stands still while a program computes, so that timers keep their order.
let loopTime = host.now(), phase = 'timers', isNewRound = true, batch = [];
internal.resetClock = () => { loopTime = host.now(); };
let nextId = 1, heap = [], immediates = [], ticks = [], isTicking = false;
internal.readers = new Set();  // functions that want bytes of the standard input

class Timeout {
    constructor(callback, delay, repeats, given) {
        if (typeof callback !== 'function') throw internal.badArgument('callback', 'of type function', callback);
        delay = Number(delay);
        this.id = nextId++;
        this.callback = callback;
        this.delay = delay >= 1 && delay <= 2147483647 ? Math.trunc(delay) : 1;
        this.repeats = repeats;
        this.given = given;
        this.isHolding = true;
        this.schedule();
    }
    schedule() {
        this.due = loopTime + this.delay;
        this.isLive = true;
        // Timers are few; a sorted list keeps those of equal time in order.
        let place = heap.length;
        while (place > 0 && heap[place - 1].due > this.due) place--;
        heap.splice(place, 0, this);
    }
    ref() { this.isHolding = true; return this; }
    unref() { this.isHolding = false; return this; }
    hasRef() { return this.isHolding; }
    refresh() { drop(this); this.schedule(); return this; }
    close() { drop(this); return this; }
    [Symbol.toPrimitive]() { return this.id; }
    [internal.custom]() { return `Timeout { id: ${this.id}, delay: ${this.delay} }`; }
}
function drop(timer) {
    timer.isLive = false;
    const place = heap.indexOf(timer);
    if (place >= 0) heap.splice(place, 1);
}
const find = (timer) => (timer instanceof Timeout ? timer : heap.find((one) => one.id === Number(timer)));
const api = {
    setTimeout: function setTimeout(callback, delay, ...given) { return new Timeout(callback, delay, false, given); },
    setInterval: function setInterval(callback, delay, ...given) { return new Timeout(callback, delay, true, given); },
    setImmediate: function setImmediate(callback, ...given) {
        if (typeof callback !== 'function') throw internal.badArgument('callback', 'of type function', callback);
        const one = { callback, given, isLive: true, ref() { return one; }, unref() { return one; }, hasRef: () => true };
        immediates.push(one);
        return one;
    },
    clearTimeout: function clearTimeout(timer) { if (timer != null) { const found = find(timer); if (found) drop(found); } },
    clearImmediate: function clearImmediate(one) { if (one) one.isLive = false; },
};
api.clearInterval = function clearInterval(timer) { api.clearTimeout(timer); };
for (const name in api) internal.define(globalThis, name, api[name]);
const after = (delay, value, options) => new Promise((resolve, reject) => {
    const timer = api.setTimeout(() => resolve(value), delay);
    if (options && options.signal) options.signal.addEventListener('abort', () => { drop(timer); reject(options.signal.reason); });
});
const promises = {
    setTimeout: after,
    setImmediate: (value) => new Promise((resolve) => api.setImmediate(resolve, value)),
    setInterval: async function* (delay, value) { while (true) yield await after(delay, value); },
    scheduler: { wait: (delay) => after(delay), yield: () => promises.setImmediate() },
};
api.setTimeout[Symbol.for('nodejs.util.promisify.custom')] = after;
internal.provide('timers', () => ({ ...api, promises }));
internal.provide('timers/promises', () => promises);
internal.define(globalThis, 'queueMicrotask', function queueMicrotask(callback) {
    if (typeof callback !== 'function') throw internal.badArgument('callback', 'of type function', callback);
    Promise.resolve().then(() => { try { callback(); } catch (error) { internal.fault(error); } });
});

internal.nextTick = (callback, ...given) => {
    if (typeof callback !== 'function') throw internal.badArgument('callback', 'of type function', callback);
    ticks.push([callback, given]);
};
function runTicks() {
    if (isTicking) return;
    isTicking = true;
    try {
        for (let index = 0; index < ticks.length; index++) internal.guard(() => ticks[index][0](...ticks[index][1]));
        ticks = [];
    } finally { isTicking = false; }
}
// Runs something that is the program's, then what it put before everything else. Promises follow when this returns.
internal.turn = (body) => { internal.guard(body); runTicks(); };
internal.guard = (body) => { try { return body(); } catch (error) { internal.fault(error); } };

// One step of the loop. Milliseconds until there is something to do, 0 for at once, -1 when nothing is left.
internal.step = () => {
    if (ticks.length) { runTicks(); return 0; }
    if (internal.rejections.length) { internal.sayRejections(); return 0; }
    if (phase === 'timers') {
        if (isNewRound) loopTime = host.now();
        isNewRound = false;
        if (heap.length && heap[0].due <= loopTime) {
            const timer = heap.shift();
            if (!timer.repeats) timer.isLive = false;
            internal.turn(() => timer.callback(...timer.given));
            if (timer.repeats && timer.isLive) timer.schedule();
            return 0;
        }
        phase = 'immediates';
        batch = immediates;
        immediates = [];
    }
    const one = batch.shift();
    if (one) {
        if (one.isLive) internal.turn(() => one.callback(...one.given));
        return 0;
    }
    phase = 'timers';
    isNewRound = true;
    if (immediates.length) return 0;
    const isReading = internal.readers.size > 0;
    if (!isReading && !heap.some((timer) => timer.isHolding)) return -1;
    const wait = heap.length ? Math.max(0, Math.ceil(heap[0].due - host.now())) : 60000;
    if (!isReading) return wait;
    if (host.poll(Math.min(wait, 1000))) {
        const bytes = host.read(65536);
        for (const reader of [...internal.readers]) internal.turn(() => reader(bytes));
    }
    return 0;
};
})
