import assert from "node:assert/strict";
import { test } from "node:test";
import { FORMULA_LIMIT, formulaAt, formulaBlock } from "../../Web/tex.js";

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
];
for (const text of plain) {
    test(`no formula in ${JSON.stringify(text)}`, () => assert.deepEqual(formulas(text), []));
}

const mathematics = [
    ["$x^2$", [["x^2", false]]], ["\\(x^2\\)", [["x^2", false]]], ["$$x^2$$", [["x^2", true]]], ["\\[x^2\\]", [["x^2", true]]],
    ["for $n=1$, $m=2$.", [["n=1", false], ["m=2", false]]], ["($x$)", [["x", false]]], ["是$x$的", [["x", false]]],
    ["$5 + x$ dollars", [["5 + x", false]]], ["$\\$5$", [["\\$5", false]]], ["$a\nb$", [["a\nb", false]]], ["**$x$**", [["x", false]]],
    ["$2 x$ or $3$", [["3", false]]], ["$$a$$ and $b$", [["a", true], ["b", false]]], ["\\[a \\text{ if } \\] b", [["a \\text{ if } ", true]]],
];
for (const [text, expected] of mathematics) {
    test(`formulas of ${JSON.stringify(text)}`, () => assert.deepEqual(formulas(text), expected));
}

test("what is too long is no formula, and is found out in one pass", () => {
    assert.equal(formulaAt(`$${"x".repeat(FORMULA_LIMIT + 1)}$`, 0), null);
    assert.deepEqual(formulas("$x".repeat(50_000)), []);
});

test("a displayed formula may take several lines, and says when it may go on", () => {
    assert.deepEqual(formulaBlock(["$$", "a", "- b", "$$"], 0), { last: 3, tex: "\na\n- b\n", after: "" });
    assert.deepEqual(formulaBlock(["x", "\\[ a \\]."], 1), { last: 1, tex: " a ", after: "." });
    assert.deepEqual(formulaBlock(["$$", "a"], 0), { last: null, open: true });
    assert.deepEqual(formulaBlock(["$$", "a", "", "$$"], 0), { last: null, open: false });
    assert.deepEqual(formulaBlock(["$$a$$ is where"], 0), { last: null, open: false });
    assert.equal(formulaBlock(["text $$a$$"], 0), null);
});
