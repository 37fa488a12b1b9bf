// What browsers have and Node has too.
(function (internal) {
'use strict';
const { host } = internal;
const bytesOf = (data) => (data === undefined ? new Uint8Array(0) : ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data));
class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return host.encode(String(text)); }
    encodeInto(text, target) { const bytes = host.encode(text), count = Math.min(bytes.length, target.length); target.set(bytes.subarray(0, count)); return { read: host.decode(bytes.subarray(0, count)).length, written: count }; }
}
class TextDecoder {
    #decoder; #isFatal; #keepsMark;
    constructor(encoding = 'utf-8', options = {}) {
        const name = String(encoding).toLowerCase();
        this.encoding = { 'utf8': 'utf-8', 'utf-8': 'utf-8', 'latin1': 'windows-1252', 'ascii': 'windows-1252', 'iso-8859-1': 'windows-1252', 'utf-16le': 'utf-16le', 'utf-16': 'utf-16le' }[name];
        if (!this.encoding) throw internal.coded(RangeError, 'ERR_ENCODING_NOT_SUPPORTED', `The "${encoding}" encoding is not supported`);
        this.#isFatal = this.fatal = !!options.fatal;
        this.#keepsMark = this.ignoreBOM = !!options.ignoreBOM;
    }
    decode(data, options = {}) {
        const { Buffer } = internal.require('buffer'), { StringDecoder } = internal.require('string_decoder');
        const name = { 'utf-8': 'utf8', 'windows-1252': 'latin1', 'utf-16le': 'utf16le' }[this.encoding];
        const decoder = this.#decoder || new StringDecoder(name);
        let text = decoder.write(Buffer.from(bytesOf(data)));
        this.#decoder = options.stream ? decoder : undefined;
        if (!options.stream) text += decoder.end();
        if (this.#isFatal && text.includes('\uFFFD')) throw internal.coded(TypeError, 'ERR_ENCODING_INVALID_ENCODED_DATA', `The encoded data was not valid for encoding ${this.encoding}`);
        return !this.#keepsMark && text.startsWith('\uFEFF') ? text.slice(1) : text;
    }
}
class DOMException extends Error {
    #name;
    constructor(message = '', name = 'Error') { super(message); this.#name = typeof name === 'object' ? name.name || 'Error' : name; internal.define(this, 'stack', String(this.stack).replace(/^Error/, this.#name)); }
    get name() { return #name in this ? this.#name : 'Error'; }
    get code() { return { AbortError: 20, DataCloneError: 25, TimeoutError: 23 }[this.#name] || 0; }
}
class Event {
    constructor(type, options = {}) { Object.assign(this, { type: String(type), cancelable: !!options.cancelable, bubbles: !!options.bubbles, defaultPrevented: false, target: null, currentTarget: null, timeStamp: host.now() }); }
    preventDefault() { if (this.cancelable) this.defaultPrevented = true; }
    stopPropagation() {}
    stopImmediatePropagation() { internal.define(this, 'isStopped', true); }
}
class CustomEvent extends Event { constructor(type, options = {}) { super(type, options); this.detail = options.detail === undefined ? null : options.detail; } }
class EventTarget {
    #lists = new Map();
    addEventListener(type, listener, options = {}) {
        const list = this.#lists.get(type) || [];
        if (!listener || list.some((one) => one.listener === listener)) return;
        list.push({ listener, once: !!(options && options.once) });
        this.#lists.set(type, list);
    }
    removeEventListener(type, listener) { this.#lists.set(type, (this.#lists.get(type) || []).filter((one) => one.listener !== listener)); }
    dispatchEvent(event) {
        event.target = event.currentTarget = this;
        const own = this[`on${event.type}`];
        if (typeof own === 'function') internal.guard(() => own.call(this, event));
        for (const one of [...(this.#lists.get(event.type) || [])]) {
            if (event.isStopped) break;
            if (one.once) this.removeEventListener(event.type, one.listener);
            internal.guard(() => (typeof one.listener === 'function' ? one.listener.call(this, event) : one.listener.handleEvent(event)));
        }
        return !event.defaultPrevented;
    }
}
class AbortSignal extends EventTarget {
    aborted = false;
    reason = undefined;
    onabort = null;
    throwIfAborted() { if (this.aborted) throw this.reason; }
    static abort(reason) { const signal = new AbortSignal(); end(signal, reason); return signal; }
    static timeout(delay) { const signal = new AbortSignal(); setTimeout(() => end(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')), delay).unref(); return signal; }
    static any(signals) { const signal = new AbortSignal(); for (const one of signals) if (one.aborted) end(signal, one.reason); else one.addEventListener('abort', () => end(signal, one.reason)); return signal; }
}
function end(signal, reason) {
    if (signal.aborted) return;
    signal.aborted = true;
    signal.reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
    signal.dispatchEvent(new Event('abort'));
}
class AbortController { signal = new AbortSignal(); abort(reason) { end(this.signal, reason); } }

function structuredClone(value, options, seen = new Map()) {
    if (typeof value === 'function' || typeof value === 'symbol') throw new DOMException(`${typeof value === 'symbol' ? value.toString() : value} could not be cloned.`, 'DataCloneError');
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (made) => { seen.set(value, made); return made; };
    const copy = (one) => structuredClone(one, undefined, seen);
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) { const Maker = value instanceof DataView ? DataView : globalThis[Object.prototype.toString.call(value).slice(8, -1)]; return keep(new Maker(value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength))); }
    if (value instanceof Map) { const made = keep(new Map()); for (const [key, one] of value) made.set(copy(key), copy(one)); return made; }
    if (value instanceof Set) { const made = keep(new Set()); for (const one of value) made.add(copy(one)); return made; }
    if (value instanceof Error) { const Maker = { TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError }[value.name] || Error; const made = keep(new Maker(value.message)); internal.define(made, 'stack', value.stack); if ('cause' in value) internal.define(made, 'cause', copy(value.cause)); return made; }
    if (value instanceof Number || value instanceof String || value instanceof Boolean) return keep(Object(value.valueOf()));
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) throw new DOMException(`#<${value.constructor.name}> could not be cloned.`, 'DataCloneError');
    const made = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) made[key] = copy(value[key]);
    return made;
}
class Headers {
    #list = new Map();
    constructor(init) { if (init) for (const [key, value] of typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init)) this.append(key, value); }
    append(key, value) { const name = String(key).toLowerCase(); this.#list.set(name, this.#list.has(name) ? `${this.#list.get(name)}, ${value}` : String(value)); }
    get(key) { const found = this.#list.get(String(key).toLowerCase()); return found === undefined ? null : found; }
    set(key, value) { this.#list.set(String(key).toLowerCase(), String(value)); }
    has(key) { return this.#list.has(String(key).toLowerCase()); }
    delete(key) { this.#list.delete(String(key).toLowerCase()); }
    forEach(body) { for (const [key, value] of this) body(value, key, this); }
    *[Symbol.iterator]() { yield* [...this.#list].sort(([a], [b]) => (a < b ? -1 : 1)); }
    entries() { return this[Symbol.iterator](); }
}
async function fetch(target) {
    const text = typeof target === 'string' ? target : target.url || target.href || String(target);
    const url = new (internal.require('url').URL)(text);
    throw Object.assign(new TypeError('fetch failed'), { cause: new Error(host.refusal(url.hostname)) });
}
class Blob {
    #bytes;
    constructor(parts = [], options = {}) { const { Buffer } = internal.require('buffer'); this.#bytes = Buffer.concat(parts.map((one) => (typeof one === 'string' ? Buffer.from(one) : one instanceof Blob ? one.#bytes : Buffer.from(bytesOf(one))))); this.type = String(options.type || '').toLowerCase(); }
    get size() { return this.#bytes.length; }
    async text() { return this.#bytes.toString(); }
    async arrayBuffer() { return this.#bytes.buffer.slice(this.#bytes.byteOffset, this.#bytes.byteOffset + this.#bytes.length); }
    slice(start, end, type) { return new Blob([this.#bytes.subarray(start, end)], { type }); }
}
const { atob, btoa } = internal.require('buffer');
const socket = (name) => class { constructor() { throw internal.absent(name, 'there are no sockets here'); } };
internal.web = { TextEncoder, TextDecoder, DOMException, Event, CustomEvent, EventTarget, AbortController, AbortSignal, structuredClone: function (value, options) { return structuredClone(value, options); }, fetch, Headers, Blob, atob, btoa, WebSocket: socket('WebSocket'), XMLHttpRequest: socket('XMLHttpRequest') };
Object.defineProperty(internal.web.structuredClone, 'name', { value: 'structuredClone' });
})
