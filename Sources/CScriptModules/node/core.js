// The first file: errors, stacks, and how the other files find one another.
(function (host) {
'use strict';
const internal = { host, builtin: Object.create(null), loaders: Object.create(null) };
internal.promiseState = () => ['pending'];

// ---- errors with codes, as Node has them
internal.coded = (Base, code, message, extra) => {
    const error = new Base(message);
    error.code = code;
    if (extra) Object.assign(error, extra);
    const name = error.name;
    Object.defineProperty(error, 'name', { value: `${name} [${code}]`, configurable: true, writable: true, enumerable: false });
    error.stack;
    Object.defineProperty(error, 'toString', { value() { return `${name} [${code}]: ${this.message}`; }, configurable: true, enumerable: false, writable: true });
    Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true, enumerable: false });
    if (typeof error.stack === 'string') define(error, 'stack', error.stack.replace(new RegExp(`^${name}(?=:|\\n|$)`), `${name} [${code}]`));
    return error;
};
internal.badArgument = (name, wanted, value) => internal.coded(
    TypeError, 'ERR_INVALID_ARG_TYPE', `The "${name}" argument must be ${wanted}. Received ${internal.received(value)}`);
internal.received = (value) => {
    if (value == null) return String(value);
    if (typeof value === 'function') return `function ${value.name}`;
    if (typeof value === 'object') return value.constructor && value.constructor.name ? `an instance of ${value.constructor.name}` : internal.inspect(value, { depth: -1 });
    const text = internal.inspect(value, { colors: false });
    return `type ${typeof value} (${text.length > 28 ? text.slice(0, 25) + '...' : text})`;
};
internal.absent = (what, why) => internal.coded(Error, 'ERR_NOT_AVAILABLE', `${what} is not available: ${why}`);

// ---- stacks, written as programs for Node expect them
const define = (object, key, value) => Object.defineProperty(object, key, { value, writable: true, configurable: true, enumerable: false });
function frames(raw) {
    const out = [];
    for (const line of String(raw).split('\n')) {
        const parts = /^(.*?)@(.*?)(?::(\d+))?(?::(\d+))?$/.exec(line) || (line.includes(':') ? [null, '', ...(/^(.*?)(?::(\d+))?(?::(\d+))?$/.exec(line) || []).slice(1)] : null);
        if (!parts || !parts[2] || parts[2].startsWith('node:') || parts[2] === '[native code]') continue;
        const head = parts[3] === '1' ? (internal.heads && internal.heads.get(parts[2])) || 0 : 0;
        const place = `${parts[2]}${parts[3] ? `:${parts[3]}` : ''}${parts[4] ? `:${Math.max(1, parts[4] - head)}` : ''}`;
        const name = parts[1].replace(/^(global|eval|module|async) code$/, '').replace(/^async /, 'async ');
        out.push(name ? `    at ${name} (${place})` : `    at ${place}`);
    }
    return out;
}
const titled = (error) => {
    let text;
    try { text = Error.prototype.toString.call(error); } catch { text = 'Error'; }
    return text;
};
internal.stackOf = (error) => {
    let raw;
    try { raw = error.stack; } catch {}
    if (typeof raw !== 'string' || raw === '') return titled(error);
    if (/(^|\n)    at /.test(raw) || raw.startsWith(titled(error))) return raw;
    if (raw.includes('@') || /^\S+:\d+:\d+$/m.test(raw) || raw.includes('[native code]')) return [titled(error), ...frames(raw)].join('\n');
    return raw;
};
const natives = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError];
const wrapped = new Map();
for (const Native of natives) {
    const dress = (error) => {
        const found = Object.getOwnPropertyDescriptor(error, 'stack');
        const raw = found ? error.stack : '';
        const most = typeof Error.stackTraceLimit === 'number' ? Error.stackTraceLimit : 10;
        let text;
        Object.defineProperty(error, 'stack', {
            configurable: true, enumerable: false,
            // Written when it is first read: the name may be given after the error was made.
            get() { return text === undefined ? (text = [titled(error), ...frames(raw).slice(0, most)].join('\n')) : text; }, set(value) { define(this, 'stack', value); },
        });
        for (const key of ['line', 'column', 'sourceURL']) delete error[key];
        return error;
    };
    const Own = new Proxy(Native, {
        construct(target, given, maker) { return dress(Reflect.construct(target, given, maker === Own ? target : maker)); },
        apply(target, self, given) { return dress(Reflect.construct(target, given, target)); },
    });
    wrapped.set(Own, Native);
    define(Native.prototype, 'constructor', Own);
    if (Native === Error) {
        Native.stackTraceLimit = 10;
        define(Native, 'captureStackTrace', (object) => {
            const probe = new Own();
            const text = [titled(object), ...frames(probe.stack ? '' : '')].join('\n');
            const rest = String(probe.stack).split('\n').slice(1);
            define(object, 'stack', [text, ...rest].join('\n'));
        });
    }
    define(globalThis, Native.name, Own);
}

// ---- the files of the library, each read when first wanted
const started = new Set();
internal.load = (name) => {
    if (started.has(name)) return;
    started.add(name);
    host.library(name)(internal);
};
internal.provide = (name, make) => { internal.loaders[name] = make; };
internal.require = (name) => {
    if (name in internal.builtin) return internal.builtin[name];
    if (!internal.loaders[name]) throw new Error(`there is no built-in module ${name}`);
    const exports = internal.loaders[name]();
    if (!(name in internal.builtin)) internal.builtin[name] = exports;
    return internal.builtin[name];
};
// A global that is made when it is first used.
internal.lazyGlobal = (name, make) => Object.defineProperty(globalThis, name, {
    configurable: true, enumerable: false,
    get() { const value = make(); define(globalThis, name, value); return value; },
    set(value) { define(globalThis, name, value); },
});
internal.define = define;

define(globalThis, 'global', globalThis);
// Showing values is a large part of the library, and a program that prints texts only does without.
internal.custom = Symbol.for('nodejs.util.inspect.custom');
for (const name of ['inspect', 'format', 'formatWithOptions', 'quoted', 'width', 'inspection', 'plain', 'shapes']) {
    Object.defineProperty(internal, name, {
        configurable: true,
        get() { internal.load('inspect'); internal.load('shapes'); return internal[name]; },
        set(value) { define(internal, name, value); },
    });
}
for (const name of ['console', 'timers', 'process', 'modules', 'library']) internal.load(name);
return internal;
})
