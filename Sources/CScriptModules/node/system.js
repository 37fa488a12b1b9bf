// os, crypto (what needs no library), perf_hooks and the small ones
(function (internal) {
'use strict';
const { host } = internal;
internal.provide('os', () => ({
    EOL: '\n', devNull: '/dev/null', platform: () => host.platform, type: () => (host.platform === 'darwin' ? 'Darwin' : 'Linux'), arch: () => host.architecture,
    release: () => '1.0.0', version: () => '#1', machine: () => (host.architecture === 'arm64' ? 'aarch64' : 'x86_64'), hostname: () => 'alcove', homedir: () => internal.process.env.HOME || '/workspace',
    tmpdir() { const path = '/workspace/.tmp'; try { host.files('mkdir', path, true); } catch {} return path; },
    endianness: () => 'LE', uptime: () => host.now() / 1000, loadavg: () => [0, 0, 0], totalmem: () => host.memory().total, freemem: () => host.memory().free,
    cpus: () => [{ model: 'one core', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }], availableParallelism: () => 1, networkInterfaces: () => ({}),
    userInfo: () => ({ uid: 1000, gid: 1000, username: 'alcove', homedir: '/workspace', shell: '/bin/sh' }), getPriority: () => 0, setPriority() {},
    constants: { signals: { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }, errno: { EACCES: 13, ENOENT: 2, EEXIST: 17 } },
}));
internal.provide('constants', () => internal.require('fs').constants);
internal.provide('perf_hooks', () => {
    const origin = Date.now() - host.now(), start = host.now(), marks = new Map();
    const performance = {
        timeOrigin: origin + start, now: () => host.now() - start,
        mark(name) { const entry = { name, entryType: 'mark', startTime: performance.now(), duration: 0 }; marks.set(name, entry); return entry; },
        measure(name, from, to) { const begin = marks.has(from) ? marks.get(from).startTime : 0, end = marks.has(to) ? marks.get(to).startTime : performance.now(); return { name, entryType: 'measure', startTime: begin, duration: end - begin }; },
        clearMarks() { marks.clear(); }, clearMeasures() {}, getEntries: () => [...marks.values()], getEntriesByName: (name) => [marks.get(name)].filter(Boolean), getEntriesByType: () => [...marks.values()],
        timerify: (body) => body, toJSON: () => ({ timeOrigin: performance.timeOrigin }),
    };
    return { performance, PerformanceObserver: class { observe() {} disconnect() {} }, monitorEventLoopDelay: () => ({ enable() {}, disable() {}, mean: 0, max: 0 }) };
});
internal.provide('async_hooks', () => ({
    AsyncLocalStorage: class { run(store, body, ...given) { const before = this.store; this.store = store; try { return body(...given); } finally { this.store = before; } } getStore() { return this.store; } exit(body) { return this.run(undefined, body); } },
    AsyncResource: class { runInAsyncScope(body, self, ...given) { return body.apply(self, given); } },
}));
internal.provide('diagnostics_channel', () => ({ channel: (name) => ({ name, hasSubscribers: false, publish() {}, subscribe() {}, unsubscribe() {} }) }));
internal.provide('test', () => {
    // node:test in its simplest form: each test says how it went, and failures decide the exit status.
    let count = 0, queue = Promise.resolve();
    const test = (name, options, body = options) => {
        if (typeof name === 'function') [name, body] = [name.name || '<anonymous>', name];
        const context = { test, name, diagnostic() {}, skip() {} };
        queue = queue.then(async () => {
            const number = ++count;
            try { await body(context); console.log(`ok ${number} - ${name}`); } catch (error) { console.log(`not ok ${number} - ${name}\n  ${String(error && error.message).replaceAll('\n', '\n  ')}`); internal.process.exitCode = 1; }
        });
        return queue;
    };
    const describe = (name, options, body = options) => { body(); };
    return Object.assign(test, { test, it: test, describe, suite: describe, before: (body) => { queue = queue.then(body); }, after: (body) => { internal.process.on('beforeExit', body); }, beforeEach() {}, afterEach() {}, skip() {}, todo() {} });
});
internal.provide('crypto', () => {
    const { Buffer } = internal.require('buffer');
    const randomBytes = (size, done) => { const bytes = Buffer.from(host.random(size).buffer); if (done) { setImmediate(() => done(null, bytes)); return undefined; } return bytes; };
    const randomUUID = () => {
        const bytes = host.random(16);
        bytes[6] = (bytes[6] & 15) | 64;
        bytes[8] = (bytes[8] & 63) | 128;
        return Buffer.from(bytes).toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    };
    const randomInt = (low, high, done) => {
        if (high === undefined || typeof high === 'function') [low, high, done] = [0, low, high];
        const range = high - low, limit = 2 ** 48 - (2 ** 48 % range);
        let value;
        do { value = randomBytes(6).readUIntBE(0, 6); } while (value >= limit);
        return done ? setImmediate(() => done(null, low + (value % range))) : low + (value % range);
    };
    const sums = ['sha256'];
    const digestOf = (name, parts) => {
        if (!sums.includes(String(name).toLowerCase().replace('-', ''))) throw internal.coded(Error, 'ERR_OSSL_EVP_UNSUPPORTED', `The hash "${name}" is not available here; sha256 is. The shell's commands md5sum, sha1sum, sha384sum and sha512sum calculate others.`);
        return Buffer.from(host.sha256(Buffer.concat(parts)).buffer);
    };
    class Hash {
        constructor(name) { this.name = name; this.parts = []; digestOf(name, []); }
        update(data, encoding) { this.parts.push(typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.from(data)); return this; }
        digest(encoding) { const out = digestOf(this.name, this.parts); return encoding ? out.toString(encoding) : out; }
        copy() { const other = new Hash(this.name); other.parts = [...this.parts]; return other; }
    }
    class Hmac extends Hash {
        constructor(name, key) {
            super(name);
            let block = typeof key === 'string' ? Buffer.from(key) : Buffer.from(key);
            if (block.length > 64) block = digestOf(name, [block]);
            this.key = Buffer.concat([block, Buffer.alloc(64 - block.length)]);
        }
        digest(encoding) {
            const inner = digestOf(this.name, [this.key.map((byte) => byte ^ 0x36), ...this.parts]), out = digestOf(this.name, [this.key.map((byte) => byte ^ 0x5C), inner]);
            return encoding ? out.toString(encoding) : out;
        }
    }
    const getRandomValues = (array) => { new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(host.random(array.byteLength)); return array; };
    const crypto = {
        randomBytes, randomUUID, randomInt, getRandomValues, randomFillSync: getRandomValues, createHash: (name) => new Hash(name), createHmac: (name, key) => new Hmac(name, key), getHashes: () => sums,
        hash: (name, data, encoding = 'hex') => new Hash(name).update(data).digest(encoding),
        timingSafeEqual(a, b) { if (a.length !== b.length) throw internal.coded(RangeError, 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length'); let sum = 0; for (let index = 0; index < a.length; index++) sum |= a[index] ^ b[index]; return sum === 0; },
        webcrypto: { getRandomValues, randomUUID, subtle: { async digest(name, data) { const bytes = digestOf(typeof name === 'string' ? name : name.name, [Buffer.from(new Uint8Array(data.buffer || data))]); return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length); } } },
    };
    for (const name of ['createCipheriv', 'createDecipheriv', 'createSign', 'createVerify', 'generateKeyPair', 'generateKeyPairSync', 'pbkdf2', 'pbkdf2Sync', 'scrypt', 'scryptSync', 'createECDH', 'createDiffieHellman']) crypto[name] = () => { throw internal.absent(`crypto.${name}`, 'this node has hashes and random numbers only'); };
    return crypto;
});
})
