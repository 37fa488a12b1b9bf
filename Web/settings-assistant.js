// The assistant's settings: drafts that are saved together, the calendar's consent, and what the host takes up.

import { json } from "./api.js";
import { fileSize } from "./formats.js";
import { make, makeButton } from "./elements.js";
import { t } from "./strings.js";

const LIMITS = {
    assistantSteps: ["setSteps", 1, 20], assistantRounds: ["setRounds", 1, 20], assistantSeconds: ["setSeconds", 10, 3600],
    assistantTokens: ["setReply", 16, 8192],
};

/** Drafts that a closed sheet has left; a reload forgets them. */
const left = new Map();

/** How far runs may go, and what conversations begin with. `labelled(words, control)` puts a control beside its words. */
export function runDraft(settings, labelled, save) {
    const limits = Object.entries(LIMITS).map(([key, [words, least, most]]) => {
        const input = make("input", "number");
        Object.assign(input, { type: "number", min: least, max: most, step: 1, inputMode: "numeric", required: true });
        return [key, words, input, (text) => Number(text)];
    });
    const prompt = make("textarea", "prompt");
    Object.assign(prompt, { rows: 4, maxLength: 8000, dir: "auto" });
    return draft("run", settings, [...limits, ["systemPrompt", "setSystem", prompt, (text) => text.trim() || null]], labelled, save);
}

/** Where the calendar is, once a person has opened it to the assistant. */
export function calendarDraft(settings, labelled, save) {
    const path = (key, words) => {
        const input = make("input", "path");
        Object.assign(input, { type: "text", autocomplete: "off", spellcheck: false, dir: "ltr" });
        return [key, words, input, (text) => text.trim() || null];
    };
    return draft("calendar", settings, [
        path("calendarPath", "setCalendarPath"), path("calendarCredentials", "setCalendarCredentials"),
    ], labelled, save);
}

/**
 * A form whose fields change nothing until it is saved; null when the host keeps none of them. `save(part)` answers the
 * settings as they are then, or null when they were refused.
 */
function draft(name, settings, fields, labelled, save) {
    const known = fields.filter(([key]) => key in settings);
    if (known.length === 0) return null;
    const form = make("form", "draft");
    const state = make("span", "hint");
    const discard = makeButton("text", t("setDiscard"));
    const keep = makeButton("primary", t("setSave"));
    keep.type = "submit";
    const shown = (key) => String(settings[key] ?? "");
    const changed = () => known.filter(([key, , input]) => input.value !== shown(key));
    const look = () => {
        const some = changed();
        keep.disabled = discard.disabled = some.length === 0;
        state.textContent = some.length > 0 ? t("setDraft") : "";
        if (some.length > 0) left.set(name, some.map(([key, , input]) => [key, input.value]));
        else left.delete(name);
    };
    const fill = () => {
        for (const [key, , input] of known) input.value = shown(key);
        look();
    };
    for (const [, words, input] of known) form.append(labelled(words, input));
    const actions = make("div", "actions");
    actions.append(state, discard, keep);
    form.append(actions);
    form.addEventListener("input", look);
    discard.addEventListener("click", fill);
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const kept = await save(Object.fromEntries(changed().map(([key, , input, read]) => [key, read(input.value)])));
        if (kept === null) return;
        settings = kept;
        fill();
    });
    const before = left.get(name) ?? [];
    fill();
    for (const [key, value] of before) {
        const field = known.find(([other]) => other === key);
        if (field) field[2].value = value;
    }
    look();
    return form;
}

/** What the host takes up of memory and disk; asked for when it is looked at. */
export function resources(engine) {
    const list = make("ul", "resources");
    const line = (words, value) => {
        const item = make("li");
        item.append(make("span", "", words), make("b", "", value));
        list.append(item);
    };
    const bytes = (words, value) => Number.isFinite(value) && line(words, fileSize(value));
    const { chargedBytes, memoryLeftBytes, memoryLimitBytes } = engine?.model ?? {};
    bytes(t("setMemoryTaken"), chargedBytes);
    bytes(t("setMemoryLeft"), memoryLeftBytes);
    bytes(t("setMemoryLimit"), memoryLimitBytes);
    json("GET", "/api/agent/disk").then(({ freeBytes, parts }) => {
        for (const { name, bytes: size } of parts) bytes(t("setDisk", t("setDiskParts")[name] ?? name), size);
        bytes(t("setDiskFree"), freeBytes);
    }).catch(() => {});
    return list;
}
