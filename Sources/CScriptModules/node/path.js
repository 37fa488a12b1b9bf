// path: names only, no files. The rules of POSIX.
(function (internal) {
'use strict';
internal.provide('path', () => {
    const text = (value, name = 'path') => { if (typeof value !== 'string') throw internal.badArgument(name, 'of type string', value); return value; };
    function reduced(path, mayClimb) {
        const out = [];
        for (const part of path.split('/')) {
            if (part === '' || part === '.') continue;
            if (part !== '..') out.push(part);
            else if (out.length && out[out.length - 1] !== '..') out.pop();
            else if (mayClimb) out.push('..');
        }
        return out.join('/');
    }
    const posix = {
        sep: '/', delimiter: ':',
        isAbsolute: (path) => text(path).startsWith('/'),
        normalize(path) {
            if (text(path) === '') return '.';
            const isAbsolute = path.startsWith('/');
            let out = reduced(path, !isAbsolute);
            if (out === '') { if (isAbsolute) return '/'; out = path.endsWith('/') ? './' : '.'; return out; }
            if (path.endsWith('/')) out += '/';
            return isAbsolute ? `/${out}` : out;
        },
        join(...parts) {
            const joined = parts.map((part) => text(part)).filter((part) => part !== '').join('/');
            return joined === '' ? '.' : posix.normalize(joined);
        },
        resolve(...parts) {
            let out = '';
            for (let index = parts.length - 1; index >= 0 && !out.startsWith('/'); index--) {
                if (text(parts[index], `paths[${index}]`) !== '') out = out === '' ? parts[index] : `${parts[index]}/${out}`;
            }
            if (!out.startsWith('/')) out = `${internal.host.cwd()}/${out}`;
            return `/${reduced(out, false)}`;
        },
        relative(from, to) {
            if (text(from, 'from') === text(to, 'to')) return '';
            const start = posix.resolve(from).split('/').filter(Boolean), end = posix.resolve(to).split('/').filter(Boolean);
            let same = 0;
            while (same < start.length && same < end.length && start[same] === end[same]) same++;
            return [...start.slice(same).map(() => '..'), ...end.slice(same)].join('/');
        },
        dirname(path) {
            if (text(path) === '') return '.';
            let end = path.length;
            while (end > 1 && path[end - 1] === '/') end--;
            const slash = path.lastIndexOf('/', end - 1);
            if (slash < 0) return '.';
            if (slash === 0 && end === 1) return '/';
            if (slash === 0) return '/';
            return slash === 1 && path[0] === '/' ? '//' : path.slice(0, slash);
        },
        basename(path, ending) {
            if (ending !== undefined) text(ending, 'suffix');
            let end = text(path).length;
            while (end > 0 && path[end - 1] === '/') end--;
            const name = path.slice(path.lastIndexOf('/', end - 1) + 1, end);
            return ending !== undefined && ending !== '' && name !== ending && name.endsWith(ending) ? name.slice(0, -ending.length) : ending === path && name === ending ? '' : name;
        },
        extname(path) {
            const name = posix.basename(text(path)), dot = name.lastIndexOf('.');
            return dot <= 0 || /^\.+$/.test(name) && name.length <= 2 ? '' : name.slice(dot);
        },
        parse(path) {
            text(path);
            const root = path.startsWith('/') ? '/' : '', base = posix.basename(path), ext = posix.extname(path);
            let end = path.length;
            while (end > 0 && path[end - 1] === '/') end--;
            const slash = path.lastIndexOf('/', end - 1);
            const dir = slash < 0 || end === 0 ? (end === 0 ? root : '') : slash === 0 ? '/' : path.slice(0, slash);
            return { root, dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
        },
        format(parts) {
            if (parts === null || typeof parts !== 'object') throw internal.badArgument('pathObject', 'of type object', parts);
            const dir = parts.dir || parts.root;
            const ext = parts.ext ? (parts.ext.startsWith('.') ? parts.ext : `.${parts.ext}`) : '';
            const base = parts.base || `${parts.name || ''}${ext}`;
            return !dir ? base : dir === parts.root ? `${dir}${base}` : `${dir}/${base}`;
        },
        toNamespacedPath: (path) => path,
        matchesGlob() { throw internal.absent('path.matchesGlob', 'use a regular expression'); },
    };
    posix.posix = posix;
    return posix;
});
internal.provide('path/posix', () => internal.require('path'));
})
