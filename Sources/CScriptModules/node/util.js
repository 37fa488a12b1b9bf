// util, string_decoder, querystring
(function (internal) {
'use strict';
const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);
const types = {
    isPromise: (value) => value instanceof Promise, isRegExp: (value) => value instanceof RegExp, isDate: (value) => value instanceof Date,
    isNativeError: (value) => value instanceof Error, isMap: (value) => value instanceof Map, isSet: (value) => value instanceof Set,
    isWeakMap: (value) => value instanceof WeakMap, isWeakSet: (value) => value instanceof WeakSet,
    isArrayBuffer: (value) => value instanceof ArrayBuffer, isAnyArrayBuffer: (value) => value instanceof ArrayBuffer,
    isArrayBufferView: ArrayBuffer.isView, isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
    isUint8Array: (value) => value instanceof Uint8Array, isDataView: (value) => value instanceof DataView,
    isAsyncFunction: (value) => /^Async/.test(tagOf(value)), isGeneratorFunction: (value) => /GeneratorFunction$/.test(tagOf(value)),
    isGeneratorObject: (value) => tagOf(value) === 'Generator', isSymbolObject: (value) => typeof value === 'object' && tagOf(value) === 'Symbol',
    isNumberObject: (value) => value instanceof Number, isStringObject: (value) => value instanceof String, isBooleanObject: (value) => value instanceof Boolean,
    isBoxedPrimitive: (value) => value instanceof Number || value instanceof String || value instanceof Boolean || (typeof value === 'object' && ['Symbol', 'BigInt'].includes(tagOf(value))),
    isProxy: () => false, isExternal: () => false, isModuleNamespaceObject: (value) => tagOf(value) === 'Module', isArgumentsObject: (value) => tagOf(value) === 'Arguments',
};
internal.provide('util/types', () => types);
const promisified = Symbol.for('nodejs.util.promisify.custom');

// Same value by same value, as assert and util compare.
function isSame(a, b, isStrict, seen = new Map()) {
    if (isStrict ? Object.is(a, b) : a == b || (a !== a && b !== b)) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (isStrict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (tagOf(a) !== tagOf(b) || Array.isArray(a) !== Array.isArray(b)) return false;
    if (seen.get(a) === b) return true;
    seen.set(a, b);
    const same = (one, other) => isSame(one, other, isStrict, seen);
    if (a instanceof Date && !Object.is(a.getTime(), b.getTime())) return false;
    if (a instanceof RegExp && (String(a) !== String(b) || a.lastIndex !== b.lastIndex)) return false;
    if (a instanceof Error && (a.message !== b.message || a.name !== b.name || !same(a.cause, b.cause))) return false;
    if (types.isBoxedPrimitive(a) && !Object.is(a.valueOf(), b.valueOf())) return false;
    if (ArrayBuffer.isView(a) || a instanceof ArrayBuffer) {
        const one = new Uint8Array(a.buffer || a, a.byteOffset || 0, a.byteLength), other = new Uint8Array(b.buffer || b, b.byteOffset || 0, b.byteLength);
        if (one.length !== other.length || one.some((byte, index) => byte !== other[index])) return false;
        if (!(a instanceof ArrayBuffer)) return true;
    }
    if (a instanceof Set) {
        if (a.size !== b.size) return false;
        const rest = [...b];
        for (const value of a) {
            if (b.has(value)) continue;
            const place = rest.findIndex((other) => typeof other === 'object' || !isStrict ? isSame(value, other, isStrict) : false);
            if (place < 0) return false;
            rest.splice(place, 1);
        }
    }
    if (a instanceof Map) {
        if (a.size !== b.size) return false;
        for (const [key, value] of a) {
            if (b.has(key)) { if (!same(value, b.get(key))) return false; continue; }
            if (![...b].some(([otherKey, other]) => isSame(key, otherKey, isStrict) && isSame(value, other, isStrict))) return false;
        }
    }
    if (Array.isArray(a) && a.length !== b.length) return false;
    const keys = Object.keys(a), others = Object.keys(b);
    if (keys.length !== others.length) return false;
    const isShown = (object, key) => Object.prototype.propertyIsEnumerable.call(object, key);
    if (isStrict) {
        const symbols = Object.getOwnPropertySymbols(a).filter((key) => isShown(a, key));
        if (symbols.length !== Object.getOwnPropertySymbols(b).filter((key) => isShown(b, key)).length) return false;
        if (!symbols.every((key) => isShown(b, key) && same(a[key], b[key]))) return false;
    }
    return keys.every((key) => isShown(b, key) && same(a[key], b[key]));
}
internal.isSame = isSame;

internal.provide('util', () => {
    const util = {
        inspect: internal.inspect, format: internal.format, formatWithOptions: internal.formatWithOptions, types,
        isDeepStrictEqual: (a, b) => isSame(a, b, true),
        inherits(maker, parent) {
            Object.defineProperty(maker, 'super_', { value: parent, writable: true, configurable: true });
            Object.setPrototypeOf(maker.prototype, parent.prototype);
        },
        deprecate(body, message, code) {
            let said = false;
            return function (...given) {
                if (!said) { said = true; internal.host.write(2, `(node:2) ${code ? `[${code}] ` : ''}DeprecationWarning: ${message}\n`); }
                return new.target ? Reflect.construct(body, given, new.target) : Reflect.apply(body, this, given);
            };
        },
        promisify(body) {
            if (typeof body !== 'function') throw internal.badArgument('original', 'of type function', body);
            if (body[promisified]) return body[promisified];
            return Object.defineProperties(function (...given) {
                return new Promise((resolve, reject) => Reflect.apply(body, this, [...given, (error, ...values) => (error ? reject(error) : resolve(values[0]))]));
            }, Object.getOwnPropertyDescriptors(body));
        },
        callbackify: (body) => function (...given) {
            const done = given.pop();
            Reflect.apply(body, this, given).then((value) => internal.nextTick(done, null, value), (error) => internal.nextTick(done, error));
        },
        debuglog: () => Object.assign(() => {}, { enabled: false }), debug: () => Object.assign(() => {}, { enabled: false }),
        stripVTControlCharacters: (text) => String(text).replace(/\x1b\[[0-9;]*[A-Za-z]/g, ''),
        toUSVString: (text) => String(text).toWellFormed(),
        styleText(style, text) {
            const codes = [].concat(style).map((name) => internal.inspect.colors[name] || [0, 0]);
            return codes.reduceRight((all, [open, close]) => `\x1b[${open}m${all}\x1b[${close}m`, text);
        },
        parseArgs(given = {}) { return parseArguments(given); },
        isArray: Array.isArray, isString: (value) => typeof value === 'string', isFunction: (value) => typeof value === 'function',
        isObject: (value) => value !== null && typeof value === 'object', isRegExp: types.isRegExp, isDate: types.isDate,
        isError: (value) => value instanceof Error, isBuffer: (value) => internal.require('buffer').Buffer.isBuffer(value),
        get TextEncoder() { return globalThis.TextEncoder; }, get TextDecoder() { return globalThis.TextDecoder; },
    };
    util.promisify.custom = promisified;
    return util;
});

function parseArguments({ args = internal.process.argv.slice(2), options = {}, strict = true, allowPositionals = !strict, tokens }) {
    const values = Object.create(null), positionals = [];
    const fail = (code, text) => { throw internal.coded(TypeError, code, text); };
    const set = (name, value, kind) => {
        const option = options[name];
        if (!option && strict) fail('ERR_PARSE_ARGS_UNKNOWN_OPTION', `Unknown option '${name.length > 1 ? '--' : '-'}${name}'`);
        if (strict && option.type === 'string' && typeof value !== 'string') fail('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${kind}${name} <value>' argument missing`);
        if (strict && option.type === 'boolean' && typeof value === 'string') fail('ERR_PARSE_ARGS_INVALID_OPTION_VALUE', `Option '${kind}${name}' does not take an argument`);
        if (option && option.multiple) (values[name] = values[name] || []).push(value);
        else values[name] = value;
    };
    for (let index = 0; index < args.length; index++) {
        const word = args[index];
        if (word === '--') { positionals.push(...args.slice(index + 1)); break; }
        if (word.startsWith('--')) {
            const sign = word.indexOf('='), name = word.slice(2, sign < 0 ? undefined : sign);
            if (sign >= 0) set(name, word.slice(sign + 1), '--');
            else set(name, options[name] && options[name].type === 'string' ? args[++index] : true, '--');
        } else if (word.startsWith('-') && word.length > 1) {
            for (let place = 1; place < word.length; place++) {
                const letter = word[place], name = Object.keys(options).find((key) => options[key].short === letter) || letter;
                if (options[name] && options[name].type === 'string') { set(name, place + 1 < word.length ? word.slice(place + 1) : args[++index], '-'); break; }
                set(name, true, '-');
            }
        } else {
            if (!allowPositionals) fail('ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL', `Unexpected argument '${word}'. This command does not take positional arguments`);
            positionals.push(word);
        }
    }
    for (const name in options) if (!(name in values) && options[name].default !== undefined) values[name] = options[name].default;
    return tokens ? { values, positionals, tokens: [] } : { values, positionals };
}

internal.provide('string_decoder', () => ({
    StringDecoder: class StringDecoder {
        constructor(encoding = 'utf8') { this.encoding = encoding; this.rest = []; }
        write(bytes) {
            const { Buffer } = internal.require('buffer');
            let all = Buffer.concat([Buffer.from(this.rest), Buffer.from(bytes)]);
            let end = all.length;
            if (/^utf-?8$/i.test(this.encoding)) {
                for (let back = 1; back <= Math.min(3, end); back++) {
                    const byte = all[end - back];
                    if (byte >= 0xC0) { if ((byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2) > back) end -= back; break; }
                    if (byte < 0x80) break;
                }
            }
            this.rest = [...all.subarray(end)];
            return all.toString(this.encoding, 0, end);
        }
        end(bytes) { const text = bytes ? this.write(bytes) : ''; const rest = internal.require('buffer').Buffer.from(this.rest).toString(this.encoding); this.rest = []; return text + rest; }
    },
}));

internal.provide('querystring', () => {
    const escape = (value) => encodeURIComponent(value).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`).replace(/%(21|27|28|29|2A)/g, (found, code) => String.fromCharCode(parseInt(code, 16)));
    const unescape = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
    const plain = (value) => (['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : '');
    const querystring = {
        escape, unescape,
        stringify(object, and = '&', is = '=') {
            return Object.keys(object || {}).flatMap((key) => [].concat(object[key]).map((value) => `${escape(key)}${is}${escape(plain(value))}`)).join(and);
        },
        parse(text, and = '&', is = '=') {
            const out = Object.create(null);
            for (const part of String(text).split(and)) {
                if (part === '') continue;
                const sign = part.indexOf(is), read = (piece) => unescape(piece.replaceAll('+', ' '));
                const key = read(sign < 0 ? part : part.slice(0, sign)), value = sign < 0 ? '' : read(part.slice(sign + is.length));
                out[key] = key in out ? [].concat(out[key], value) : value;
            }
            return out;
        },
    };
    querystring.encode = querystring.stringify;
    querystring.decode = querystring.parse;
    return querystring;
});
})
