import assert from "node:assert/strict";
import { test } from "node:test";
import { displayed, displayedAt, FORMULA_LIMIT, formulaAt } from "../../Web/tex.js";

/** Every formula of a text, as the parser finds them one after another. */
function formulas(text) {
    const found = [];
    for (let at = 0; at < text.length; at += 1) {
        const formula = formulaAt(text, at);
        if (!formula) {
            if (text[at] === "\\") at += 1;
            continue;
        }
        found.push([formula.tex, formula.display]);
        at = formula.end - 1;
    }
    return found;
}

const plain = [
    "$25 is more than $24", "costs **$1.50**", "$/PR and $/session", "It costs $5 and $10.", "from $5-$10", "US$5 or US$6", "between $5 and 10$",
    "echo $PATH $HOME", "$HOME/$USER", "a $ b $ c", "$ x $", "$x $ y", "$5", "$", "$$", "$$ $$", "\\(\\)", "\\( never closed", "$a\n\nb$",
    "$5 for `a$`", "A$AP and C$", "`$x$".slice(1, 3), "\\$x$", "no \\\\( here",
    "$10 (or 9$)", "$10 (9$)", "$3k or 4k$", "$5, then 6$", "$10 [net 9$]", "from $5 (was 6$).",
];
for (const text of plain) {
    test(`no formula in ${JSON.stringify(text)}`, () => assert.deepEqual(formulas(text), []));
}

const mathematics = [
    ["$x^2$", [["x^2", false]]], ["\\(x^2\\)", [["x^2", false]]], ["$$x^2$$", [["x^2", true]]], ["\\[x^2\\]", [["x^2", true]]],
    ["for $n=1$, $m=2$.", [["n=1", false], ["m=2", false]]], ["($x$)", [["x", false]]], ["是$x$的", [["x", false]]],
    ["$5 + x$ dollars", [["5 + x", false]]], ["$\\$5$", [["\\$5", false]]], ["$a\nb$", [["a\nb", false]]], ["**$x$**", [["x", false]]],
    ["$2 x$ or $3$", [["3", false]]], ["$2(x)$", [["2(x)", false]]], ["$[0, 1)$", [["[0, 1)", false]]], ["$2x$", [["2x", false]]], ["$$a$$ and $b$", [["a", true], ["b", false]]], ["\\[a \\text{ if } \\] b", [["a \\text{ if } ", true]]],
];
for (const [text, expected] of mathematics) {
    test(`formulas of ${JSON.stringify(text)}`, () => assert.deepEqual(formulas(text), expected));
}

test("what is too long is no formula, and is found out in one pass", () => {
    assert.equal(formulaAt(`$${"x".repeat(FORMULA_LIMIT + 1)}$`, 0), null);
    assert.deepEqual(formulas("$x".repeat(50_000)), []);
});

test("a displayed formula may take several lines, and says when it may go on", () => {
    const cases = [
        ["$$\na\n- b\n$$", 0, { close: 9 }], ["x\n\\[ a \\].", 2, { close: 7 }], ["$$\na", 0, { close: null }], ["$$\na\n\n$$", 0, null],
        ["$$a$$ is where", 0, null], ["a $$a$$", 0, null], ["$$ $$", 0, null], [`$$\n${"x".repeat(FORMULA_LIMIT)}\n$$`, 0, null],
        ["> $$\n>\n> a\n> $$", 2, null], ["\\[a\\],\nb", 0, { close: 3 }],
    ];
    for (const [text, start, expected] of cases) assert.deepEqual(displayedAt(text, start), expected, text.slice(0, 40));
    // Asked backwards, and of another text in between.
    assert.deepEqual(displayedAt("$$a$$\n\n$$b$$", 7), { close: 10 });
    assert.deepEqual(displayedAt("$$a$$\n\n$$b$$", 0), { close: 3 });
    assert.deepEqual(displayedAt("$$b$$", 0), { close: 3 });
});

test("a displayed formula is what is between its delimiters, and the point behind it", () => {
    assert.deepEqual(displayed("$$\na\n$$."), { tex: "\na\n", after: "." });
    assert.deepEqual(displayed("\\[ a \\]"), { tex: " a ", after: "" });
});
