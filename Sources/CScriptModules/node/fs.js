// fs: each call goes to the host, which walks every path itself. What is asynchronous is done at once and told later.
(function (internal) {
'use strict';
const { host } = internal;
const flags = { r: 1, 'r+': 2, w: 3, wx: 4, 'w+': 5, a: 6, 'a+': 7, ax: 8, rs: 1, 'wx+': 9, 'ax+': 8, as: 6 };
const bufferOf = (bytes) => internal.require('buffer').Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const folder = () => host.cwd();
const full = (path, name = 'path') => {
    if (path instanceof Uint8Array) path = host.decode(path);
    if (path !== null && typeof path === 'object' && path.href) path = internal.require('url').fileURLToPath(path);
    if (typeof path !== 'string') throw internal.badArgument(name, 'of type string or an instance of Buffer or URL', path);
    if (path.includes('\0')) throw internal.coded(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument '${name}' must be a string, Uint8Array, or URL without null bytes. Received ${internal.quoted(path)}`);
    return path;
};
const encodingOf = (options) => (typeof options === 'string' ? options : options && options.encoding);
const flagOf = (options, fallback) => (options && typeof options === 'object' && options.flag) || fallback;
const said = (bytes, options) => { const encoding = encodingOf(options); return encoding && encoding !== 'buffer' ? bufferOf(bytes).toString(encoding) : bufferOf(bytes); };
const bytesOf = (data, options) => {
    if (typeof data === 'string') return internal.require('buffer').Buffer.from(data, encodingOf(options) || 'utf8');
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    throw internal.badArgument('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data);
};
const call = (name, ...given) => {
    try { return host.files(name, ...given); } catch (error) {
        // The place where the program asked, not where the answer was made.
        const own = new Error(error.message);
        throw Object.assign(own, { errno: error.errno, code: error.code, syscall: error.syscall, ...(error.path === undefined ? {} : { path: error.path }), ...(error.dest === undefined ? {} : { dest: error.dest }) });
    }
};

class Stats {
    constructor(found) {
        const type = { file: 0o100000, folder: 0o040000, link: 0o120000, special: 0o060000 }[found.kind];
        Object.assign(this, { dev: 1, mode: type | found.rights, nlink: found.links, uid: 1000, gid: 1000, rdev: 0, blksize: 4096, ino: found.inode, size: found.bytes, blocks: Math.ceil(found.bytes / 512), atimeMs: found.modified, mtimeMs: found.modified, ctimeMs: found.modified, birthtimeMs: found.modified });
        for (const key of ['atime', 'mtime', 'ctime', 'birthtime']) this[key] = new Date(found.modified);
    }
    isFile() { return (this.mode & 0o170000) === 0o100000; }
    isDirectory() { return (this.mode & 0o170000) === 0o040000; }
    isSymbolicLink() { return (this.mode & 0o170000) === 0o120000; }
    isFIFO() { return false; }
    isSocket() { return false; }
    isBlockDevice() { return false; }
    isCharacterDevice() { return false; }
}
class Dirent {
    #kind;
    constructor(name, path, kind) { this.name = name; this.parentPath = path; this.path = path; this.#kind = kind; }
    isFile() { return this.#kind === 'file'; }
    isDirectory() { return this.#kind === 'folder'; }
    isSymbolicLink() { return this.#kind === 'link'; }
    isFIFO() { return false; }
    isSocket() { return false; }
    isBlockDevice() { return false; }
    isCharacterDevice() { return false; }
}

const opened = new Map();  // number -> { path, at } of the files that are open
let nextNumber = 20;
const fileOf = (number) => {
    if (typeof number === 'object' && number !== null) number = number.fd;
    const found = opened.get(number);
    if (!found) throw Object.assign(new Error('EBADF: bad file descriptor'), { errno: -9, code: 'EBADF', syscall: 'read' });
    return found;
};
const statOf = (name, path, options) => {
    if (options && options.throwIfNoEntry === false) { try { return new Stats(call(name, path)); } catch (error) { if (error.code === 'ENOENT') return undefined; throw error; } }
    return new Stats(call(name, path));
};
function listed(path, options, prefix = '') {
    const out = [], at = prefix ? `${path}/${prefix}` : path;
    for (const [name, kind] of call('list', at)) {
        const shown = prefix ? `${prefix}/${name}` : name;
        out.push(options && options.withFileTypes ? new Dirent(name, at, kind) : encodingOf(options) === 'buffer' ? bufferOf(host.encode(shown)) : shown);
        if (options && options.recursive && kind === 'folder') out.push(...listed(path, options, shown));
    }
    return out;
}

const sync = {
    readFileSync(path, options) {
        if (typeof path === 'number') {
            if (path === 0) { const parts = []; for (;;) { const bytes = host.read(65536); if (bytes.length === 0) break; parts.push(bufferOf(bytes)); } const { Buffer } = internal.require('buffer'); return said(Uint8Array.from(Buffer.concat(parts)), options); }
            const file = fileOf(path), bytes = call('readAt', file.number, file.at, 4294967295);
            file.at += bytes.length;
            return said(bytes, options);
        }
        if (['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'].includes(path)) return sync.readFileSync(0, options);
        return said(call('read', full(path)), options);
    },
    writeFileSync(path, data, options) {
        if (typeof path === 'number') { sync.writeSync(path, data); return; }
        if (path === '/dev/stdout' || path === '/dev/stderr') { host.write(path === '/dev/stdout' ? 1 : 2, bytesOf(data, options)); return; }
        call('write', full(path), bytesOf(data, options), flags[flagOf(options, 'w')] || 3);
    },
    appendFileSync(path, data, options) { sync.writeFileSync(path, data, { ...(typeof options === 'string' ? { encoding: options } : options), flag: 'a' }); },
    existsSync(path) { try { return call('kind', full(path)) !== ''; } catch { return false; } },
    accessSync(path, mode = 0) {
        const found = call('access', full(path));
        if (mode & 1 && found.kind === 'file' && !(found.rights & 0o111)) throw Object.assign(new Error(`EACCES: permission denied, access '${path}'`), { errno: -13, code: 'EACCES', syscall: 'access', path });
    },
    statSync: (path, options) => statOf('stat', full(path), options),
    lstatSync: (path, options) => statOf('lstat', full(path), options),
    readdirSync: (path, options) => listed(full(path), typeof options === 'string' ? { encoding: options } : options),
    mkdirSync(path, options) { return call('mkdir', full(path), !!(options && options.recursive)); },
    mkdtempSync(prefix) {
        for (;;) {
            const path = full(prefix, 'prefix') + Math.random().toString(36).slice(2, 8).padEnd(6, 'x');
            if (!sync.existsSync(path)) { call('mkdir', path, false); return path; }
        }
    },
    rmdirSync(path, options) { if (options && options.recursive) call('rm', full(path), true, false); else call('rmdir', full(path)); },
    rmSync(path, options = {}) { call('rm', full(path), !!options.recursive, !!options.force); },
    unlinkSync: (path) => call('unlink', full(path)),
    renameSync: (from, to) => call('rename', full(from, 'oldPath'), full(to, 'newPath')),
    copyFileSync(from, to, mode = 0) { call('copy', full(from, 'src'), full(to, 'dest'), (mode & 1) !== 0); },
    cpSync(from, to, options = {}) {
        const stat = sync.statSync(from);
        if (!stat.isDirectory()) { sync.mkdirSync(internal.require('path').dirname(to), { recursive: true }); return sync.copyFileSync(from, to, options.force === false ? 1 : 0); }
        if (!options.recursive) throw internal.coded(Error, 'ERR_FS_EISDIR', `Recursive option not enabled, cannot copy a directory: ${from}`);
        sync.mkdirSync(to, { recursive: true });
        for (const name of sync.readdirSync(from)) if (!options.filter || options.filter(`${from}/${name}`, `${to}/${name}`)) sync.cpSync(`${from}/${name}`, `${to}/${name}`, options);
    },
    symlinkSync: (target, path) => call('symlink', full(target, 'target'), full(path)),
    linkSync: (from, to) => call('link', full(from, 'existingPath'), full(to, 'newPath')),
    readlinkSync: (path) => call('readlink', full(path)),
    realpathSync: (path) => call('realpath', full(path)),
    chmodSync: (path, mode) => call('chmod', full(path), typeof mode === 'string' ? parseInt(mode, 8) : mode),
    chownSync() {}, lchownSync() {},
    utimesSync: (path, accessed, modified) => call('utimes', full(path), Math.floor(modified instanceof Date ? modified.getTime() / 1000 : Number(modified))),
    truncateSync: (path, length = 0) => call('truncate', full(path), length),
    openSync(path, flag = 'r') {
        const kind = typeof flag === 'number' ? (flag & 1024 ? 6 : flag & 512 ? 3 : flag & 3 ? 2 : 1) : flags[flag];
        if (!kind) throw internal.coded(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'flags' is invalid. Received ${internal.inspect(flag)}`);
        const number = call('open', full(path), kind);
        opened.set(++nextNumber, { number, path, at: 0, isAppending: kind >= 6 && kind <= 8 });
        return nextNumber;
    },
    closeSync(number) { call('close', fileOf(number).number); opened.delete(number); },
    readSync(number, buffer, start = 0, length, position) {
        if (start !== null && typeof start === 'object') ({ offset: start = 0, length, position } = start);
        const wanted = length === undefined ? buffer.byteLength - start : length;
        let bytes;
        if (number === 0) bytes = host.read(wanted);
        else {
            const file = fileOf(number), isOwn = position === null || position === undefined || position < 0;
            bytes = call('readAt', file.number, isOwn ? file.at : Number(position), wanted);
            if (isOwn) file.at += bytes.length;
        }
        new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(bytes, start);
        return bytes.length;
    },
    writeSync(number, data, start, length, position) {
        let bytes = bytesOf(data, typeof length === 'string' ? length : undefined);
        if (typeof data === 'string') position = start;
        else bytes = bytes.subarray(start || 0, length === undefined || length === null ? undefined : (start || 0) + length);
        if (number === 1 || number === 2) { host.write(number, bytes); return bytes.length; }
        const file = fileOf(number), isOwn = typeof position !== 'number';
        call('writeAt', file.number, file.isAppending ? -1 : isOwn ? file.at : position, bytes);
        if (isOwn) file.at += bytes.length;
        return bytes.length;
    },
    fstatSync(number) { if (number <= 2) return new Stats({ kind: 'special', rights: 0o620, links: 1, inode: 1, bytes: 0, modified: 0 }); return new Stats(call('statOpen', fileOf(number).number)); },
    ftruncateSync: (number, length = 0) => call('truncateOpen', fileOf(number).number, length),
    fsyncSync() {}, fdatasyncSync() {}, fchmodSync() {}, futimesSync() {},
    opendirSync(path) {
        const list = sync.readdirSync(path, { withFileTypes: true });
        return { path, readSync: () => list.shift() || null, read: async () => list.shift() || null, closeSync() {}, async close() {}, async *[Symbol.asyncIterator]() { yield* list; } };
    },
};
const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFLNK: 0o120000 };
const fs = { ...sync, constants, ...constants, Stats, Dirent };
const promises = { constants };
for (const key of Object.keys(sync)) {
    const name = key.slice(0, -4);
    promises[name] = async (...given) => sync[key](...given);
    fs[name] = (...given) => {
        const done = given.pop();
        if (typeof done !== 'function') throw internal.badArgument('cb', 'of type function', done);
        let failure = null, value;
        try { value = sync[key](...given); } catch (error) { if (error.code && String(error.code).startsWith('ERR_')) throw error; failure = error; }
        setImmediate(() => { if (key === 'existsSync') done(value); else if (failure) done(failure); else if (key === 'readSync' || key === 'writeSync') done(null, value, given[1]); else if (value === undefined) done(null); else done(null, value); });
    };
}
fs.realpathSync.native = fs.realpathSync;
fs.realpath.native = fs.realpath;
promises.access = async (path, mode) => sync.accessSync(path, mode);
promises.open = async (path, flag) => {
    const fd = sync.openSync(path, flag);
    const self = {
        fd, async read(buffer, ...rest) { return { bytesRead: sync.readSync(fd, buffer, ...rest), buffer }; },
        async write(data, ...rest) { return { bytesWritten: sync.writeSync(fd, data, ...rest), buffer: data }; },
        readFile: async (options) => sync.readFileSync(fd, options), writeFile: async (data) => { sync.writeSync(fd, data); }, appendFile: async (data) => { sync.writeSync(fd, data); },
        stat: async () => sync.fstatSync(fd), truncate: async (length) => sync.ftruncateSync(fd, length), sync: async () => {}, close: async () => sync.closeSync(fd),
        async *readLines() { yield* String(sync.readFileSync(fd, 'utf8')).replace(/\n$/, '').split('\n'); },
        [Symbol.asyncDispose]: async () => sync.closeSync(fd),
    };
    return self;
};
fs.promises = promises;
fs.createReadStream = (path, options) => {
    const given = typeof options === 'string' ? { encoding: options } : options || {}, { Readable } = internal.require('stream');
    let fd = given.fd, at = given.start || 0;
    const stream = new Readable({
        highWaterMark: given.highWaterMark || 65536,
        read(size) {
            try {
                if (fd === undefined) { fd = sync.openSync(path, given.flags || 'r'); stream.emit('open', fd); stream.emit('ready'); }
                const room = given.end === undefined ? size : Math.min(size, given.end + 1 - at), buffer = internal.require('buffer').Buffer.alloc(Math.max(0, room));
                const count = room > 0 ? sync.readSync(fd, buffer, 0, room, at) : 0;
                at += count;
                stream.bytesRead = (stream.bytesRead || 0) + count;
                if (count === 0) { sync.closeSync(fd); stream.push(null); setImmediate(() => stream.emit('close')); } else stream.push(buffer.subarray(0, count));
            } catch (error) { stream.destroy(error); }
        },
    });
    if (given.encoding) stream.setEncoding(given.encoding);
    stream.path = path;
    return stream;
};
fs.createWriteStream = (path, options) => {
    const given = typeof options === 'string' ? { encoding: options } : options || {}, { Writable } = internal.require('stream');
    let fd = given.fd;
    const stream = new Writable({
        write(chunk, encoding, done) { try { begin(); sync.writeSync(fd, chunk); stream.bytesWritten += chunk.length; done(); } catch (error) { done(error); } },
        final(done) { try { begin(); sync.closeSync(fd); done(); setImmediate(() => stream.emit('close')); } catch (error) { done(error); } },
    });
    const begin = () => { if (fd === undefined) { fd = sync.openSync(path, given.flags || 'w'); stream.emit('open', fd); stream.emit('ready'); } };
    stream.path = path;
    stream.bytesWritten = 0;
    stream.close = (done) => stream.end(done);
    return stream;
};
fs.watch = fs.watchFile = () => { throw internal.absent('fs.watch', 'nothing here tells of changes'); };
fs.unwatchFile = () => {};
fs.changeFolder = (path) => host.files('chdir', full(path));
internal.define(fs, 'changeFolder', fs.changeFolder);
internal.provide('fs', () => fs);
internal.provide('fs/promises', () => promises);
})
