// console
(function (internal) {
'use strict';
const { host } = internal;
const isPlain = (given) => given.every((one) => typeof one === 'string') && (given.length < 2 || !given[0].includes('%'));
function makeConsole(out, err) {
    let indent = '';
    const counts = new Map(), times = new Map();
    const say = (write, given, options) => {
        let text = isPlain(given) ? given.join(' ') : internal.formatWithOptions(options || {}, ...given);
        if (indent) text = indent + text.replaceAll('\n', `\n${indent}`);
        write(text + '\n');
    };
    const spent = (label) => {
        const ms = host.now() - times.get(label);
        return ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${Number(ms.toFixed(3))}ms`;
    };
    const self = {
        log(...given) { say(out, given); },
        warn(...given) { say(err, given); },
        dir(value, options) { say(out, [internal.inspect(value, { customInspect: false, ...options })]); },
        time(label = 'default') { times.set(`${label}`, host.now()); },
        timeEnd(label = 'default') {
            if (!times.has(`${label}`)) return say(err, [`(node) Warning: No such label '${label}' for console.timeEnd()`]);
            say(out, [`${label}: ${spent(`${label}`)}`]);
            times.delete(`${label}`);
        },
        timeLog(label = 'default', ...rest) { if (times.has(`${label}`)) say(out, [`${label}: ${spent(`${label}`)}`, ...rest]); },
        trace(...given) {
            const probe = new Error(internal.formatWithOptions({}, ...given));
            probe.name = 'Trace';
            say(err, [String(probe.stack).replace(/^Error/, 'Trace')]);
        },
        assert(value, ...given) {
            if (value) return;
            if (typeof given[0] === 'string') given[0] = `Assertion failed: ${given[0]}`;
            else given.unshift('Assertion failed');
            say(err, given);
        },
        count(label = 'default') {
            const count = (counts.get(`${label}`) || 0) + 1;
            counts.set(`${label}`, count);
            say(out, [`${label}: ${count}`]);
        },
        countReset(label = 'default') { counts.set(`${label}`, 0); },
        group(...given) { if (given.length) say(out, given); indent += '  '; },
        groupEnd() { indent = indent.slice(0, -2); },
        table(data, wanted) { say(out, [data !== null && typeof data === 'object' ? tableOf(data, wanted) : data]); },
        clear() {}, profile() {}, profileEnd() {}, timeStamp() {},
    };
    self.info = self.debug = self.log;
    self.error = self.warn;
    self.groupCollapsed = self.group;
    self.dirxml = self.log;
    // As functions of their own names, whichever object they are called on.
    self.info = function info(...given) { say(out, given); };
    self.debug = function debug(...given) { say(out, given); };
    self.error = function error(...given) { say(err, given); };
    return self;
}

function tableOf(data, wanted) {
    const shown = (value) => internal.inspect(value, { maxArrayLength: 3, breakLength: Infinity, depth: value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0 });
    const isMap = data instanceof Map, isSet = data instanceof Set;
    const rows = isMap ? [...data].map(([key, value], index) => [index, value, key]) : isSet ? [...data].map((value, index) => [index, value]) : Object.keys(data).map((key) => [key, data[key]]);
    const head = isMap || isSet ? '(iteration index)' : '(index)';
    const columns = wanted ? [...wanted] : [], cells = [];
    let hasValues = false;
    for (const [key, value, name] of rows) {
        const cell = new Map();
        if (isMap) cell.set('Key', shown(name));
        if (value !== null && typeof value === 'object' && !isMap) {
            for (const column of wanted || Object.keys(value)) {
                if (!columns.includes(column)) columns.push(column);
                if (Object.prototype.hasOwnProperty.call(value, column)) cell.set(column, shown(value[column]));
            }
            cells.push([`${key}`, cell, undefined]);
        } else {
            hasValues = true;
            cells.push([`${key}`, cell, shown(value)]);
        }
    }
    const names = [head, ...(isMap ? ['Key'] : []), ...columns, ...(hasValues ? ['Values'] : [])];
    const lines = cells.map(([key, cell, value]) => [key, ...names.slice(1).map((name, index) => (hasValues && index === names.length - 2 ? value : cell.get(name)) ?? '')]);
    const widths = names.map((name, index) => Math.max(internal.width(name), ...lines.map((line) => internal.width(line[index]))) + 2);
    const row = (line) => '│' + line.map((text, index) => {
        return ` ${text}${' '.repeat(widths[index] - internal.width(text) - 1)}`;
    }).join('│') + '│';
    const rule = (left, middle, right) => left + widths.map((size) => '─'.repeat(size)).join(middle) + right;
    return [rule('┌', '┬', '┐'), row(names), rule('├', '┼', '┤'), ...lines.map(row), rule('└', '┴', '┘')].join('\n');
}

internal.makeConsole = makeConsole;
const made = makeConsole((text) => host.write(1, text), (text) => host.write(2, text));
made.Console = class Console {
    constructor(out, err) {
        const streams = out && out.stdout ? out : { stdout: out, stderr: err || out };
        Object.assign(this, makeConsole((text) => streams.stdout.write(text), (text) => (streams.stderr || streams.stdout).write(text)));
    }
};
internal.define(globalThis, 'console', made);
internal.provide('console', () => made);
})
