// require, import, and the program itself.
(function (internal) {
'use strict';
const { host } = internal;
internal.sources = new Map();
internal.heads = new Map();  // letters put before the first line of a file
const cache = Object.create(null);
const why = {
    child_process: 'programs cannot be started here. The shell this runs in has its own commands: leave node, and run them there',
    cluster: 'programs cannot be started here', worker_threads: 'a program has one thread here', inspector: 'there is no debugger here',
    net: 'there are no sockets here', tls: 'there are no sockets here', dgram: 'there are no sockets here', dns: 'there are no sockets here',
    http: 'there are no sockets here; use fetch', https: 'there are no sockets here; use fetch', http2: 'there are no sockets here; use fetch',
    zlib: 'use the commands gzip, tar and zip of the shell', vm: 'use new Function', v8: 'the engine is JavaScriptCore', repl: 'there is no terminal here', tty: 'there is no terminal here', wasi: 'it has no host here', sqlite: 'there is no database here',
};
internal.absentModules = why;
const strip = (name) => (name.startsWith('node:') ? name.slice(5) : name);
internal.isBuiltin = (name) => strip(name) in internal.loaders || strip(name) in why;
const kindOf = (path) => host.files('kind', path);  // 'file', 'folder' or ''
const read = (path) => host.files('text', path);

function Module(id, parent) {
    this.id = id;
    this.path = internal.require('path').dirname(id);
    this.exports = {};
    this.filename = id;
    this.loaded = false;
    this.children = [];
    this.paths = foldersFor(this.path);
    if (parent) parent.children.push(this);
}
Module.prototype.require = function (name) { return requireFrom(this)(name); };
function foldersFor(folder) {
    const out = [];
    for (let at = folder; ; at = internal.require('path').dirname(at)) {
        if (!at.endsWith('/node_modules')) out.push(at === '/' ? '/node_modules' : `${at}/node_modules`);
        if (at === '/') return out;
    }
}
const json = (path) => { try { return JSON.parse(read(path)); } catch { return undefined; } };
function exported(target, conditions) {
    if (typeof target === 'string') return target;
    if (Array.isArray(target)) { for (const one of target) { const found = exported(one, conditions); if (found) return found; } return undefined; }
    if (target && typeof target === 'object') for (const key in target) if (key === 'default' || conditions.includes(key)) { const found = exported(target[key], conditions); if (found) return found; }
    return undefined;
}
function asFile(path) {
    for (const ending of ['', '.js', '.json', '.cjs', '.mjs']) if (kindOf(path + ending) === 'file') return path + ending;
    if (kindOf(path) !== 'folder') return undefined;
    const about = json(`${path}/package.json`);
    if (about && typeof about.main === 'string' && about.main !== '.') { const found = asFile(internal.require('path').join(path, about.main)); if (found) return found; }
    for (const name of ['/index.js', '/index.json', '/index.cjs', '/index.mjs']) if (kindOf(path + name) === 'file') return path + name;
    return undefined;
}
function resolve(name, folder, conditions) {
    const path = internal.require('path');
    if (typeof name !== 'string') throw internal.badArgument('id', 'of type string', name);
    if (name === '') throw internal.coded(TypeError, 'ERR_INVALID_ARG_VALUE', "The argument 'id' must be a non-empty string. Received ''");
    if (name.startsWith('file:')) name = internal.require('url').fileURLToPath(name);
    if (/^(\.{0,2}\/|\.{1,2}$)/.test(name)) { const found = asFile(path.resolve(folder, name)); if (found) return found; }
    else {
        const parts = name.split('/'), own = parts.splice(0, name.startsWith('@') ? 2 : 1).join('/'), rest = parts.join('/');
        for (const at of foldersFor(folder)) {
            const about = kindOf(`${at}/${own}`) === 'folder' ? json(`${at}/${own}/package.json`) : undefined;
            if (about && about.exports !== undefined) {
                const isPlain = typeof about.exports === 'string' || Array.isArray(about.exports) || !Object.keys(about.exports).some((key) => key.startsWith('.'));
                const target = exported(isPlain ? (rest ? undefined : about.exports) : about.exports[rest ? `./${rest}` : '.'], conditions);
                if (target) return path.join(at, own, target);
            }
            const found = asFile(`${at}/${name}`);
            if (found) return found;
        }
    }
    return undefined;
}
function notFound(name, from) {
    if (strip(name) in why) return internal.absent(`The module "${strip(name)}"`, why[strip(name)]);
    const isPackage = !/^[./]/.test(name);
    return internal.coded(Error, 'MODULE_NOT_FOUND', `Cannot find module '${name}'\nRequire stack:\n- ${from}${isPackage ? '\nPackages of npm cannot be installed here; put the package\'s files into node_modules.' : ''}`, { requireStack: [from] });
}
function requireFrom(module) {
    const find = (name) => {
        if (typeof name === 'string' && (strip(name) in internal.loaders)) return name;
        const found = resolve(name, module.path, ['node', 'require']);
        if (!found) throw notFound(name, module.filename);
        return host.files('realpath', found);
    };
    const own = (name) => {
        const found = find(name);
        return strip(found) in internal.loaders && !found.startsWith('/') ? internal.require(strip(found)) : loadFile(found, module).exports;
    };
    own.resolve = find;
    own.resolve.paths = () => module.paths;
    own.cache = cache;
    own.main = internal.main;
    own.extensions = { '.js': () => {}, '.json': () => {} };
    return own;
}
function isModern(path, source) {
    if (path.endsWith('.mjs')) return true;
    if (path.endsWith('.cjs') || path.endsWith('.json')) return false;
    for (const folder of foldersFor(internal.require('path').dirname(path))) {
        const about = json(folder.replace(/node_modules$/, 'package.json'));
        if (about) { if (about.type === 'module') return true; if (about.type === 'commonjs') return false; break; }
    }
    return /\b(import|export)\b/.test(source) && internal.modern().hasModuleSyntax(source);
}
const clean = (source) => (source.charCodeAt(0) === 0xFEFF ? source.slice(1) : source).replace(/^#!/, '//');
function loadFile(path, parent) {
    if (cache[path]) return cache[path];
    const module = new Module(path, parent), source = read(path);
    cache[path] = module;
    try {
        if (path.endsWith('.json')) {
            try { module.exports = JSON.parse(clean(source)); } catch (error) { error.message = `${path}: ${error.message}`; throw error; }
        } else if (path.endsWith('.node')) {
            throw internal.absent(path, 'compiled add-ons cannot be loaded');
        } else if (isModern(path, source)) {
            throw internal.coded(Error, 'ERR_REQUIRE_ESM', `require() of ES Module ${path} is not supported. Use import() instead.`);
        } else run(module, source);
    } catch (error) {
        delete cache[path];
        throw error;
    }
    module.loaded = true;
    return module;
}
function run(module, source) {
    internal.sources.set(module.filename, source);
    const text = clean(source).replace(/\bimport\s*\(/g, (found) => `__import${found.slice(6)}`);
    const head = '(function (exports, require, module, __filename, __dirname, __import) {';
    internal.heads.set(module.filename, head.length);
    const make = host.compile(`${head}${text}\n})`, module.filename);
    Reflect.apply(make, module.exports, [module.exports, requireFrom(module), module, module.filename, module.path, (name) => internal.modern().importFrom(name, module.path, module.filename)]);
}
Module._load = (name) => requireFrom(internal.main || new Module('/workspace/[eval]'))(name);
Module.builtinModules = [];
Module.createRequire = (from) => requireFrom(new Module(String(from).startsWith('file:') ? internal.require('url').fileURLToPath(from) : String(from)));
Module.isBuiltin = internal.isBuiltin;
Module._cache = cache;
Module._nodeModulePaths = foldersFor;
Module.Module = Module;
internal.provide('module', () => { Module.builtinModules = Object.keys(internal.loaders); return Module; });
internal.modern = () => { internal.load('modern'); return internal.modernModules; };
Object.assign(internal, { resolve, notFound, requireFrom, loadFile, isModern, clean, Module, moduleCache: cache, readText: read });

// ---- the program
internal.start = (given) => {
    internal.begin();
    const { process } = internal, path = internal.require('path');
    if (given.file !== undefined) {
        const full = path.resolve(given.file), found = asFile(full);
        process.argv = ['/usr/bin/node', found || full, ...given.arguments];
        internal.turn(() => {
            if (!found) { const error = host.files('reason', full); throw error ? new Error(error) : internal.coded(Error, 'MODULE_NOT_FOUND', `Cannot find module '${full}'`, { requireStack: [] }); }
            const real = host.files('realpath', found);
            if (isModern(real, read(real))) { internal.modern().runMain(real); return; }
            internal.main = new Module(real);
            internal.main.id = '.';
            cache[real] = internal.main;
            run(internal.main, read(real));
            internal.main.loaded = true;
        });
        return;
    }
    process.argv = ['/usr/bin/node', ...given.arguments];
    const name = given.isInput ? '[stdin]' : '[eval]', where = `${host.cwd()}/${name}`;
    const module = internal.main = new Module(where);
    internal.turn(() => {
        if (/\b(import|export)\b/.test(given.code) && internal.modern().hasModuleSyntax(given.code)) { internal.modern().runMain(where, given.code); return; }
        for (const key of Object.keys(internal.loaders)) if (!key.includes('/') && !(key in globalThis)) internal.lazyGlobal(key, () => internal.require(key));
        Object.assign(globalThis, { module, exports: module.exports, require: requireFrom(module), __filename: name, __dirname: '.' });
        for (const key of ['module', 'exports', 'require', '__filename', '__dirname']) internal.define(globalThis, key, globalThis[key]);
        internal.define(globalThis, '__import', (from) => internal.modern().importFrom(from, module.path, where));
        internal.sources.set(where, given.code);
        const value = host.evaluate(clean(given.code).replace(/\bimport\s*\(/g, (found) => `__import${found.slice(6)}`), where);
        if (given.prints) console.log(value);
    });
};
})
