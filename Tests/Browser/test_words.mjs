import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { pickLanguage } from "../../Web/strings.js";

const web = fileURLToPath(new URL("../../Web/", import.meta.url));
const read = (file) => readFileSync(web + file, "utf8");
const modules = readdirSync(web).filter((file) => file.endsWith(".js"));
const table = async (file) => (await import(`../../Web/words/${file}.js`)).words;
const [first, rest] = [await table("en"), await table("en-more")];
const chinese = [await table("zh-Hans"), await table("zh-Hans-more")];

/** The shape of an entry: what a translation must have too. */
function shape(entry) {
    if (typeof entry === "function") return `function of ${entry.length}`;
    if (Array.isArray(entry)) return entry.map(shape);
    return typeof entry === "object" ? Object.fromEntries(Object.entries(entry).sort().map(([key, part]) => [key, shape(part)])) : "words";
}

for (const [name, english, other] of [["the first words", first, chinese[0]], ["the rest", rest, chinese[1]]]) {
    test(`${name} have the same keys and shapes in both languages, in the same order`, () => {
        assert.deepEqual(Object.keys(other), Object.keys(english));
        for (const key of Object.keys(english)) assert.deepEqual(shape(other[key]), shape(english[key]), key);
    });
}

test("no word is in both parts of the table, and none is empty", () => {
    assert.deepEqual(Object.keys(first).filter((key) => key in rest), []);
    for (const words of [first, rest, ...chinese]) for (const [key, entry] of Object.entries(words)) assert.notEqual(entry, "", key);
});

/** Keys a source asks for. `t(a ? "b" : "c")` and tables of keys are found as words in quotes. */
const quoted = (source) => new Set([...source.matchAll(/["'`](\w+)["'`]/g)].map(([, word]) => word));

test("every key the sources name is in the table", () => {
    const all = { ...first, ...rest };
    for (const file of modules) {
        for (const [, key] of read(file).matchAll(/\bt\("(\w+)"/g)) assert.ok(key in all, `${file} says ${key}`);
    }
    for (const [, key] of read("index.html").matchAll(/data-t(?:-label|-placeholder)?="(\w+)"/g)) assert.ok(key in first, `index.html says ${key}`);
});

test("every word in the table is said somewhere", () => {
    const sources = modules.map(read).join("\n") + read("index.html");
    const said = quoted(sources);
    const unsaid = Object.keys({ ...first, ...rest }).filter((key) =>
        !said.has(key) && !said.has(key.replace(/Hint$|Less$|More$/, "")) && !key.startsWith("strip_"));
    assert.deepEqual(unsaid, []);
});

test("what the page starts with says only words that are there from the start", () => {
    const start = new Set();
    const visit = (file) => {
        if (start.has(file)) return;
        start.add(file);
        for (const [, next] of read(file).matchAll(/^import [^;]*?"\.\/([\w-]+\.js)";/gm)) visit(next);
    };
    visit("app.js");
    assert.ok(!start.has("chat-view.js") && !start.has("sheet.js"));
    // attached.js says two more, of messages only; a message is drawn when the rest is there.
    for (const file of [...start].filter((name) => name !== "attached.js")) {
        for (const [, key] of read(file).matchAll(/\bt\("(\w+)"/g)) assert.ok(key in first, `${file} says ${key}`);
    }
});

test("sentences of the host are translated by codes that the host has", async () => {
    const { refusals } = await import("../../Web/words/zh-Hans-host.js");
    const sources = fileURLToPath(new URL("../../Sources/", import.meta.url));
    const swift = readdirSync(sources, { recursive: true }).filter((file) => file.endsWith(".swift"))
        .map((file) => readFileSync(sources + file, "utf8")).join("\n");
    for (const [code, words] of Object.entries(refusals)) {
        assert.ok(swift.includes(`"${code}"`), `no refusal of the host has the code ${code}`);
        // A sentence with a part of its own would lose it.
        for (const [, said] of swift.matchAll(new RegExp(`code: "${code}",\\s*(?:message: )?("(?:[^"\\\\]|\\\\.)*")`, "g"))) {
            assert.ok(!said.includes("\\("), `${code} says ${said}`);
        }
        assert.ok(words.length === 1 || words.length === 2);
    }
});

test("the language is the choice, else the first of the browser's that we have", () => {
    const cases = [
        ["", ["fr-FR", "zh-CN", "en"], { language: "zh-Hans", locale: "zh-CN" }],
        ["", ["en-GB", "en"], { language: "en", locale: "en-GB" }],
        ["", ["de-DE"], { language: "en", locale: "en" }],
        ["", [], { language: "en", locale: "en" }],
        ["zh-Hans", ["en-US"], { language: "zh-Hans", locale: "zh-Hans" }],
        ["en", ["zh-TW", "en-AU"], { language: "en", locale: "en-AU" }],
        ["xx", ["zh"], { language: "zh-Hans", locale: "zh" }],
    ];
    for (const [choice, wishes, expected] of cases) assert.deepEqual(pickLanguage(choice, wishes), expected);
});
