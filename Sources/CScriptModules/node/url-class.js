// The class URL, and what url had before it.
(function (internal) {
'use strict';
const { parse, bad, special, escaped, inUser, inFragment, inQuery, pathOf, hostOf } = internal.urlParts;
const { URLSearchParams } = internal;
const whole = (at) => {
    let out = at.protocol;
    if (at.hasAuthority) {
        out += '//';
        if (at.username || at.password) out += `${at.username}${at.password ? `:${at.password}` : ''}@`;
        out += at.hostname + (at.port ? `:${at.port}` : '');
    }
    return out + at.pathname + (at.search ? `?${at.search}` : '') + (at.hash ? `#${at.hash}` : '');
};
class URL {
    #at;
    #params;
    constructor(input, base) {
        let from;
        if (base !== undefined) {
            from = parse(String(base));
            if (!from) throw bad(String(input), String(base));
        }
        this.#at = parse(String(input), from);
        if (!this.#at) throw bad(String(input), base === undefined ? undefined : String(base));
    }
    static canParse(input, base) { try { new URL(input, base); return true; } catch { return false; } }
    static createObjectURL() { throw internal.absent('URL.createObjectURL', 'there is nothing that would open it'); }
    get href() { return whole(this.#at); }
    set href(value) { const found = parse(String(value)); if (!found) throw bad(String(value)); this.#at = found; if (this.#params) this.#params.read(found.search); }
    get origin() { return this.#at.protocol in special && this.#at.protocol !== 'file:' ? `${this.#at.protocol}//${this.host}` : 'null'; }
    get protocol() { return this.#at.protocol; }
    set protocol(value) { const name = String(value).replace(/:.*$/, '').toLowerCase() + ':'; if ((name in special) === (this.#at.protocol in special)) { this.#at.protocol = name; if (this.#at.port === special[name]) this.#at.port = ''; } }
    get username() { return this.#at.username; }
    set username(value) { this.#at.username = escaped(String(value), inUser); }
    get password() { return this.#at.password; }
    set password(value) { this.#at.password = escaped(String(value), inUser); }
    get host() { return this.#at.hostname + (this.#at.port ? `:${this.#at.port}` : ''); }
    set host(value) { const [name, port] = String(value).split(/:(\d*)$/); this.hostname = name; if (port !== undefined) this.port = port; }
    get hostname() { return this.#at.hostname; }
    set hostname(value) { const found = hostOf(String(value), this.#at.protocol in special); if (found !== undefined && !this.#at.isOpaque) this.#at.hostname = found; }
    get port() { return this.#at.port; }
    set port(value) { const found = /^\d+/.exec(String(value)); this.#at.port = String(value) === '' ? '' : !found || Number(found[0]) > 65535 ? this.#at.port : String(Number(found[0])) === special[this.#at.protocol] ? '' : String(Number(found[0])); }
    get pathname() { return this.#at.pathname; }
    set pathname(value) { if (!this.#at.isOpaque) this.#at.pathname = pathOf(String(value).replace(/^[/\\]/, ''), this.#at.protocol in special, false); }
    get search() { return this.#at.search ? `?${this.#at.search}` : ''; }
    set search(value) { this.#at.search = escaped(String(value).replace(/^\?/, ''), `${inQuery}'`); if (this.#params) this.#params.read(this.#at.search); }
    get searchParams() { return this.#params || (this.#params = new URLSearchParams(this.#at.search, (text) => { this.#at.search = text; })); }
    get hash() { return this.#at.hash ? `#${this.#at.hash}` : ''; }
    set hash(value) { this.#at.hash = escaped(String(value).replace(/^#/, ''), inFragment); }
    toString() { return this.href; }
    toJSON() { return this.href; }
    get [Symbol.toStringTag]() { return 'URL'; }
    [internal.inspect.custom](depth, options) {
        if (typeof depth === 'number' && depth < 0) return '[URL]';
        const parts = Object.create({ constructor: URL });
        for (const key of ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash']) parts[key] = this[key];
        return `URL ${internal.inspect(Object.assign({}, parts), { ...options, customInspect: true })}`;
    }
}
for (const key of ['href', 'origin', 'protocol', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash']) {
    Object.defineProperty(URL.prototype, key, { ...Object.getOwnPropertyDescriptor(URL.prototype, key), enumerable: true });
}
const fileURLToPath = (value) => {
    const url = value instanceof URL ? value : new URL(value);
    if (url.protocol !== 'file:') throw internal.coded(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
    return decodeURIComponent(url.pathname);
};
function legacy(text) {
    const out = { protocol: null, slashes: null, auth: null, host: null, port: null, hostname: null, hash: null, search: null, query: null, pathname: null, path: null, href: text };
    const found = /^(?:([A-Za-z][A-Za-z0-9+.-]*:)(\/\/)?)?(?:(?<=\/\/)(?:([^@/?#]*)@)?([^:/?#]*)(?::(\d*))?)?([^?#]*)(\?[^#]*)?(#.*)?$/.exec(text.trim());
    if (!found) return out;
    const [, protocol, slashes, auth, hostname, port, pathname, search, hash] = found;
    if (protocol) out.protocol = protocol.toLowerCase();
    if (slashes) { out.slashes = true; out.hostname = (hostname || '').toLowerCase(); out.port = port || null; out.host = out.hostname + (port ? `:${port}` : ''); }
    if (auth !== undefined) out.auth = decodeURIComponent(auth);
    out.hash = hash || null;
    out.search = search || null;
    out.query = search ? search.slice(1) : null;
    out.pathname = pathname || (slashes ? '/' : null);
    out.path = (out.pathname || '') + (out.search || '') || null;
    out.href = (out.protocol || '') + (slashes ? '//' : '') + (auth ? `${auth}@` : '') + (out.host || '') + (out.pathname || '') + (out.search || '') + (out.hash || '');
    return out;
}
internal.provide('url', () => ({
    URL, URLSearchParams, fileURLToPath,
    pathToFileURL: (path) => new URL(`file://${escaped(internal.require('path').resolve(path), '%?#\\"<>`{}^')}`),
    parse(text, parsesQuery) { const out = legacy(String(text)); if (parsesQuery) out.query = internal.require('querystring').parse(out.query || ''); return out; },
    format(value) {
        if (value instanceof URL) return value.href;
        if (typeof value === 'string') return legacy(value).href;
        const host = value.host || (value.hostname ? value.hostname + (value.port ? `:${value.port}` : '') : '');
        const search = value.search || (value.query && typeof value.query === 'object' ? `?${internal.require('querystring').stringify(value.query)}` : '');
        const protocol = value.protocol ? value.protocol.replace(/:?$/, ':') : '';
        return protocol + (value.slashes || host ? '//' : '') + (value.auth ? `${value.auth}@` : '') + host + (value.pathname || '') + search + (value.hash || '');
    },
    resolve: (from, to) => { const url = new URL(to, new URL(from, 'resolve://')); return url.protocol === 'resolve:' ? url.pathname + url.search + url.hash : url.href; },
    domainToASCII: (name) => name, domainToUnicode: (name) => name,
    urlToHttpOptions: (url) => ({ protocol: url.protocol, hostname: url.hostname, path: url.pathname + url.search, href: url.href, hash: url.hash, search: url.search, pathname: url.pathname, port: url.port === '' ? '' : Number(url.port) }),
}));
})
