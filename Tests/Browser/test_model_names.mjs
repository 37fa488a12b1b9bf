import assert from "node:assert/strict";
import { test } from "node:test";
import { displayName } from "../../Web/text.js";

const names = [
    ["SmolLM2-135M-Instruct.Q8_0.gguf", "SmolLM2 135M Q8_0"],
    ["gemma-3-4b-it-Q4_K_M.gguf", "gemma 3 4b Q4_K_M"],
    ["Qwen3-4B-Instruct-2507-UD-Q4_K_XL.gguf", "Qwen3 4B 2507 UD Q4_K_XL"],
    ["models/Phi-4-mini.BF16.GGUF", "Phi 4 mini BF16"],
    ["Titan-italic.gguf", "Titan italic"],
    ["", ""],
];

for (const [file, expected] of names) {
    test(`"${file}" is called "${expected}"`, () => assert.equal(displayName(file), expected));
}
