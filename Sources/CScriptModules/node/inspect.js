// How values are shown: util.inspect and util.format as Node's documentation describes them.
(function (internal) {
'use strict';
const custom = Symbol.for('nodejs.util.inspect.custom');
const defaults = {
    showHidden: false, depth: 2, colors: false, customInspect: true, maxArrayLength: 100, maxStringLength: 10000,
    breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false,
};
const plainKey = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const typedArrayPrototype = Object.getPrototypeOf(Uint8Array.prototype);
const typedArrayName = Object.getOwnPropertyDescriptor(typedArrayPrototype, Symbol.toStringTag).get;
const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);
const escapes = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' };

function quoted(text) {
    let quote = "'";
    if (text.includes("'")) {
        if (!text.includes('"')) quote = '"';
        else if (!text.includes('`') && !text.includes('${')) quote = '`';
    }
    let out = '';
    for (let index = 0; index < text.length; index++) {
        const letter = text[index], code = text.charCodeAt(index);
        if (letter === quote) out += quote === "'" ? "\\'" : '\\' + letter;
        else if (escapes[letter]) out += escapes[letter];
        else if (code < 32 || (code >= 127 && code < 160)) out += '\\x' + code.toString(16).toUpperCase().padStart(2, '0');
        else if (code >= 0xD800 && code <= 0xDFFF) {
            const next = text.charCodeAt(index + 1);
            if (code < 0xDC00 && next >= 0xDC00 && next <= 0xDFFF) { out += letter + text[++index]; }
            else out += '\\u' + code.toString(16).toUpperCase();
        } else out += letter;
    }
    return quote + out + quote;
}

function width(text) {
    let count = 0;
    for (const letter of text) {
        const code = letter.codePointAt(0);
        if (code < 32 || (code >= 127 && code < 160) || (code >= 0x300 && code <= 0x36F) || code === 0x200D
            || (code >= 0xFE00 && code <= 0xFE0F)) continue;
        count += (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) || (code >= 0xAC00 && code <= 0xD7A3)
            || (code >= 0xF900 && code <= 0xFAFF) || (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF01 && code <= 0xFF60)
            || (code >= 0x1F300 && code <= 0x1FAFF) ? 2 : 1;
    }
    return count;
}

const separated = (digits, every) => digits.replace(every, '$1_');
function numberText(ctx, value) {
    if (Object.is(value, -0)) return '-0';
    const text = String(value);
    if (!ctx.numericSeparator || !/^-?\d+(\.\d+)?$/.test(text)) return text;
    const [whole, part] = text.split('.');
    const long = separated(whole, /(\d)(?=(\d{3})+$)/g);
    return part === undefined ? long : `${long}.${separated(part, /(\d{3})(?=\d)/g)}`;
}

function primitive(ctx, value) {
    const paint = (text, style) => ctx.stylize(text, style);
    if (typeof value === 'string') {
        let tail = '';
        if (value.length > ctx.maxStringLength) {
            const left = value.length - ctx.maxStringLength;
            value = value.slice(0, ctx.maxStringLength);
            tail = `... ${left} more character${left > 1 ? 's' : ''}`;
        }
        if (ctx.compact !== true && value.length > 16 && value.length > ctx.breakLength - ctx.indent - 4) {
            return value.split(/(?<=\n)/).map((line) => paint(quoted(line), 'string'))
                .join(` +\n${' '.repeat(ctx.indent + 2)}`) + tail;
        }
        return paint(quoted(value), 'string') + tail;
    }
    if (typeof value === 'number') return paint(numberText(ctx, value), 'number');
    if (typeof value === 'bigint') return paint(`${value}n`, 'bigint');
    if (typeof value === 'boolean') return paint(`${value}`, 'boolean');
    if (typeof value === 'symbol') return paint(symbolText(value), 'symbol');
    return paint('undefined', 'undefined');
}
const symbolText = (symbol) => Symbol.prototype.toString.call(symbol);

// The name of what made an object, and how far up the chain it was found.
function makerOf(object) {
    let level = 0;
    for (let at = object; at; at = Object.getPrototypeOf(at), level++) {
        const found = Object.getOwnPropertyDescriptor(at, 'constructor');
        if (found && typeof found.value === 'function' && found.value.name !== '' && isMadeBy(object, found.value)) {
            return found.value.name;
        }
        if (level > 50) break;
    }
    return null;
}
function isMadeBy(object, maker) { try { return object instanceof maker; } catch { return false; } }

function prefixOf(maker, tag, fallback, size = '') {
    if (maker === null) {
        return tag && tag !== fallback ? `[${fallback}${size}: null prototype] [${tag}] ` : `[${fallback}${size}: null prototype] `;
    }
    return tag && tag !== maker ? `${maker}${size} [${tag}] ` : `${maker}${size} `;
}

function keysOf(value, ctx) {
    if (ctx.showHidden) return [...Object.getOwnPropertyNames(value), ...Object.getOwnPropertySymbols(value)];
    let keys;
    try { keys = Object.keys(value); } catch { keys = Object.getOwnPropertyNames(value); }
    const isShown = (key) => Object.prototype.propertyIsEnumerable.call(value, key);
    return keys.concat(Object.getOwnPropertySymbols(value).filter(isShown));
}

function show(ctx, value, depth, isTyped) {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
        return value === null ? ctx.stylize('null', 'null') : primitive(ctx, value);
    }
    if (ctx.customInspect) {
        const own = value[custom];
        if (typeof own === 'function' && own !== inspect && !(value.constructor && value.constructor.prototype === value)) {
            const left = ctx.depth === null ? null : ctx.depth - depth;
            const options = { ...ctx.given, depth: left, stylize: ctx.stylize };
            const said = own.call(value, left, options, inspect);
            if (said !== value) {
                return typeof said === 'object' && said !== null
                    ? show(ctx, said, depth) : String(said).replaceAll('\n', `\n${' '.repeat(ctx.indent)}`);
            }
        }
    }
    if (ctx.seen.includes(value)) {
        if (!ctx.circular) ctx.circular = new Map();
        if (!ctx.circular.has(value)) ctx.circular.set(value, ctx.circular.size + 1);
        return ctx.stylize(`[Circular *${ctx.circular.get(value)}]`, 'special');
    }
    return internal.shapes.object(ctx, value, depth, isTyped);
}

function property(ctx, value, key, depth, kind, given) {
    const found = given || Object.getOwnPropertyDescriptor(value, key) || { value: value[key], enumerable: true };
    let text;
    if (found.get !== undefined) {
        text = ctx.stylize(found.set !== undefined ? '[Getter/Setter]' : '[Getter]', 'special');
        if (ctx.getters && (ctx.getters === true || (ctx.getters === 'get') === (found.set === undefined))) {
            ctx.indent += 2;
            const got = show(ctx, found.get.call(value), depth);
            ctx.indent -= 2;
            text = text.slice(0, -1) + (typeof found.get.call(value) === 'object' ? '] ' : ': ') + got
                + (typeof found.get.call(value) === 'object' ? '' : ']');
        }
    } else if (found.set !== undefined) {
        text = ctx.stylize('[Setter]', 'special');
    } else {
        ctx.indent += 2;
        text = show(ctx, found.value, depth);
        ctx.indent -= 2;
    }
    if (kind === 'item') return text;
    let name;
    if (typeof key === 'symbol') name = `[${ctx.stylize(symbolText(key), 'symbol')}]`;
    else if (key === '__proto__') name = "['__proto__']";
    else if (found.enumerable === false) name = `[${key}]`;
    else name = plainKey.test(key) ? ctx.stylize(key, 'name') : ctx.stylize(quoted(key), 'string');
    return `${name}: ${text}`;
}

const styles = {
    special: [36, 39], number: [33, 39], bigint: [33, 39], boolean: [33, 39], undefined: [90, 39], null: [1, 22],
    string: [32, 39], symbol: [32, 39], date: [35, 39], regexp: [31, 39], module: [4, 24],
};
const painted = (text, style) => (styles[style] ? `\x1b[${styles[style][0]}m${text}\x1b[${styles[style][1]}m` : text);

function inspect(value, options, depth, colors) {
    const given = typeof options === 'boolean' ? { showHidden: options, depth, colors } : options || {};
    const ctx = { ...defaults, ...inspect.defaultOptions };
    for (const key in given) if (given[key] !== undefined) ctx[key] = given[key];
    ctx.given = given;
    if (ctx.depth === Infinity) ctx.depth = null;
    if (ctx.maxArrayLength === null) ctx.maxArrayLength = Infinity;
    if (ctx.maxStringLength === null) ctx.maxStringLength = Infinity;
    ctx.stylize = ctx.colors ? painted : (text) => text;
    ctx.indent = 0;
    ctx.seen = [];
    ctx.deepest = 0;
    return show(ctx, value, 0);
}
inspect.custom = custom;
inspect.defaultOptions = {};
inspect.colors = Object.assign(Object.create(null), { bold: [1, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39], cyan: [36, 39], gray: [90, 39] });
inspect.styles = { number: 'yellow', string: 'green', special: 'cyan' };

function hasOwnText(value) {
    // Whether somebody's own class or object says how it reads as text.
    for (let at = value; at; at = Object.getPrototypeOf(at)) {
        if (Object.prototype.hasOwnProperty.call(at, 'toString')) {
            if (at === value) return true;
            const maker = at.constructor;
            return !(typeof maker === 'function' && /\[native code\]/.test(Function.prototype.toString.call(maker)));
        }
    }
    return false;
}

function placed(letter, value) {
    switch (letter) {
    case 's':
        if (typeof value === 'number') return Object.is(value, -0) ? '-0' : `${value}`;
        if (typeof value === 'bigint') return `${value}n`;
        if (typeof value === 'object' && value !== null && !hasOwnText(value) && !(value instanceof Error)) {
            return inspect(value, { depth: 0, colors: false, compact: 3 });
        }
        return String(value);
    case 'd':
        if (typeof value === 'bigint') return `${value}n`;
        return typeof value === 'symbol' ? 'NaN' : numberText({}, Number(value));
    case 'i':
        if (typeof value === 'bigint') return `${value}n`;
        return typeof value === 'symbol' ? 'NaN' : numberText({}, parseInt(value));
    case 'f': return typeof value === 'symbol' ? 'NaN' : numberText({}, parseFloat(value));
    case 'j': try { return JSON.stringify(value); } catch { return '[Circular]'; }
    case 'o': return inspect(value, { showHidden: true, depth: 4 });
    case 'O': return inspect(value);
    case 'c': return '';
    }
}

function format(...given) { return formatWithOptions({}, ...given); }
function formatWithOptions(options, ...given) {
    if (given.length === 1 && typeof given[0] === 'string') return given[0];
    let text = '', next = 0;
    if (typeof given[0] === 'string' && given.length > 1) {
        const pattern = given[0];
        let at = 0;
        next = 1;
        for (let index = 0; index < pattern.length - 1; index++) {
            if (pattern[index] !== '%') continue;
            const letter = pattern[index + 1];
            if (letter === '%') {
                text += pattern.slice(at, index) + '%';
            } else if ('sdifjoOc'.includes(letter) && next < given.length) {
                text += pattern.slice(at, index) + placed(letter, given[next++]);
            } else continue;
            at = index + 2;
            index++;
        }
        text += pattern.slice(at);
    } else if (typeof given[0] === 'string') {
        text = given[0];
        next = 1;
    }
    for (; next < given.length; next++) {
        const value = given[next];
        text += (next > 0 ? ' ' : '') + (typeof value === 'string' ? value : inspect(value, { compact: 3, depth: 2, ...options }));
    }
    return text;
}

Object.assign(internal, { inspect, format, formatWithOptions, quoted, width });
internal.inspection = { show, property, primitive, makerOf, prefixOf, keysOf, typedArrayName, tagOf, width, quoted };
})
