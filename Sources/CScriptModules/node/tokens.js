// The words of a JavaScript source, as far as imports and exports need them told apart.
(function (internal) {
'use strict';
const beforePattern = new Set(['return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'throw', 'new', 'else', 'do', 'instanceof', 'yield', 'await', 'default']);
const word = /[\p{L}\p{Nl}_$\\][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}_$\\\u200C\u200D]*/uy, number = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?|\.\d[\d_]*(?:[eE][+-]?\d+)?)n?/y;
const text = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y, blank = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const pattern = /\/(?:[^\/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y, sign = /=>|\.\.\.|\?\.|[{}()[\];,<>+\-*\/%&|^!~?:=.@#]/y;

internal.tokens = (source) => {
    const out = [], stack = [];
    let place = 0, isFresh = true;
    const take = (expression) => { expression.lastIndex = place; const found = expression.exec(source); if (!found || found[0] === '') return undefined; return found[0]; };
    const add = (kind, piece) => { out.push({ kind, text: piece, start: place, end: place + piece.length, isFresh, depth: stack.length }); place += piece.length; isFresh = false; };
    const template = () => {
        // From after a backquote or the brace that closed a value, to the next value or the end.
        const start = place;
        while (place < source.length) {
            if (source[place] === '\\') place += 2;
            else if (source[place] === '`') { place++; break; }
            else if (source[place] === '$' && source[place + 1] === '{') { place += 2; stack.push('`'); return; }
            else place++;
        }
        out.push({ kind: 'text', text: '`', start, end: place, isFresh: false, depth: stack.length });
    };
    while (place < source.length) {
        const space = take(blank);
        if (space) { if (space.includes('\n')) isFresh = true; place += space.length; continue; }
        const last = out[out.length - 1];
        let piece;
        if ((piece = take(text))) add('text', piece);
        else if (source[place] === '`') { add('open', '`'); template(); }
        else if ((piece = take(word))) add('word', piece);
        else if ((piece = take(number))) add('number', piece);
        else if (source[place] === '/' && (!last || (last.kind === 'sign' && !')]}'.includes(last.text)) || (last.kind === 'word' && beforePattern.has(last.text)) || (last.text === '}' && isFresh)) && (piece = take(pattern))) add('pattern', piece);
        else if ((piece = take(sign))) {
            if ('})]'.includes(piece)) {
                const opener = stack.pop();
                add('sign', piece);
                if (opener === '`' && piece === '}') template();
            } else {
                add('sign', piece);
                if ('{(['.includes(piece)) stack.push(piece);
            }
        } else place++;
    }
    return out;
};
})
