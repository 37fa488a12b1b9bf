// Modules with import and export, rewritten into functions. An imported name is looked up when its module has run.
(function (internal) {
'use strict';
internal.load('tokens');
const { host, tokens } = internal;
const hasModuleSyntax = (source) => {
    const list = tokens(internal.clean(source));
    return list.some((one, index) => one.kind === 'word' && one.depth === 0 && isStatement(list, index));
};
function isStatement(list, index) {
    const one = list[index], before = list[index - 1], after = list[index + 1];
    if (before && (before.text === '.' || before.text === '?.')) return false;
    if (one.text === 'import') return !!after && after.text !== '(' && after.text !== '.' && after.text !== ':' && after.text !== '=';
    return one.text === 'export' && !!after && (after.kind === 'word' || after.text === '{' || after.text === '*');
}
const unquoted = (piece) => (/^['"]/.test(piece) ? host.evaluate(`(${piece})`, 'node:name') : piece);

function rewritten(source) {
    const list = tokens(source), cuts = [], needs = [], exported = new Map(), stars = [];
    const bindings = [];
    let index = 0;
    const peek = (step = 0) => (list[index + step] || { text: '', kind: 'end' });
    const need = (from) => { const known = needs.indexOf(from); return known >= 0 ? known : needs.push(from) - 1; };
    const names = () => {  // { a, b as c }
        const out = [];
        index++;
        while (index < list.length && peek().text !== '}') {
            const from = unquoted(list[index++].text);
            let to = from;
            if (peek().text === 'as') { index++; to = unquoted(list[index++].text); }
            out.push([from, to]);
            if (peek().text === ',') index++;
        }
        index++;
        return out;
    };
    const origin = () => {
        if (peek().text === 'from') index++;
        const from = unquoted(list[index++].text);
        if ((peek().text === 'with' || (peek().text === 'assert' && !peek().isFresh)) && peek(1).text === '{') { while (index < list.length && peek().text !== '}') index++; index++; }
        return from;
    };
    const cut = (start) => { if (peek().text === ';') index++; cuts.push([start, list[index - 1].end, '']); };
    while (index < list.length) {
        const one = list[index];
        if (one.kind === 'word' && one.text === 'import' && !(list[index - 1] && ['.', '?.'].includes(list[index - 1].text))) {
            if (peek(1).text === '(') cuts.push([one.start, one.end, '__import']);
            else if (peek(1).text === '.' && peek(2).text === 'meta') { cuts.push([one.start, list[index + 2].end, '__meta']); index += 2; }
            else if (one.depth === 0 && isStatement(list, index)) {
                index++;
                const wanted = [];
                if (peek().kind === 'word' && peek().text !== 'from' || (peek().text === 'from' && peek(1).text === 'from')) wanted.push(['default', list[index++].text]);
                if (peek().text === ',') index++;
                if (peek().text === '*') { index += 2; wanted.push(['*', list[index++].text]); } else if (peek().text === '{') wanted.push(...names());
                const place = need(origin());
                for (const [from, to] of wanted) bindings.push([place, from, to]);
                cut(one.start);
                continue;
            }
        } else if (one.kind === 'word' && one.text === 'export' && one.depth === 0 && isStatement(list, index)) {
            index++;
            if (peek().text === '{') {
                const pairs = names();
                if (peek().text === 'from') { const place = need(origin()); for (const [from, to] of pairs) exported.set(to, `__pick(${place}, ${JSON.stringify(from)})`); } else for (const [from, to] of pairs) exported.set(to, from);
                cut(one.start);
                continue;
            }
            if (peek().text === '*') {
                index++;
                let name;
                if (peek().text === 'as') { index++; name = unquoted(list[index++].text); }
                const place = need(origin());
                if (name === undefined) stars.push(place); else exported.set(name, `__modules[${place}]`);
                cut(one.start);
                continue;
            }
            if (peek().text === 'default') {
                const after = list[index].end;
                index++;
                let at = index;
                if (list[at].text === 'async' && list[at + 1].text === 'function') at++;
                if (list[at].text === 'function' && list[at + 1].text === '*') at++;
                const named = ['function', 'class', '*'].includes(list[at].text) && list[at + 1].kind === 'word' && list[at + 1].text !== 'extends' && (list[index].text !== '*');
                exported.set('default', named ? list[at + 1].text : '__default');
                cuts.push([one.start, after, named ? '' : 'const __default =']);
                continue;
            }
            cuts.push([one.start, one.end, '']);
            let at = index;
            if (list[at].text === 'async') at++;
            if (['function', 'class'].includes(list[at].text)) { if (list[at + 1].text === '*') at++; exported.set(list[at + 1].text, list[at + 1].text); continue; }
            for (const name of declared(list, at + 1)) exported.set(name, name);
            continue;
        }
        index++;
    }
    let body = '', last = 0;
    for (const [start, end, text] of cuts.sort((a, b) => a[0] - b[0])) { body += source.slice(last, start) + text + source.slice(start, end).replace(/[^\n]/g, ''); last = end; }
    body += source.slice(last);
    const getters = [...exported].map(([name, value]) => `${JSON.stringify(name)}: () => ${value}`).join(', ');
    const heads = bindings.map(([place, from, to]) => (from === '*' ? `const ${to} = __modules[${place}];` : `let ${to}; __bind(${place}, ${JSON.stringify(from)}, (value) => { ${to} = value; });`)).join(' ');
    const head = `(async function (__ready, __pick, __bind, __export, __meta, __import) {'use strict'; __export({ ${getters} }); const __modules = await __ready; ${heads} `;
    return { needs, stars, head: head.length, text: `${head}${body}\n})` };
}

// The names that `const a = 1, { b, c: [d] } = x` makes, from its first word on.
function declared(list, index) {
    const out = [];
    const target = () => {
        const one = list[index];
        if (!one) return;
        if (one.text === '...') { index++; target(); return; }
        if (one.text === '{' || one.text === '[') {
            const close = one.text === '{' ? '}' : ']', isObject = one.text === '{';
            index++;
            while (index < list.length && list[index].text !== close) {
                if (list[index].text === ',') { index++; continue; }
                if (isObject && list[index].text === '[') { skip((text) => text === ':'); index++; target(); }
                else if (isObject && list[index + 1].text === ':') { index += 2; target(); } else target();
                if (list[index] && list[index].text === '=') skip((text) => text === ',' || text === close);
            }
            index++;
            return;
        }
        out.push(one.text);
        index++;
    };
    const skip = (isEnd) => { const depth = list[index].depth; index++; while (index < list.length && !(list[index].depth <= depth && isEnd(list[index].text)) && list[index].depth >= depth - 1 && !(list[index].depth < depth)) index++; };
    while (index < list.length) {
        const depth = list[index].depth;
        target();
        if (list[index] && list[index].text === '=') {
            index++;
            while (index < list.length && !(list[index].depth === depth && [',', ';'].includes(list[index].text))) {
                const one = list[index], before = list[index - 1];
                if (one.isFresh && one.depth === depth && one.kind === 'word' && !['in', 'of', 'instanceof'].includes(one.text) && !(before.kind === 'sign' && !')]}'.includes(before.text)) && !(before.kind === 'word' && ['await', 'new', 'typeof', 'void', 'yield', 'async'].includes(before.text))) return out;
                index++;
            }
        }
        if (!list[index] || list[index].text !== ',') return out;
        index++;
    }
    return out;
}

const records = new Map();
function namespace(getters) {
    const made = Object.create(null);
    for (const name of Object.keys(getters).sort()) Object.defineProperty(made, name, { get: getters[name], enumerable: true, configurable: true });
    Object.defineProperty(made, Symbol.toStringTag, { value: 'Module' });
    return made;
}
const fromObject = (exports) => {
    const getters = { default: () => exports };
    if (exports !== null && (typeof exports === 'object' || typeof exports === 'function')) for (const key of Object.keys(exports)) if (key !== 'default') getters[key] = () => exports[key];
    return namespace(getters);
};
function find(name, folder, from) {
    const plain = name.startsWith('node:') ? name.slice(5) : name;
    if (plain in internal.loaders) return { builtin: plain };
    const path = internal.resolve(name, folder, ['node', 'import']);
    if (!path) throw internal.notFound(name, from);
    return { path: host.files('realpath', path) };
}
async function importFrom(name, folder, from) {
    const found = find(String(name), folder, from);
    if (found.builtin) return fromObject(internal.require(found.builtin));
    const record = evaluate(found.path);
    if (record.promise && !record.isRunning) await record.promise;
    else if (record.promise) await record.promise;
    return record.namespace;
}
function evaluate(path, given) {
    if (records.has(path)) return records.get(path);
    const record = { path, namespace: undefined, promise: undefined };
    records.set(path, record);
    const source = given === undefined ? internal.readText(path) : given;
    if (given === undefined && !internal.isModern(path, source)) {
        record.namespace = fromObject(internal.loadFile(path).exports);
        return record;
    }
    internal.sources.set(path, source);
    record.promise = run(record, source);
    record.promise.catch(() => {});
    return record;
}
async function run(record, source) {
    const { needs, stars, head, text } = rewritten(internal.clean(source)), folder = internal.require('path').dirname(record.path);
    internal.heads.set(record.path, head);
    const body = host.compile(text, record.path), modules = [], others = [];
    const getters = {};
    record.namespace = namespace({});
    const expose = (more) => {
        Object.assign(getters, more);
        const made = namespace(getters);
        for (const name of Object.keys(made)) if (!(name in record.namespace)) Object.defineProperty(record.namespace, name, Object.getOwnPropertyDescriptor(made, name));
    };
    const pick = (place, name) => {
        if (!(name in modules[place])) throw new SyntaxError(`The requested module '${needs[place]}' does not provide an export named '${name}'`);
        return modules[place][name];
    };
    const bind = (place, name, set) => {
        const other = others[place];
        if (other === undefined || !other.isRunning) { set(pick(place, name)); return; }
        // Of two that need one another the later gets what is there, and the rest when the earlier has run.
        try { set(modules[place][name]); } catch {}
        other.promise.then(() => set(modules[place][name]), () => {});
    };
    const meta = Object.assign(Object.create(null), { dirname: folder, filename: record.path, url: internal.require('url').pathToFileURL(record.path).href, resolve: (name) => { const found = find(name, folder, record.path); return found.builtin ? `node:${found.builtin}` : internal.require('url').pathToFileURL(found.path).href; } });
    let begin;
    record.isRunning = true;
    const done = body(new Promise((resolve) => { begin = resolve; }), pick, bind, expose, meta, (name) => importFrom(name, folder, record.path));
    done.catch(() => {});
    for (const [place, name] of needs.entries()) {
        const found = find(name, folder, record.path);
        if (found.builtin) { modules.push(fromObject(internal.require(found.builtin))); continue; }
        const other = others[place] = evaluate(found.path);
        // Those that wait for one another would wait for ever: the later one sees what there is.
        if (other.promise && !waitsFor(other, record)) { record.waits = other; await other.promise; record.waits = undefined; }
        modules.push(other.namespace);
    }
    for (const place of stars) for (const name of Object.keys(modules[place])) if (name !== 'default') expose({ [name]: () => modules[place][name] });
    begin(modules);
    try { await done; } finally { record.isRunning = false; }
    const made = getters.default && record.namespace.default;
    if (typeof made === 'function' && made.name === '__default') Object.defineProperty(made, 'name', { value: 'default', configurable: true });
}
function waitsFor(one, other) { for (let at = one, steps = 0; at && steps < 10000; at = at.waits, steps++) if (at === other) return true; return false; }
function runMain(path, source) {
    const record = evaluate(path, source);
    if (record.promise) record.promise.then(undefined, (error) => internal.fault(error));
}
internal.modernModules = { hasModuleSyntax, importFrom, runMain };
})
