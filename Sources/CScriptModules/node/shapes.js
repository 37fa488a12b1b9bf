// What objects of each kind look like, and how their parts are laid out on lines.
(function (internal) {
'use strict';
const { show, property, primitive, makerOf, prefixOf, keysOf, typedArrayName, tagOf, width, quoted } = internal.inspection;
const more = (count, what = 'item') => `... ${count} more ${what}${count > 1 ? 's' : ''}`;

function object(ctx, value, depth, isTyped) {
    const maker = makerOf(value);
    let tag = '';
    try { tag = typeof value[Symbol.toStringTag] === 'string' ? value[Symbol.toStringTag] : ''; } catch {}
    if (tag !== '' && tag === maker) tag = '';
    const shape = shapeOf(ctx, value, maker, tag);
    const { keys, base } = shape;
    if (shape.whole !== undefined) return shape.whole;
    if (keys.length === 0 && shape.isBare) return base || `${shape.open}${shape.close}`;
    if (ctx.depth !== null && depth > ctx.depth) {
        const name = prefixOf(maker, tag, Array.isArray(value) ? 'Array' : 'Object').slice(0, -1);
        return ctx.stylize(`[${Array.isArray(value) && maker === 'Array' ? 'Array' : name}]`, 'special');
    }
    ctx.seen.push(value);
    ctx.deepest = depth;
    let parts;
    const start = ctx.indent;
    try {
        parts = shape.parts(depth + 1);
        for (const key of keys) parts.push(property(ctx, value, key, depth + 1, shape.isList ? 'extra' : 'plain'));
        for (const [key, found] of shape.hidden || []) parts.push(property(ctx, value, key, depth + 1, 'extra', found));
    } catch (error) {
        ctx.indent = start;
        ctx.seen.pop();
        if (error instanceof RangeError) {
            return ctx.stylize(`[${prefixOf(maker, tag, 'Object').slice(0, -1)}: Inspection interrupted prematurely. Maximum call stack size exceeded.]`, 'special');
        }
        throw error;
    }
    ctx.seen.pop();
    let { open } = shape, baseText = base;
    if (ctx.circular && ctx.circular.has(value)) {
        const mark = ctx.stylize(`<ref *${ctx.circular.get(value)}>`, 'special');
        if (ctx.compact !== true) baseText = baseText === '' ? mark : `${mark} ${baseText}`;
        else open = `${mark} ${open}`;
    }
    if (ctx.sorted) {
        const order = ctx.sorted === true ? undefined : ctx.sorted;
        if (shape.isList) parts = parts.slice(0, parts.length - keys.length).concat(parts.slice(parts.length - keys.length).sort(order));
        else parts.sort(order);
    }
    return onLines(ctx, parts, baseText, open, shape.close, shape.isList, depth, value);
}

function shapeOf(ctx, value, maker, tag) {
    const keys = keysOf(value, ctx);
    const shape = { keys, base: '', open: '{', close: '}', isBare: false, isList: false, parts: () => [] };
    if (Array.isArray(value)) {
        shape.keys = keys.filter((key) => typeof key === 'symbol' || !(String(key >>> 0) === key && key >>> 0 !== 4294967295));
        if (!ctx.showHidden) shape.keys = shape.keys.filter((key) => key !== 'length');
        const prefix = maker !== 'Array' || tag !== '' ? prefixOf(maker, tag, 'Array', `(${value.length})`) : '';
        return { ...shape, open: `${prefix}[`, close: ']', isBare: value.length === 0, isList: true, parts: (depth) => items(ctx, value, depth) };
    }
    const typed = ArrayBuffer.isView(value) && !(value instanceof DataView) ? typedArrayName.call(value) : undefined;
    if (typed) {
        shape.keys = keys.filter((key) => typeof key === 'symbol' || !/^\d+$/.test(key));
        return {
            ...shape, open: `${prefixOf(maker, tag === typed ? '' : tag, typed, `(${value.length})`)}[`, close: ']',
            isBare: value.length === 0, isList: true, parts: () => numbers(ctx, value),
        };
    }
    if (value instanceof Set) {
        return {
            ...shape, open: `${prefixOf(maker, tag, 'Set', `(${value.size})`)}{`, isBare: value.size === 0,
            parts: (depth) => within(ctx, () => limited(ctx, value.size, Set.prototype.values.call(value), (item) => show(ctx, item, depth))),
        };
    }
    if (value instanceof Map) {
        return {
            ...shape, open: `${prefixOf(maker, tag, 'Map', `(${value.size})`)}{`, isBare: value.size === 0,
            parts: (depth) => within(ctx, () => limited(ctx, value.size, Map.prototype.entries.call(value), ([key, item]) => `${show(ctx, key, depth)} => ${show(ctx, item, depth)}`)),
        };
    }
    if (typeof value === 'function') return { ...shape, base: ctx.stylize(functionText(value, maker, tag), 'special'), isBare: true };
    if (value instanceof Error) return errorShape(ctx, value, shape, maker);
    if (value instanceof RegExp) return { ...shape, base: ctx.stylize(RegExp.prototype.toString.call(value), 'regexp'), isBare: true };
    if (value instanceof Date) {
        const text = Number.isNaN(Date.prototype.getTime.call(value)) ? 'Invalid Date' : Date.prototype.toISOString.call(value);
        const prefix = prefixOf(maker, tag, 'Date');
        return { ...shape, base: ctx.stylize(prefix === 'Date ' ? text : prefix + text, 'date'), isBare: true };
    }
    const boxed = { Number, String, Boolean, BigInt, Symbol }[tagOf(value)];
    if (boxed && value instanceof boxed) {
        const name = boxed.name, inner = boxed.prototype.valueOf.call(value);
        if (name === 'String') shape.keys = keys.filter((key) => typeof key === 'symbol' || !/^\d+$/.test(key));
        const own = maker !== name && maker !== null ? ` (${maker})` : '';
        return { ...shape, base: ctx.stylize(`[${name}${own}: ${primitive({ ...ctx, stylize: (text) => text }, inner)}]`, name.toLowerCase()), isBare: true };
    }
    if (value instanceof ArrayBuffer) {
        const bytes = new Uint8Array(value);
        const text = [...bytes.subarray(0, 50)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
            + (bytes.length > 50 ? ` ${more(bytes.length - 50, 'byte')}` : '');
        return { ...shape, open: `${prefixOf(maker, tag, 'ArrayBuffer')}{`, parts: () => [`[Uint8Contents]: <${text}>`, `byteLength: ${value.byteLength}`] };
    }
    if (value instanceof DataView) {
        return {
            ...shape, open: `${prefixOf(maker, tag, 'DataView')}{`,
            parts: (depth) => ['byteLength', 'byteOffset', 'buffer'].map((key) => property(ctx, value, key, depth, 'plain', { value: value[key], enumerable: true })),
        };
    }
    if (value instanceof Promise) {
        const state = internal.promiseState(value);
        return {
            ...shape, open: `${prefixOf(maker, tag, 'Promise')}{`,
            parts: (depth) => {
                if (state[0] === 'pending') return [ctx.stylize('<pending>', 'special')];
                return within(ctx, () => [state[0] === 'rejected' ? `${ctx.stylize('<rejected>', 'special')} ${show(ctx, state[1], depth)}` : show(ctx, state[1], depth)]);
            },
        };
    }
    if (value instanceof WeakSet || value instanceof WeakMap) {
        return { ...shape, open: `${prefixOf(maker, tag, tagOf(value))}{`, parts: () => [ctx.stylize('<items unknown>', 'special')] };
    }
    if (tagOf(value) === 'Map Iterator' || tagOf(value) === 'Set Iterator') {
        return { ...shape, open: `[${tag}] {`, parts: () => ['...'] };
    }
    if (tagOf(value) === 'Arguments') {
        return { ...shape, open: '[Arguments] {', isBare: true };
    }
    if (tag === 'Module' && maker === null) return { ...shape, open: '[Module: null prototype] {', isBare: true };
    const prefix = maker === 'Object' && tag === '' ? '' : prefixOf(maker, tag, 'Object');
    return { ...shape, open: `${prefix}{`, isBare: true };
}

function within(ctx, make) {
    ctx.indent += 2;
    try { return make(); } finally { ctx.indent -= 2; }
}

function limited(ctx, size, entries, make) {
    const out = [], most = Math.min(ctx.maxArrayLength, size);
    for (const entry of entries) {
        if (out.length >= most) break;
        out.push(make(entry));
    }
    if (size > most) out.push(more(size - most));
    return out;
}

function items(ctx, list, depth) {
    const out = [];
    let index = 0;
    while (index < list.length && out.length < ctx.maxArrayLength) {
        if (!Object.prototype.hasOwnProperty.call(list, index)) {
            const start = index;
            while (index < list.length && !Object.prototype.hasOwnProperty.call(list, index)) index++;
            const count = index - start;
            out.push(ctx.stylize(`<${count} empty item${count > 1 ? 's' : ''}>`, 'undefined'));
        } else out.push(property(ctx, list, index++, depth, 'item'));
    }
    if (index < list.length) out.push(more(list.length - index));
    return out;
}

function numbers(ctx, list) {
    const most = Math.min(ctx.maxArrayLength, list.length), out = [];
    for (let index = 0; index < most; index++) out.push(primitive(ctx, list[index]));
    if (list.length > most) out.push(more(list.length - most));
    return out;
}

function functionText(value, maker, tag) {
    const source = Function.prototype.toString.call(value);
    if (source.startsWith('class') && /^class[\s{]/.test(source)) {
        const parent = Object.getPrototypeOf(value);
        const name = Object.prototype.hasOwnProperty.call(value, 'name') && value.name ? value.name : '(anonymous)';
        let text = `class ${name}`;
        if (maker !== 'Function' && maker !== null) text += ` [${maker}]`;
        if (parent && parent.name) text += ` extends ${parent.name}`;
        else if (parent === null) text += ' extends null';
        return `[${text}]`;
    }
    const kind = { AsyncFunction: 'AsyncFunction', GeneratorFunction: 'GeneratorFunction', AsyncGeneratorFunction: 'AsyncGeneratorFunction' }[tagOf(value)] || 'Function';
    let text = `[${kind}${maker === null ? ' (null prototype)' : ''}${value.name === '' || typeof value.name !== 'string' ? ' (anonymous)' : `: ${value.name}`}]`;
    if (maker !== kind && maker !== null && maker !== 'Function') text += ` ${maker}`;
    if (tag !== '' && tag !== kind && maker !== tag) text += ` [${tag}]`;
    return text;
}

function errorShape(ctx, value, shape, maker) {
    let text = internal.stackOf(value);
    const name = value.name != null ? String(value.name) : 'Error';
    if (maker && name === 'Error' && maker !== 'Error' && maker.endsWith('Error') && text.startsWith('Error')) text = maker + text.slice(5);
    const at = text.indexOf('\n    at ');
    if (at < 0) text = `[${text}]`;
    if (ctx.indent > 0) text = text.replaceAll('\n', `\n${' '.repeat(ctx.indent)}`);
    const keys = shape.keys.filter((key) => !['stack', 'line', 'column', 'sourceURL', 'message', 'name', 'place'].includes(key) || (['name', 'message'].includes(key) && !text.includes(String(value[key]))));
    const hidden = [];
    for (const key of ['cause', 'errors']) {
        const found = Object.getOwnPropertyDescriptor(value, key);
        if (found && !found.enumerable && !keys.includes(key) && (key !== 'errors' || Array.isArray(found.value))) hidden.push([key, { value: found.value, enumerable: false }]);
    }
    return { ...shape, keys, hidden, base: text, isBare: hidden.length === 0 };
}

function onLines(ctx, parts, base, open, close, isList, depth, value) {
    const head = base ? `${base} ` : '';
    if (ctx.compact !== true) {
        if (typeof ctx.compact === 'number' && ctx.compact >= 1) {
            const count = parts.length;
            if (isList && count > 6) parts = inColumns(ctx, parts, value);
            if (ctx.deepest - depth < ctx.compact && count === parts.length) {
                const start = parts.length + ctx.indent + open.length + base.length + 10;
                if (fits(ctx, parts, start, base)) {
                    const joined = parts.join(', ');
                    if (!joined.includes('\n')) return `${head}${open} ${joined} ${close}`;
                }
            }
        }
        const indent = `\n${' '.repeat(ctx.indent)}`;
        return `${head}${open}${indent}  ${parts.join(`,${indent}  `)}${indent}${close}`;
    }
    if (fits(ctx, parts, 0, base)) return `${open}${base ? ` ${base}` : ''} ${parts.join(', ')} ${close}`;
    const indent = `\n${' '.repeat(ctx.indent)}`;
    const line = base === '' && open.length === 1 ? ' ' : `${base ? ` ${base}` : ''}\n${indent.slice(1)}  `;
    return `${open}${line}${parts.join(`,${indent}  `)} ${close}`;
}

function fits(ctx, parts, start, base) {
    let total = parts.length + start;
    if (total + parts.length > ctx.breakLength) return false;
    for (const part of parts) {
        total += ctx.colors ? internal.plain(part).length : part.length;
        if (total > ctx.breakLength) return false;
    }
    return base === '' || !base.includes('\n');
}

// Short items of long lists go side by side, in columns about as wide as they are high.
function inColumns(ctx, parts, value) {
    const hasTail = ctx.maxArrayLength < parts.length;
    const count = hasTail ? parts.length - 1 : parts.length;
    const lengths = parts.slice(0, count).map((part) => width(ctx.colors ? internal.plain(part) : part));
    const total = lengths.reduce((sum, length) => sum + length + 2, 0);
    const widest = Math.max(...lengths), cell = widest + 2;
    if (!(cell * 3 + ctx.indent < ctx.breakLength && (total / cell > 5 || widest <= 6))) return parts;
    const biased = Math.max(cell - 3 - Math.sqrt(cell - total / parts.length), 1);
    const columns = Math.min(
        Math.round(Math.sqrt(2.5 * biased * count) / biased), Math.floor((ctx.breakLength - ctx.indent) / cell), ctx.compact * 4, 15);
    if (columns <= 1) return parts;
    const widths = [];
    for (let column = 0; column < columns; column++) {
        let longest = 0;
        for (let index = column; index < count; index += columns) longest = Math.max(longest, lengths[index]);
        widths.push(longest + 2);
    }
    let isRight = true;
    if (value !== undefined) {
        for (let index = 0; index < parts.length && isRight; index++) isRight = typeof value[index] === 'number' || typeof value[index] === 'bigint';
    }
    const rows = [];
    for (let first = 0; first < count; first += columns) {
        const end = Math.min(first + columns, count);
        let row = '';
        for (let index = first; index < end; index++) {
            const isLast = index === end - 1, part = isLast ? parts[index] : `${parts[index]}, `;
            const room = widths[index - first] + parts[index].length - lengths[index] - (isLast ? 2 : 0);
            if (isRight) row += part.padStart(room, ' ');
            else row += isLast ? part : part.padEnd(room, ' ');
        }
        rows.push(row);
    }
    if (hasTail) rows.push(parts[count]);
    return rows;
}

internal.plain = (text) => text.replace(/\x1b\[\d+m/g, '');
internal.shapes = { object };
})
