// assert
(function (internal) {
'use strict';
internal.load('util');
const { inspect, isSame } = internal;
class AssertionError extends Error {
    constructor({ message, actual, expected, operator, generated }) {
        super(message);
        this.generatedMessage = !!generated;
        this.code = 'ERR_ASSERTION';
        Object.assign(this, { actual, expected, operator });
        const text = String(this.stack).replace(/^Error/, 'AssertionError [ERR_ASSERTION]');
        internal.define(this, 'stack', text);
    }
    get name() { return 'AssertionError'; }
}
const shown = (value) => inspect(value, { depth: 1000, maxArrayLength: Infinity, breakLength: Infinity, compact: false, sorted: true });
function difference(actual, expected) {
    const a = shown(actual).split('\n'), b = shown(expected).split('\n');
    if (a.length === 1 && b.length === 1 && a[0] !== b[0] && (typeof actual !== 'object' || actual === null) && (typeof expected !== 'object' || expected === null) && a[0].length + b[0].length < 60) return `${a[0]} !== ${b[0]}`;
    const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    const out = [];
    for (let i = 0, j = 0; i < a.length || j < b.length;) {
        if (i < a.length && j < b.length && a[i] === b[j]) { out.push(`  ${a[i]}`); i++; j++; }
        else if (i < a.length && (j >= b.length || table[i + 1][j] >= table[i][j + 1])) out.push(`+ ${a[i++]}`);
        else out.push(`- ${b[j++]}`);
    }
    return out.slice(0, 50).join('\n');
}
function fail(actual, expected, message, operator, text) {
    if (message instanceof Error) throw message;
    throw new AssertionError({ message: message === undefined ? text : message, actual, expected, operator, generated: message === undefined });
}
const failPlainly = (actual, expected, message, operator, text) => fail(actual, expected, message === undefined ? text : `${text.slice(0, -1)}: ${message}`, operator);
const isOneLine = (actual, expected) => difference(actual, expected).split('\n').length === 1;
function ok(value, message) {
    if (arguments.length === 0) fail(undefined, true, 'No value argument passed to `assert.ok()`', '==');
    if (!value) fail(value, true, message, '==', 'The expression evaluated to a falsy value');
}
const equals = {
    equal(a, b, message) { if (!(a == b || (a !== a && b !== b))) fail(a, b, message, '==', `${inspect(a)} == ${inspect(b)}`); },
    notEqual(a, b, message) { if (a == b || (a !== a && b !== b)) fail(a, b, message, '!=', `${inspect(a)} != ${inspect(b)}`); },
    strictEqual(a, b, message) { if (!Object.is(a, b)) fail(a, b, message, 'strictEqual', isOneLine(a, b) ? `Expected values to be strictly equal:\n\n${difference(a, b)}\n` : `Expected values to be strictly equal:\n+ actual - expected\n\n${difference(a, b)}`); },
    notStrictEqual(a, b, message) { if (Object.is(a, b)) fail(a, b, message, 'notStrictEqual', `Expected "actual" to be strictly unequal to: ${inspect(b)}`); },
    deepEqual(a, b, message) { if (!isSame(a, b, false)) fail(a, b, message, 'deepEqual', `Expected values to be loosely deep-equal:\n\n${inspect(a)}\n\nshould loosely deep-equal\n\n${inspect(b)}`); },
    notDeepEqual(a, b, message) { if (isSame(a, b, false)) fail(a, b, message, 'notDeepEqual', `Expected "actual" not to be loosely deep-equal to: ${inspect(b)}`); },
    deepStrictEqual(a, b, message) { if (!isSame(a, b, true)) fail(a, b, message, 'deepStrictEqual', `Expected values to be strictly deep-equal:\n+ actual - expected\n\n${difference(a, b)}`); },
    notDeepStrictEqual(a, b, message) { if (isSame(a, b, true)) fail(a, b, message, 'notDeepStrictEqual', `Expected "actual" not to be strictly deep-equal to: ${inspect(b)}`); },
    match(text, pattern, message) { if (!pattern.test(text)) fail(text, pattern, message, 'match', `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`); },
    doesNotMatch(text, pattern, message) { if (pattern.test(text)) fail(text, pattern, message, 'doesNotMatch', `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`); },
};
function checkThrown(error, expected, message, operator) {
    if (expected === undefined) return;
    if (expected instanceof RegExp) { if (!expected.test(String(error))) fail(error, expected, message, operator, `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`); return; }
    if (typeof expected === 'function') {
        if (expected.prototype !== undefined && error instanceof expected) return;
        if (Object.prototype.isPrototypeOf.call(Error, expected) || expected === Error) throw error;
        if (expected.call({}, error) === true) return;
        fail(error, expected, message, operator, `The ${expected.name ? `"${expected.name}" ` : ''}validation function is expected to return "true". Received ${inspect(expected.call({}, error))}`);
    }
    for (const key of Object.keys(expected).concat(expected instanceof Error ? ['name', 'message'] : [])) {
        const want = expected[key], got = error[key];
        if (!(want instanceof RegExp && typeof got === 'string' ? want.test(got) : isSame(got, want, true))) fail(error, expected, message, operator, `Expected values to be strictly deep-equal:\n+ actual - expected\n\n${difference({ [key]: got }, { [key]: want })}`);
    }
}
const flows = {
    throws(body, expected, message) {
        if (typeof expected === 'string') [expected, message] = [undefined, expected];
        try { body(); } catch (error) { checkThrown(error, expected, message, 'throws'); return; }
        failPlainly(undefined, expected, message, 'throws', `Missing expected exception${expected && expected.name ? ` (${expected.name})` : ''}.`);
    },
    doesNotThrow(body, expected, message) { try { body(); } catch (error) { fail(error, expected, typeof expected === 'string' ? expected : message, 'doesNotThrow', `Got unwanted exception.\nActual message: "${error && error.message}"`); } },
    async rejects(body, expected, message) {
        try { await (typeof body === 'function' ? body() : body); } catch (error) { checkThrown(error, expected, message, 'rejects'); return; }
        failPlainly(undefined, expected, message, 'rejects', `Missing expected rejection${expected && expected.name ? ` (${expected.name})` : ''}.`);
    },
    async doesNotReject(body, expected, message) { try { await (typeof body === 'function' ? body() : body); } catch (error) { fail(error, expected, message, 'doesNotReject', `Got unwanted rejection.\nActual message: "${error && error.message}"`); } },
    ifError(value) { if (value !== null && value !== undefined) fail(value, null, undefined, 'ifError', `ifError got unwanted exception: ${value.message || inspect(value)}`); },
    fail(message = 'Failed') { if (message instanceof Error) throw message; throw new AssertionError({ message, operator: 'fail', generated: message === 'Failed' }); },
};
const loose = Object.assign((value, message) => ok(value, message), { ok, ...equals, ...flows, AssertionError });
const strict = Object.assign((value, message) => ok(value, message), { ok, ...equals, ...flows, AssertionError, equal: equals.strictEqual, notEqual: equals.notStrictEqual, deepEqual: equals.deepStrictEqual, notDeepEqual: equals.notDeepStrictEqual });
loose.strict = strict.strict = strict;
internal.provide('assert', () => loose);
internal.provide('assert/strict', () => strict);
})
