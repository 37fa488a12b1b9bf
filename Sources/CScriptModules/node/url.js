// url: the URL standard's parser as far as programs here meet it; no international domain names.
(function (internal) {
'use strict';
const special = { 'http:': '80', 'https:': '443', 'ftp:': '21', 'ws:': '80', 'wss:': '443', 'file:': '' };
const bad = (input, base) => internal.coded(TypeError, 'ERR_INVALID_URL', 'Invalid URL', base === undefined ? { input } : { input, base });
const escaped = (text, wanted) => {
    let out = '';
    for (const letter of text) {
        const code = letter.codePointAt(0);
        if (code > 32 && code < 127 && !wanted.includes(letter)) out += letter;
        else for (const byte of internal.host.encode(letter)) out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    }
    return out;
};
const inPath = '"#<>?`{}^', inQuery = '"#<>', inFragment = '"<>`', inUser = '"#<>?`{}/:;=@[\\]^|';
function hostOf(text, isSpecial) {
    if (text.startsWith('[')) return /^\[[0-9a-fA-F:.]+\]$/.test(text) ? text.toLowerCase() : undefined;
    if (!isSpecial) return /[\s#/<>?@[\\\]^|]/.test(text) ? undefined : escaped(text, '');
    let name;
    try { name = decodeURIComponent(text).toLowerCase(); } catch { return undefined; }
    if (name === '' || /[\x00-\x20#/:<>?@[\\\]^|%\x7f]/.test(name)) return undefined;
    const parts = name.replace(/\.$/, '').split('.');
    if (/^(0x[0-9a-f]*|\d+)$/.test(parts[parts.length - 1])) {
        if (parts.length > 4) return undefined;
        const numbers = parts.map((part) => (/^0x[0-9a-f]*$/.test(part) ? parseInt(part.slice(2) || '0', 16) : /^0\d*$/.test(part) ? (/[89]/.test(part) ? NaN : parseInt(part, 8)) : /^\d+$/.test(part) ? Number(part) : NaN));
        if (numbers.some(Number.isNaN) || numbers.slice(0, -1).some((one) => one > 255) || numbers[numbers.length - 1] >= 256 ** (5 - numbers.length)) return undefined;
        let value = numbers[numbers.length - 1];
        numbers.slice(0, -1).forEach((one, index) => { value += one * 256 ** (3 - index); });
        return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
    }
    return name;
}
function pathOf(text, isSpecial, isFile) {
    const out = [], parts = (isSpecial ? text.replaceAll('\\', '/') : text).split('/');
    parts.forEach((part, index) => {
        const isLast = index === parts.length - 1, plain = part.replace(/%2e/gi, '.');
        if (plain === '..') { if (out.length > 1 || !isFile || !/^[A-Za-z]:$/.test(out[0] || '')) out.pop(); if (isLast) out.push(''); }
        else if (plain === '.') { if (isLast) out.push(''); }
        else out.push(escaped(part, inPath));
    });
    return `/${out.join('/')}`;
}
function parse(input, base) {
    const text = input.replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const out = { protocol: '', username: '', password: '', hostname: '', port: '', pathname: '', search: '', hash: '', isOpaque: false };
    const mark = text.indexOf('#');
    if (mark >= 0) out.hash = escaped(text.slice(mark + 1), inFragment);
    let rest = mark >= 0 ? text.slice(0, mark) : text;
    const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(rest);
    const hasBase = base && !(scheme && !(scheme[1].toLowerCase() + ':' === base.protocol && base.protocol in special && !/^[A-Za-z][^/\\]*:[/\\]/.test(rest)));
    if (scheme && (!base || scheme[1].toLowerCase() + ':' !== base.protocol || !(base.protocol in special) || /^[^:]*:[/\\]/.test(rest))) {
        out.protocol = scheme[1].toLowerCase() + ':';
        rest = rest.slice(scheme[0].length);
    } else if (base) {
        if (scheme) rest = rest.slice(scheme[0].length);
        out.protocol = base.protocol;
        if (base.isOpaque && rest !== '') return undefined;
    } else return undefined;
    const isSpecial = out.protocol in special, isFile = out.protocol === 'file:';
    const query = rest.indexOf('?');
    let hasQuery = query >= 0;
    if (hasQuery) { out.search = escaped(rest.slice(query + 1), isSpecial ? inQuery + "'" : inQuery); rest = rest.slice(0, query); }
    const slashes = isSpecial ? /^[/\\]{2}/ : /^\/\//;
    const usesBase = base && (!scheme || scheme[1].toLowerCase() + ':' === base.protocol) && !slashes.test(rest) && hasBase !== undefined && !(scheme && /^[^:]*:[/\\]/.test(text));
    if (slashes.test(rest) || (isSpecial && !isFile && !usesBase)) {
        rest = isSpecial && !isFile ? rest.replace(/^[/\\]*/, '') : rest.slice(2);
        const end = rest.search(isSpecial ? /[/\\]/ : /\//);
        let authority = end < 0 ? rest : rest.slice(0, end);
        rest = end < 0 ? '' : rest.slice(end);
        const at = authority.lastIndexOf('@');
        if (at >= 0) {
            const [user, ...password] = authority.slice(0, at).split(':');
            out.username = escaped(user, inUser);
            out.password = escaped(password.join(':'), inUser);
            authority = authority.slice(at + 1);
        }
        const port = /:(\d*)$/.exec(authority);
        if (port && !isFile) {
            if (Number(port[1]) > 65535) return undefined;
            out.port = port[1] === '' || String(Number(port[1])) === special[out.protocol] ? '' : String(Number(port[1]));
            authority = authority.slice(0, port.index);
        }
        if (authority === '' && isFile) out.hostname = '';
        else if (authority === '' && !isSpecial) out.hostname = '';
        else {
            const found = hostOf(authority, isSpecial);
            if (found === undefined) return undefined;
            out.hostname = isFile && found === 'localhost' ? '' : found;
        }
        out.hasAuthority = true;
        out.pathname = rest === '' ? (isSpecial ? '/' : '') : pathOf(rest.slice(1), isSpecial, isFile);
    } else if (usesBase) {
        for (const key of ['username', 'password', 'hostname', 'port', 'hasAuthority']) out[key] = base[key];
        if (rest === '') {
            out.pathname = base.pathname;
            out.isOpaque = base.isOpaque;
            if (!hasQuery) { out.search = base.search; hasQuery = base.search !== ''; }
        } else if (/^[/\\]/.test(rest) && (isSpecial || rest[0] === '/')) out.pathname = pathOf(rest.slice(1), isSpecial, isFile);
        else out.pathname = pathOf(base.pathname.replace(/[^/]*$/, '').slice(1) + rest, isSpecial, isFile);
    } else if (isFile) {
        out.hasAuthority = true;
        out.pathname = pathOf(rest.replace(/^[/\\]/, ''), true, true);
    } else if (rest.startsWith('/')) out.pathname = pathOf(rest.slice(1), false, false);
    else { out.isOpaque = true; out.pathname = escaped(rest, '').replaceAll('%20', ' '); }
    return out;
}

class URLSearchParams {
    #list = [];
    #changed;
    constructor(init = '', changed) {
        this.#changed = typeof changed === 'function' ? changed : undefined;
        if (typeof init === 'object' && init !== null) {
            if (typeof init[Symbol.iterator] === 'function') {
                for (const pair of init) {
                    if (typeof pair !== 'object' || [...pair].length !== 2) throw internal.coded(TypeError, 'ERR_INVALID_TUPLE', 'Each query pair must be an iterable [name, value] tuple');
                    this.#list.push([...pair].map(String));
                }
            } else for (const key of Object.keys(init)) this.#list.push([key, String(init[key])]);
        } else this.read(String(init));
    }
    read(text) {
        const plain = (part) => internal.host.decode(Uint8Array.from((function* () {
            const bytes = internal.host.encode(part.replaceAll('+', ' '));
            for (let index = 0; index < bytes.length; index++) {
                const code = bytes[index] === 37 ? String.fromCharCode(bytes[index + 1] || 0, bytes[index + 2] || 0) : '';
                if (/^[0-9a-fA-F]{2}$/.test(code)) { yield parseInt(code, 16); index += 2; } else yield bytes[index];
            }
        })()));
        this.#list = text.replace(/^\?/, '').split('&').filter(Boolean).map((part) => {
            const sign = part.indexOf('=');
            return sign < 0 ? [plain(part), ''] : [plain(part.slice(0, sign)), plain(part.slice(sign + 1))];
        });
    }
    #tell() { if (this.#changed) this.#changed(this.toString()); }
    get size() { return this.#list.length; }
    append(name, value) { this.#list.push([String(name), String(value)]); this.#tell(); }
    delete(name, value) { this.#list = this.#list.filter(([key, one]) => key !== String(name) || (value !== undefined && one !== String(value))); this.#tell(); }
    get(name) { const found = this.#list.find(([key]) => key === String(name)); return found ? found[1] : null; }
    getAll(name) { return this.#list.filter(([key]) => key === String(name)).map(([, value]) => value); }
    has(name, value) { return this.#list.some(([key, one]) => key === String(name) && (value === undefined || one === String(value))); }
    set(name, value) {
        const first = this.#list.findIndex(([key]) => key === String(name));
        if (first < 0) return this.append(name, value);
        this.#list[first][1] = String(value);
        this.#list = this.#list.filter(([key], index) => key !== String(name) || index === first);
        this.#tell();
    }
    sort() { this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); this.#tell(); }
    forEach(body, self) { for (const [key, value] of this.#list) body.call(self, value, key, this); }
    *entries() { for (const [key, value] of this.#list) yield [key, value]; }
    *keys() { for (const [key] of this.#list) yield key; }
    *values() { for (const [, value] of this.#list) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    toString() {
        const text = (part) => [...internal.host.encode(part)].map((byte) => { const letter = String.fromCharCode(byte); return /[A-Za-z0-9*._-]/.test(letter) ? letter : byte === 32 ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`; }).join('');
        return this.#list.map(([key, value]) => `${text(key)}=${text(value)}`).join('&');
    }
    get [Symbol.toStringTag]() { return 'URLSearchParams'; }
    [internal.inspect.custom](depth, options) {
        if (this.#list.length === 0) return 'URLSearchParams {}';
        return `URLSearchParams { ${this.#list.map(([key, value]) => `${internal.quoted(key)} => ${internal.quoted(value)}`).join(', ')} }`;
    }
}
Object.assign(internal, { urlParts: { parse, bad, special, escaped, inUser, inFragment, inQuery, pathOf, hostOf }, URLSearchParams });
internal.load('url-class');
internal.provide('punycode', () => { throw internal.absent('The module "punycode"', 'international domain names are not known here'); });
})
