// buffer
(function (internal) {
'use strict';
const { host } = internal;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const digits = new Int16Array(128).fill(-1);
[...alphabet].forEach((letter, index) => { digits[letter.charCodeAt(0)] = index; });
digits[45] = 62;
digits[95] = 63;

function toBase64(bytes, isForNames) {
    let out = '';
    for (let index = 0; index < bytes.length; index += 3) {
        const a = bytes[index], b = bytes[index + 1], c = bytes[index + 2];
        out += alphabet[a >> 2] + alphabet[((a & 3) << 4) | ((b || 0) >> 4)];
        out += b === undefined ? '=' : alphabet[((b & 15) << 2) | ((c || 0) >> 6)];
        out += c === undefined ? '=' : alphabet[c & 63];
    }
    return isForNames ? out.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') : out;
}
function fromBase64(text) {
    const out = [];
    let bits = 0, held = 0;
    for (let index = 0; index < text.length; index++) {
        const code = text.charCodeAt(index);
        if (code === 61) break;
        const value = code < 128 ? digits[code] : -1;
        if (value < 0) continue;
        held = ((held << 6) | value) & 0xFFFF;
        bits += 6;
        if (bits >= 8) { bits -= 8; out.push((held >> bits) & 255); }
    }
    return Uint8Array.from(out);
}
const known = { 'utf8': 'utf8', 'utf-8': 'utf8', 'hex': 'hex', 'base64': 'base64', 'base64url': 'base64url', 'ascii': 'ascii', 'latin1': 'latin1', 'binary': 'latin1', 'ucs2': 'utf16le', 'ucs-2': 'utf16le', 'utf16le': 'utf16le', 'utf-16le': 'utf16le' };
const encodingOf = (name) => {
    if (name === undefined || name === null || name === '') return 'utf8';
    const found = known[String(name).toLowerCase()];
    if (!found) throw internal.coded(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${name}`);
    return found;
};
function encode(text, name) {
    switch (encodingOf(name)) {
    case 'utf8': return host.encode(text);
    case 'hex': {
        const out = [];
        for (let index = 0; index + 1 < text.length; index += 2) {
            const pair = text.slice(index, index + 2);
            if (!/^[0-9a-fA-F]{2}$/.test(pair)) break;
            out.push(parseInt(pair, 16));
        }
        return Uint8Array.from(out);
    }
    case 'base64': case 'base64url': return fromBase64(text);
    case 'utf16le': {
        const out = new Uint8Array(text.length * 2);
        for (let index = 0; index < text.length; index++) { const code = text.charCodeAt(index); out[2 * index] = code & 255; out[2 * index + 1] = code >> 8; }
        return out;
    }
    default: return Uint8Array.from(text, (letter) => letter.charCodeAt(0) & 255);
    }
}
function decode(bytes, name) {
    switch (encodingOf(name)) {
    case 'utf8': return host.decode(bytes);
    case 'hex': { let out = ''; for (const byte of bytes) out += (byte < 16 ? '0' : '') + byte.toString(16); return out; }
    case 'base64': return toBase64(bytes);
    case 'base64url': return toBase64(bytes, true);
    case 'utf16le': { let out = ''; for (let index = 0; index + 1 < bytes.length; index += 2) out += String.fromCharCode(bytes[index] | (bytes[index + 1] << 8)); return out; }
    default: {
        const mask = encodingOf(name) === 'ascii' ? 127 : 255;
        let out = '';
        for (const byte of bytes) out += String.fromCharCode(byte & mask);
        return out;
    }
    }
}
const outOfRange = (name, range, value) => internal.coded(RangeError, 'ERR_OUT_OF_RANGE', `The value of "${name}" is out of range. It must be ${range}. Received ${internal.inspect(value, { numericSeparator: true })}`);

class FastBuffer extends Uint8Array {
    static from(value, encoding, length) {
        if (typeof value === 'string') return wrap(encode(value, encoding));
        if (value instanceof ArrayBuffer) return new FastBuffer(value, encoding, length);
        if (ArrayBuffer.isView(value) || Array.isArray(value)) { const out = new FastBuffer(value.length || 0); for (let index = 0; index < out.length; index++) out[index] = value[index]; return out; }
        if (value !== null && typeof value === 'object') {
            const plain = value.valueOf && value.valueOf();
            if (plain != null && plain !== value && typeof plain !== 'number') return FastBuffer.from(plain, encoding, length);
            if (value.type === 'Buffer' && Array.isArray(value.data)) return FastBuffer.from(value.data);
            if (typeof value.length === 'number') return FastBuffer.from(Array.from(value));
        }
        throw internal.coded(TypeError, 'ERR_INVALID_ARG_TYPE', `The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received ${internal.received(value)}`);
    }
    static alloc(size, fill, encoding) {
        if (typeof size !== 'number') throw internal.badArgument('size', 'of type number', size);
        if (!(size >= 0 && size <= 4294967296)) throw outOfRange('size', '>= 0 && <= 4294967296', size);
        const out = new FastBuffer(size);
        return fill === undefined || fill === 0 ? out : out.fill(fill, encoding);
    }
    static concat(list, total) {
        if (!Array.isArray(list)) throw internal.badArgument('list', 'an instance of Array', list);
        const out = FastBuffer.alloc(total === undefined ? list.reduce((sum, one) => sum + one.length, 0) : total);
        let place = 0;
        for (const one of list) { if (place >= out.length) break; out.set(one.subarray(0, out.length - place), place); place += one.length; }
        return out;
    }
    static isBuffer(value) { return value instanceof FastBuffer; }
    static isEncoding(name) { return typeof name === 'string' && name.toLowerCase() in known; }
    static byteLength(value, encoding) { return typeof value === 'string' ? encode(value, encoding).length : value.byteLength; }
    static compare(a, b) {
        for (let index = 0; index < Math.min(a.length, b.length); index++) if (a[index] !== b[index]) return a[index] < b[index] ? -1 : 1;
        return Math.sign(a.length - b.length);
    }
    toString(encoding, start = 0, end = this.length) { return decode(this.subarray(Math.max(0, start), end), encoding); }
    toLocaleString(encoding, start, end) { return this.toString(encoding, start, end); }
    toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
    equals(other) { return FastBuffer.compare(this, other) === 0; }
    compare(other, a = 0, b = other.length, c = 0, d = this.length) { return FastBuffer.compare(this.subarray(c, d), other.subarray(a, b)); }
    copy(target, at = 0, start = 0, end = this.length) {
        const part = this.subarray(start, Math.min(end, start + target.length - at));
        target.set(part, at);
        return part.length;
    }
    subarray(start, end) { const part = super.subarray(start, end); return Object.setPrototypeOf(part, FastBuffer.prototype); }
    slice(start, end) { return this.subarray(start, end); }
    write(text, at = 0, length, encoding) {
        if (typeof at === 'string') [at, encoding] = [0, at];
        if (typeof length === 'string') [length, encoding] = [undefined, length];
        const bytes = encode(text, encoding), room = Math.min(bytes.length, this.length - at, length === undefined ? Infinity : length);
        this.set(bytes.subarray(0, room), at);
        return room;
    }
    fill(value, start = 0, end = this.length, encoding) {
        if (typeof start === 'string') [start, end, encoding] = [0, this.length, start];
        if (typeof value !== 'string' && !ArrayBuffer.isView(value)) return super.fill(value & 255, start, end);
        const bytes = typeof value === 'string' ? encode(value, encoding) : value;
        if (bytes.length === 0) return super.fill(0, start, end);
        for (let index = start; index < end; index++) this[index] = bytes[(index - start) % bytes.length];
        return this;
    }
    indexOf(value, at, encoding) { return search(this, value, at, encoding, 1); }
    lastIndexOf(value, at, encoding) { return search(this, value, at, encoding, -1); }
    includes(value, at, encoding) { return this.indexOf(value, at, encoding) !== -1; }
    swap16() { for (let index = 0; index + 1 < this.length; index += 2) [this[index], this[index + 1]] = [this[index + 1], this[index]]; return this; }
    get parent() { return this.buffer; }
    get offset() { return this.byteOffset; }
    [internal.inspect.custom](depth, options) {
        const shown = [...this.subarray(0, 50)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
        const rest = this.length - 50;
        return `<Buffer${shown ? ' ' : ''}${shown}${rest > 0 ? ` ... ${rest} more byte${rest > 1 ? 's' : ''}` : ''}>`;
    }
}
function search(self, value, at, encoding, step) {
    if (typeof at === 'string') [at, encoding] = [undefined, at];
    if (typeof value === 'number') return step > 0 ? Uint8Array.prototype.indexOf.call(self, value & 255, at) : Uint8Array.prototype.lastIndexOf.call(self, value & 255, at === undefined ? self.length : at);
    const bytes = typeof value === 'string' ? encode(value, encoding) : value;
    let start = at === undefined ? (step > 0 ? 0 : self.length) : at < 0 ? self.length + at : at;
    for (let index = Math.min(start, self.length - bytes.length); index >= 0 && index + bytes.length <= self.length; index += step) {
        let same = 0;
        while (same < bytes.length && self[index + same] === bytes[same]) same++;
        if (same === bytes.length) return index;
    }
    return -1;
}
function wrap(bytes) { return Object.setPrototypeOf(bytes, FastBuffer.prototype); }
const view = (self) => new DataView(self.buffer, self.byteOffset, self.byteLength);
const checked = (self, at, size) => {
    if (typeof at !== 'number') throw internal.badArgument('offset', 'of type number', at);
    if (!Number.isInteger(at)) throw outOfRange('offset', 'an integer', at);
    if (at < 0 || at + size > self.length) {
        if (self.length < size) throw internal.coded(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds');
        throw outOfRange('offset', `>= 0 and <= ${self.length - size}`, at);
    }
};
for (const [name, kind, size] of [['UInt8', 'Uint8', 1], ['Int8', 'Int8', 1], ['UInt16', 'Uint16', 2], ['Int16', 'Int16', 2], ['UInt32', 'Uint32', 4], ['Int32', 'Int32', 4], ['Float', 'Float32', 4], ['Double', 'Float64', 8], ['BigUInt64', 'BigUint64', 8], ['BigInt64', 'BigInt64', 8]]) {
    for (const order of size === 1 ? [''] : ['LE', 'BE']) {
        const read = function (at = 0) { checked(this, at, size); return view(this)[`get${kind}`](at, order === 'LE'); };
        const write = function (value, at = 0) {
            checked(this, at, size);
            if (!/Float|Big/.test(kind)) {
                const low = kind.startsWith('Int') ? -(2 ** (size * 8 - 1)) : 0, high = kind.startsWith('Int') ? 2 ** (size * 8 - 1) - 1 : 2 ** (size * 8) - 1;
                if (value < low || value > high) throw outOfRange('value', `>= ${low} and <= ${high}`, value);
            }
            view(this)[`set${kind}`](at, value, order === 'LE');
            return at + size;
        };
        for (const alias of [name, name.replace('UInt', 'Uint')]) {
            internal.define(FastBuffer.prototype, `read${alias}${order}`, read);
            internal.define(FastBuffer.prototype, `write${alias}${order}`, write);
        }
    }
}
for (const [isSigned, isLittle] of [[false, true], [false, false], [true, true], [true, false]]) {
    const ending = `${isSigned ? 'Int' : 'UInt'}${isLittle ? 'LE' : 'BE'}`;
    internal.define(FastBuffer.prototype, `read${ending}`, function (at, size) {
        let value = 0;
        for (let index = 0; index < size; index++) value = value * 256 + this[isLittle ? at + size - 1 - index : at + index];
        return isSigned && value >= 2 ** (8 * size - 1) ? value - 2 ** (8 * size) : value;
    });
    internal.define(FastBuffer.prototype, `write${ending}`, function (value, at, size) {
        if (value < 0) value += 2 ** (8 * size);
        for (let index = 0; index < size; index++) { this[isLittle ? at + index : at + size - 1 - index] = value % 256; value = Math.floor(value / 256); }
        return at + size;
    });
}
FastBuffer.allocUnsafe = FastBuffer.allocUnsafeSlow = (size) => FastBuffer.alloc(size);
FastBuffer.poolSize = 8192;
Object.defineProperty(FastBuffer, 'name', { value: 'Buffer' });
const Buffer = new Proxy(FastBuffer, {
    apply(target, self, [value, encoding, length]) { return typeof value === 'number' ? FastBuffer.alloc(value) : FastBuffer.from(value, encoding, length); },
    construct(target, given, maker) {
        if (maker === Buffer && (typeof given[0] === 'string' || Array.isArray(given[0]))) return FastBuffer.from(...given);
        return Reflect.construct(target, given, maker === Buffer ? target : maker);
    },
});
internal.define(FastBuffer.prototype, 'constructor', Buffer);
const simple = { atob: (text) => decode(fromBase64(String(text)), 'latin1'), btoa: (text) => toBase64(encode(String(text), 'latin1')) };
internal.provide('buffer', () => ({
    Buffer, kMaxLength: 4294967296, constants: { MAX_LENGTH: 4294967296, MAX_STRING_LENGTH: 536870888 }, SlowBuffer: Buffer, ...simple,
    get Blob() { return globalThis.Blob; }, isUtf8: (bytes) => !host.decode(bytes).includes('\uFFFD'), isAscii: (bytes) => bytes.every((byte) => byte < 128),
    transcode: (bytes, from, to) => FastBuffer.from(decode(bytes, from), to),
}));
})
