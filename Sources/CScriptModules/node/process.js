// process, and what happens to errors that nobody caught
(function (internal) {
'use strict';
const { host } = internal;
let start = host.now();
const variables = {};
// The program is known now; the library may have waited for it.
internal.begin = () => {
    start = host.now();
    Object.assign(variables, host.environment());
    internal.resetClock();
};
let emitter;
const emits = () => emitter || (emitter = new (internal.require('events'))());
const process = Object.create(Object.create({}, { constructor: { value: function process() {}, enumerable: false }, [Symbol.toStringTag]: { value: 'process' } }));
for (const name of ['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'emit', 'listeners', 'listenerCount', 'prependListener', 'eventNames', 'setMaxListeners']) {
    internal.define(process, name, (...given) => { const said = emits()[name](...given); return said === emitter ? process : said; });
}
function hrtime(before) {
    const now = host.now();
    let seconds = Math.floor(now / 1000), nanoseconds = Math.floor((now % 1000) * 1e6);
    if (before) {
        seconds -= before[0];
        nanoseconds -= before[1];
        if (nanoseconds < 0) { seconds--; nanoseconds += 1e9; }
    }
    return [seconds, nanoseconds];
}
hrtime.bigint = () => BigInt(Math.floor(host.now() * 1e6));
const environment = new Proxy(variables, {
    set(target, key, value) { target[key] = String(value); return true; },
    defineProperty(target, key, found) { return Reflect.defineProperty(target, key, { ...found, value: String(found.value) }); },
});
const notHere = (name) => () => { throw internal.absent(`process.${name}`, 'nothing outside this program can be reached'); };
const versions = { node: '20.0.0', javascriptcore: '1', alcove: '1' };
Object.assign(process, {
    title: 'node', version: 'v20.0.0', versions, release: { name: 'node' },
    platform: host.platform, arch: host.architecture, pid: 2, ppid: 1, execPath: '/usr/bin/node', execArgv: [],
    argv: ['/usr/bin/node'], argv0: 'node', env: environment, exitCode: undefined, features: {}, config: { variables: {} },
    cwd: () => host.cwd(),
    chdir: (folder) => internal.require('fs').changeFolder(folder),
    exit(code) {
        if (code !== undefined) process.exitCode = code;
        internal.leave();
    },
    reallyExit: (code) => host.exit(Number(code) || 0),
    abort: () => host.exit(134),
    nextTick: internal.nextTick,
    hrtime,
    uptime: () => (host.now() - start) / 1000,
    memoryUsage: Object.assign(() => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0, ...host.memory() }), { rss: () => host.memory().rss }),
    cpuUsage: () => ({ user: Math.floor((host.now() - start) * 1000), system: 0 }),
    resourceUsage: () => ({ userCPUTime: Math.floor((host.now() - start) * 1000), systemCPUTime: 0, maxRSS: 0 }),
    umask: () => 0o22, getuid: () => 1000, geteuid: () => 1000, getgid: () => 1000, getegid: () => 1000, getgroups: () => [1000],
    kill: notHere('kill'), binding: notHere('binding'), dlopen: notHere('dlopen'), setuid: notHere('setuid'), setgid: notHere('setgid'),
    emitWarning(warning, type) {
        const name = typeof type === 'string' ? type : (type && type.type) || (warning && warning.name) || 'Warning';
        host.write(2, `(node:${process.pid}) ${warning instanceof Error ? warning : `${name}: ${warning}`}\n`);
    },
});
const streams = () => internal.require('stream');
for (const [name, number] of [['stdout', 1], ['stderr', 2]]) {
    Object.defineProperty(process, name, {
        configurable: true, enumerable: true,
        get() {
            const stream = new (streams().Writable)({ decodeStrings: false, write(chunk, encoding, done) { host.write(number, chunk); done(); } });
            Object.assign(stream, { fd: number, _type: 'pipe', writable: true });
            if (host.isTerminal(number)) Object.assign(stream, { isTTY: true, columns: 80, rows: 24 });
            stream.getColorDepth = () => 1;
            stream.hasColors = () => false;
            stream.end = () => stream;
            internal.define(process, name, stream);
            return stream;
        },
    });
}
Object.defineProperty(process, 'stdin', {
    configurable: true, enumerable: true,
    get() {
        const { Readable } = streams();
        const take = (bytes) => { if (bytes.length === 0) { internal.readers.delete(take); stream.push(null); } else stream.push(internal.require('buffer').Buffer.from(bytes.buffer)); };
        const stream = new Readable({ read() { if (!stream.hasEnded) internal.readers.add(take); } });
        Object.assign(stream, { fd: 0, isTTY: host.isTerminal(0) || undefined, setRawMode: () => stream, ref: () => stream, unref() { internal.readers.delete(take); return stream; } });
        const pause = stream.pause.bind(stream);
        stream.pause = () => { internal.readers.delete(take); return pause(); };
        stream.destroy = () => { internal.readers.delete(take); return stream; };
        internal.define(process, 'stdin', stream);
        return stream;
    },
});
internal.process = process;
internal.define(globalThis, 'process', process);
internal.provide('process', () => process);

// ---- what ends a program
let isLeaving = false;
internal.leave = () => {
    if (!isLeaving) {
        isLeaving = true;
        if (emitter) internal.guard(() => emitter.emit('exit', Number(process.exitCode) || 0));
    }
    host.exit(Number(process.exitCode) || 0);
};
// Nothing is left to do. Whether the program found something after all.
internal.isFinished = () => {
    if (emitter && emitter.listenerCount('beforeExit') > 0 && internal.step() === -1) {
        internal.turn(() => emitter.emit('beforeExit', Number(process.exitCode) || 0));
        if (internal.step() !== -1) return false;
    }
    return true;
};
function excerpt(error) {
    const found = /\((\/[^()]*):(\d+):(\d+)\)|at (\/[^()\s]*):(\d+):(\d+)/.exec(internal.stackOf(error));
    if (!found) return '';
    const [file, line, column] = found[1] ? found.slice(1) : found.slice(4);
    const source = internal.sources && internal.sources.get(file);
    const text = source && source.split('\n')[line - 1];
    if (text === undefined) return `${file}:${line}\n`;
    return `${file}:${line}\n${text}\n${' '.repeat(Math.max(0, Math.min(column - 1, text.length)))}^\n\n`;
}
internal.fault = (error, isPromise) => {
    if (isLeaving) host.exit(7);
    if (emitter && emitter.listenerCount('uncaughtException') > 0) {
        emitter.emit('uncaughtException', error, isPromise ? 'unhandledRejection' : 'uncaughtException');
        return;
    }
    let text;
    if (error instanceof Error) {
        const place = error.place ? `${error.place.replace(/^(.*\n)\((?:async )?function \(exports[^)]*\) \{/, '$1')}\n\n` : '';
        text = excerpt(error) + place + internal.inspect(error).replace(/^\[([^\n]*)\]$/, '$1');
    }
    else if (isPromise) {
        text = '[UnhandledPromiseRejection: This error originated either by throwing inside of an async function without a catch block, '
            + `or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason "${internal.inspect(error)}".] {\n  code: 'ERR_UNHANDLED_REJECTION'\n}`;
    } else text = `Uncaught:\n${internal.inspect(error)}\n(Use \`node --trace-uncaught ...\` to show where the exception was thrown)`;
    host.write(2, `${text}\n\nNode.js ${process.version}\n`);
    process.exitCode = 1;
    internal.leave();
};
internal.rejections = [];
internal.rejected = (promise, reason) => { internal.rejections.push([promise, reason]); };
internal.sayRejections = () => {
    for (const [promise, reason] of internal.rejections.splice(0)) {
        if (emitter && emitter.listenerCount('unhandledRejection') > 0) internal.turn(() => emitter.emit('unhandledRejection', reason, promise));
        else internal.fault(reason, true);
    }
};
})
