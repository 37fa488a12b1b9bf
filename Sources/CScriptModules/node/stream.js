// stream and readline: bytes that come and go, without the finer points of back pressure.
(function (internal) {
'use strict';
const EventEmitter = internal.require('events');
const { Buffer } = internal.require('buffer');
class Stream extends EventEmitter {
    pipe(target, options) {
        this.on('data', (chunk) => { if (target.write(chunk) === false && this.pause) { this.pause(); target.once('drain', () => this.resume()); } });
        if (!options || options.end !== false) this.on('end', () => { if (target !== internal.process.stdout && target !== internal.process.stderr) target.end(); });
        target.emit('pipe', this);
        return target;
    }
}
class Readable extends Stream {
    constructor(options = {}) {
        super();
        Object.assign(this, { readable: true, destroyed: false, readableEnded: false, hasEnded: false, isFlowing: null, waiting: [], isObject: !!(options.objectMode || options.readableObjectMode), size: options.highWaterMark || 16384, isAsking: false });
        for (const key of ['waiting', 'isFlowing', 'isAsking', 'isObject', 'size', 'hasEnded']) Object.defineProperty(this, key, { enumerable: false, writable: true });
        if (typeof options.read === 'function') this._read = options.read;
        if (options.encoding) this.setEncoding(options.encoding);
    }
    _read() {}
    get readableLength() { return this.waiting.reduce((sum, one) => sum + (this.isObject ? 1 : one.length), 0); }
    get readableFlowing() { return this.isFlowing; }
    get readableObjectMode() { return this.isObject; }
    push(chunk, encoding) {
        this.isAsking = false;
        if (chunk === null) this.hasEnded = true;
        else {
            if (!this.isObject) {
                if (typeof chunk === 'string' && !this.decoder) chunk = Buffer.from(chunk, encoding);
                if (this.decoder && typeof chunk !== 'string') chunk = this.decoder.write(chunk);
            }
            if (this.isObject || chunk.length > 0) this.waiting.push(chunk);
        }
        this.kick();
        return this.waiting.length < 16;
    }
    unshift(chunk) { this.waiting.unshift(chunk); }
    kick() {
        if (this.isKicked) return;
        Object.defineProperty(this, 'isKicked', { value: true, configurable: true, writable: true, enumerable: false });
        internal.nextTick(() => { this.isKicked = false; this.flow(); });
    }
    flow() {
        if (this.destroyed) return;
        if (this.isFlowing) {
            while (this.waiting.length && this.isFlowing) this.emit('data', this.waiting.shift());
        } else if (this.listenerCount('readable') > 0 && (this.waiting.length || (this.hasEnded && !this.readableEnded))) this.emit('readable');
        if (this.waiting.length) return;
        if (this.hasEnded) {
            if (this.readableEnded || (!this.isFlowing && this.listenerCount('readable') === 0)) return;
            this.readableEnded = true;
            this.readable = false;
            if (this.decoder) { const rest = this.decoder.end(); if (rest) this.emit('data', rest); }
            this.emit('end');
            if (!this.path) this.emit('close');
        } else if ((this.isFlowing || this.listenerCount('readable') > 0) && !this.isAsking) {
            this.isAsking = true;
            this._read(this.size);
        }
    }
    read(size) {
        if (this.waiting.length === 0) { if (!this.hasEnded && !this.isAsking) { this.isAsking = true; this._read(this.size); } if (this.waiting.length === 0) { this.kick(); return null; } }
        if (this.isObject) { const one = this.waiting.shift(); this.kick(); return one; }
        let all = this.decoder ? this.waiting.join('') : Buffer.concat(this.waiting);
        this.waiting = [];
        if (size !== undefined && size < all.length) { this.waiting = [all.slice(size)]; all = all.slice(0, size); }
        this.kick();
        return all;
    }
    on(type, listener) {
        super.on(type, listener);
        if (type === 'data' && this.isFlowing !== false) this.resume();
        if (type === 'readable') this.kick();
        return this;
    }
    addListener(type, listener) { return this.on(type, listener); }
    resume() { this.isFlowing = true; this.kick(); return this; }
    pause() { this.isFlowing = false; return this; }
    isPaused() { return this.isFlowing === false; }
    setEncoding(name) { const { StringDecoder } = internal.require('string_decoder'); Object.defineProperty(this, 'decoder', { value: new StringDecoder(name), configurable: true, enumerable: false }); this.waiting = this.waiting.map((one) => (typeof one === 'string' ? one : this.decoder.write(one))); return this; }
    unpipe() { return this; }
    destroy(error) {
        if (this.destroyed) return this;
        this.destroyed = true;
        internal.nextTick(() => { if (error) this.emit('error', error); this.emit('close'); });
        return this;
    }
    [Symbol.asyncIterator]() {
        const waiting = [];
        let failure, isDone = false;
        const values = [];
        const turn = () => { while (waiting.length && (values.length || failure || isDone)) { const next = waiting.shift(); if (values.length) next.resolve({ value: values.shift(), done: false }); else if (failure) next.reject(failure); else next.resolve({ value: undefined, done: true }); } };
        this.on('data', (chunk) => { values.push(chunk); this.pause(); turn(); });
        this.on('end', () => { isDone = true; turn(); });
        this.on('error', (error) => { failure = error; turn(); });
        return {
            next: () => new Promise((resolve, reject) => { waiting.push({ resolve, reject }); turn(); if (waiting.length) this.resume(); }),
            return: () => { this.destroy(); return Promise.resolve({ value: undefined, done: true }); },
            [Symbol.asyncIterator]() { return this; },
        };
    }
    async toArray() { const out = []; for await (const one of this) out.push(one); return out; }
    map(body) { const self = this; return Readable.from((async function* () { for await (const one of self) yield await body(one); })()); }
    filter(body) { const self = this; return Readable.from((async function* () { for await (const one of self) if (await body(one)) yield one; })()); }
    static from(source, options) {
        const iterator = typeof source === 'string' || source instanceof Uint8Array ? [source][Symbol.iterator]() : source[Symbol.asyncIterator] ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
        const stream = new Readable({ objectMode: true, ...options, read() { Promise.resolve(iterator.next()).then(async ({ value, done }) => stream.push(done ? null : await value), (error) => stream.destroy(error)); } });
        return stream;
    }
}
class Writable extends Stream {
    constructor(options = {}) { super(); writable(this, options); }
    write(chunk, encoding, done) { return write(this, chunk, encoding, done); }
    end(chunk, encoding, done) { return end(this, chunk, encoding, done); }
    destroy(error) { return Readable.prototype.destroy.call(this, error); }
    _write(chunk, encoding, done) { done(); }
    cork() {} uncork() {} setDefaultEncoding() { return this; }
}
function writable(self, options) {
    Object.assign(self, { writable: true, destroyed: false, writableEnded: false, writableFinished: false });
    Object.defineProperty(self, 'queue', { value: [], writable: true, enumerable: false });
    Object.defineProperty(self, 'isBusy', { value: false, writable: true, enumerable: false });
    Object.defineProperty(self, 'isText', { value: options.decodeStrings === false || !!options.objectMode || !!options.writableObjectMode, enumerable: false });
    for (const key of ['write', 'writev', 'final']) if (typeof options[key] === 'function') self[`_${key}`] = options[key];
}
function write(self, chunk, encoding, done) {
    if (typeof encoding === 'function') [encoding, done] = [undefined, encoding];
    if (self.writableEnded) { const error = internal.coded(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end'); internal.nextTick(() => self.emit('error', error)); if (done) done(error); return false; }
    if (!self.isText && typeof chunk === 'string') chunk = Buffer.from(chunk, encoding);
    self.queue.push([chunk, encoding || 'utf8', done]);
    drainQueue(self);
    return self.queue.length < 16;
}
function drainQueue(self) {
    if (self.isBusy) return;
    const next = self.queue.shift();
    if (!next) {
        if (self.writableEnded && !self.writableFinished) {
            self.writableFinished = true;
            const finish = (error) => internal.nextTick(() => { if (error) self.emit('error', error); else { self.emit('finish'); if (!self.path) self.emit('close'); } });
            if (self._final) self._final(finish); else finish();
        }
        return;
    }
    self.isBusy = true;
    let isNow = true;
    self._write(next[0], next[1], (error) => {
        self.isBusy = false;
        if (error) { internal.nextTick(() => self.emit('error', error)); if (next[2]) next[2](error); return; }
        if (next[2]) internal.nextTick(next[2]);
        if (self.queue.length === 0) internal.nextTick(() => self.emit('drain'));
        if (isNow) internal.nextTick(() => drainQueue(self)); else drainQueue(self);
        if (isNow && self.queue.length) drainQueue(self);
    });
    isNow = false;
}
function end(self, chunk, encoding, done) {
    if (typeof chunk === 'function') [chunk, done] = [undefined, chunk];
    if (typeof encoding === 'function') [encoding, done] = [undefined, encoding];
    if (chunk !== undefined && chunk !== null) write(self, chunk, encoding);
    if (done) self.once('finish', done);
    self.writableEnded = true;
    self.writable = false;
    drainQueue(self);
    return self;
}
class Duplex extends Readable {
    constructor(options = {}) { super(options); writable(this, options); }
    write(chunk, encoding, done) { return write(this, chunk, encoding, done); }
    end(chunk, encoding, done) { return end(this, chunk, encoding, done); }
    _write(chunk, encoding, done) { done(); }
}
class Transform extends Duplex {
    constructor(options = {}) { super(options); for (const key of ['transform', 'flush']) if (typeof options[key] === 'function') this[`_${key}`] = options[key]; }
    _transform(chunk, encoding, done) { done(null, chunk); }
    _write(chunk, encoding, done) { this._transform(chunk, encoding, (error, value) => { if (value !== undefined && value !== null) this.push(value); done(error); }); }
    _final(done) { const finish = (error, value) => { if (value !== undefined && value !== null) this.push(value); this.push(null); done(error); }; if (this._flush) this._flush(finish); else finish(); }
}
class PassThrough extends Transform {}
function finished(stream, options, done = options) {
    let isSaid = false;
    const say = (error) => { if (!isSaid) { isSaid = true; done(error); } };
    stream.on('error', say);
    stream.on(stream instanceof Readable && !(stream instanceof Duplex) ? 'end' : 'finish', () => say());
}
function pipeline(...parts) {
    const done = typeof parts[parts.length - 1] === 'function' && parts[parts.length - 1].length <= 2 && !/^async|\*/.test(String(parts[parts.length - 1])) ? parts.pop() : undefined;
    const streams = parts.flat().map((one, index, all) => (typeof one === 'function' ? one : index === 0 && !(one instanceof Stream) ? Readable.from(one) : one));
    let last = typeof streams[0] === 'function' ? Readable.from(streams[0]()) : streams[0], isSaid = false;
    const say = (error) => { if (isSaid) return; isSaid = true; if (error) for (const one of streams) if (one && one.destroy) one.destroy(); if (done) done(error); };
    if (last.on) last.on('error', say);
    for (const one of streams.slice(1)) {
        if (typeof one === 'function') { const out = one(last); last = out && out[Symbol.asyncIterator] ? Readable.from(out) : out; if (last && last.then) last.then(() => say(), say); } else { last.pipe(one, { end: true }); last = one; }
        if (last && last.on) last.on('error', say);
    }
    if (last && last.on) last.on(last instanceof Readable && !(last instanceof Duplex) ? 'end' : 'finish', () => say());
    return last;
}
const promises = { pipeline: (...parts) => new Promise((resolve, reject) => pipeline(...parts, (error) => (error ? reject(error) : resolve()))), finished: (stream) => new Promise((resolve, reject) => finished(stream, (error) => (error ? reject(error) : resolve()))) };
internal.provide('stream', () => Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises }));
internal.provide('stream/promises', () => promises);

class Interface extends EventEmitter {
    constructor(input, output) {
        if (input && !(input instanceof Stream) && input.input) ({ input, output } = input);
        super();
        Object.assign(this, { input, output, line: '', terminal: false, closed: false, isPrompt: '> ' });
        let rest = '';
        const { StringDecoder } = internal.require('string_decoder'), decoder = new StringDecoder('utf8');
        const take = (text) => {
            rest += text;
            const lines = rest.split(/\r\n|\n|\r(?!$)/);
            rest = lines.pop();
            for (const line of lines) this.say(line);
        };
        if (input) {
            input.on('data', (chunk) => take(typeof chunk === 'string' ? chunk : decoder.write(chunk)));
            input.on('end', () => { take(decoder.end()); if (rest !== '') this.say(rest); rest = ''; this.close(); });
        }
    }
    say(line) { if (this.closed) return; const asked = this.asked; this.asked = undefined; if (asked) asked(line); else this.emit('line', line); }
    question(text, options, done = options) { if (this.output) this.output.write(text); else internal.host.write(1, text); this.asked = done; }
    setPrompt(text) { this.isPrompt = text; }
    getPrompt() { return this.isPrompt; }
    prompt() { if (this.output) this.output.write(this.isPrompt); }
    write() {}
    pause() { this.input.pause(); return this; }
    resume() { this.input.resume(); return this; }
    close() { if (this.closed) return; this.closed = true; if (this.input && this.input.pause) this.input.pause(); this.emit('close'); }
    [Symbol.asyncIterator]() {
        const lines = [], waiting = [];
        const turn = () => { while (waiting.length && (lines.length || this.closed)) waiting.shift()(lines.length ? { value: lines.shift(), done: false } : { value: undefined, done: true }); };
        this.on('line', (line) => { lines.push(line); turn(); });
        this.on('close', turn);
        return { next: () => new Promise((resolve) => { waiting.push(resolve); turn(); }), return: () => { this.close(); return Promise.resolve({ value: undefined, done: true }); }, [Symbol.asyncIterator]() { return this; } };
    }
}
const readline = { Interface, createInterface: (...given) => new Interface(...given), clearLine: () => true, cursorTo: () => true, moveCursor: () => true, clearScreenDown: () => true, emitKeypressEvents() {} };
const asking = { Interface, createInterface(...given) { const made = new Interface(...given), question = made.question.bind(made); made.question = (text) => new Promise((resolve) => question(text, resolve)); return made; } };
readline.promises = asking;
internal.provide('readline', () => readline);
internal.provide('readline/promises', () => asking);
})
