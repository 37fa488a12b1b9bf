// Where each built-in module is, and the globals that are made when first used.
(function (internal) {
'use strict';
const places = {
    events: ['events'], path: ['path', 'path/posix'], util: ['util', 'util/types', 'string_decoder', 'querystring'],
    buffer: ['buffer'], url: ['url', 'punycode'], fs: ['fs', 'fs/promises'], stream: ['stream', 'stream/promises', 'readline', 'readline/promises'],
    assert: ['assert', 'assert/strict'], system: ['os', 'crypto', 'perf_hooks', 'constants', 'async_hooks', 'diagnostics_channel', 'test'],
};
for (const file in places) {
    for (const name of places[file]) internal.provide(name, () => {
        delete internal.loaders[name];
        internal.load(file);
        return internal.loaders[name]();
    });
}
const web = () => { internal.load('web'); return internal.web; };
for (const name of ['TextEncoder', 'TextDecoder', 'AbortController', 'AbortSignal', 'Event', 'EventTarget', 'DOMException', 'structuredClone', 'fetch', 'Headers', 'btoa', 'atob', 'Blob', 'WebSocket', 'XMLHttpRequest']) {
    if (!(name in globalThis)) internal.lazyGlobal(name, () => web()[name]);
}
internal.lazyGlobal('Buffer', () => internal.require('buffer').Buffer);
internal.lazyGlobal('URL', () => internal.require('url').URL);
internal.lazyGlobal('URLSearchParams', () => internal.require('url').URLSearchParams);
internal.lazyGlobal('performance', () => internal.require('perf_hooks').performance);
internal.lazyGlobal('crypto', () => internal.require('crypto').webcrypto);
internal.lazyGlobal('navigator', () => ({ hardwareConcurrency: 1, language: 'en-US', userAgent: 'Node.js/20', platform: 'linux' }));
})
