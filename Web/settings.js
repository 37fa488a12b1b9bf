// The settings: each control is there when the host keeps its key, says when it takes effect, and is saved at once.

import { icon, make, makeButton } from "./elements.js";
import { duration, nowWords } from "./formats.js";
import { calendarDraft, resources, runDraft } from "./settings-assistant.js";
import { actionRow, confirmSheet, openSheet } from "./sheet.js";
import { chooseLanguage, languageChoice, LANGUAGES, number, t, together } from "./strings.js";

const RUNGS = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144];
const CONTEXTS = [2048, 4096, 8192, 16384, 32768, 65536, 131072];
const TIMEOUT = { least: 10, most: 600, step: 10 };

/**
 * `on` has `changed(settings)`, `removedAll()`, `imported()`, `notice(notice)` and `failed(error)`; `host` are the host's
 * routes.
 */
export async function openSettings(host, on) {
    const [settings, engine] = await Promise.all([
        host.settings().catch((error) => {
            if (error.status === 401) on.failed(error);
            return null;
        }),
        host.engine().catch(() => null),
    ]);
    return openSheet({ id: "settings", title: t("settings"), wide: true }, (body) => {
        new Settings(body, host, on, settings, engine);
    });
}

class Settings {
    #host;
    #on;
    #body;
    #settings;
    #status = make("p", "offstage");
    #now = make("p", "now");

    constructor(body, host, on, settings, engine) {
        this.#host = host;
        this.#on = on;
        this.#body = body;
        this.#settings = settings ?? {};
        this.#status.setAttribute("role", "status");
        body.append(this.#status);
        if (settings === null) body.append(make("p", "failure", t("settingsFailed")));
        this.#section("settingsSandbox", [
            this.#switch("allowCodeExecution", "setCode"), this.#switch("allowNetwork", "setNetwork"),
            this.#stepper("toolTimeoutSeconds", "setTimeout"),
        ], this.#now);
        this.#section("settingsGeneration", [
            this.#choice("maxTokens", "setMaxTokens", RUNGS.map((rung) => [rung, number(rung)]), number),
            this.#choice("contextLength", "setContext",
                [[0, t("setContextOwn")], ...CONTEXTS.map((size) => [size, number(size)])], number),
            this.#choice("kvCacheDtype", "setCache", Object.entries(t("setCacheNames")), String),
            this.#switch("thinkByDefault", "setThink"),
        ]);
        const labelled = (words, control) => this.#labelled(words, control);
        const save = (part) => this.#saveAll(part);
        this.#section("settingsAssistant", [
            runDraft(this.#settings, labelled, save), this.#switch("rememberApprovals", "setRemember"),
            this.#switch("stopUnattended", "setUnattended"),
        ]);
        this.#section("settingsCalendar", [
            this.#switch("calendarEnabled", "setCalendar"), calendarDraft(this.#settings, labelled, save),
        ]);
        this.#section("settingsDownloads", [this.#switch("downloadOptionalFiles", "setOptional")]);
        this.#section("settingsPage", [this.#language()]);
        this.#section("settingsChats", [this.#chats()]);
        this.#section("settingsResources", [resources(engine)]);
        this.#showNow(engine);
    }

    #section(title, controls, ...below) {
        const shown = controls.filter(Boolean);
        if (shown.length === 0) return;
        const section = make("section");
        const heading = make("h3", "", t(title));
        heading.id = title;
        section.setAttribute("aria-labelledby", heading.id);
        section.append(heading, ...shown, ...below);
        this.#body.append(section);
    }

    // What the host is really doing.
    #showNow(engine) {
        const words = nowWords(engine ?? {});
        this.#now.hidden = words === "";
        this.#now.textContent = words && t("settingsNow", words);
    }

    /** Saves one key; `back` undoes what the control shows when the host refuses. */
    async #save(key, value, back) {
        if ((await this.#saveAll({ [key]: value })) === null) back();
    }

    /** Answers the settings as they are then; null when the host refused. */
    async #saveAll(part) {
        try {
            this.#settings = await this.#host.changeSettings(part);
            this.#status.textContent = t("settingsSaved");
            this.#body.querySelector(":scope > .failure")?.remove();
            this.#on.changed(this.#settings);
            this.#showNow(await this.#host.engine().catch(() => null));
            return this.#settings;
        } catch (error) {
            this.#fail(error);
            return null;
        }
    }

    // Inside the sheet, as what is under it cannot be read.
    #fail(error) {
        if (error.status === 401) return this.#on.failed(error);
        const words = error.status > 0 ? together(error.message || t("refusedPlain", error.status), error.hint) : t("unreachable");
        this.#tell(words);
    }

    #tell(words, className = "failure") {
        this.#body.querySelectorAll(":scope > .failure, :scope > .told").forEach((old) => old.remove());
        const line = make("p", className, words);
        line.setAttribute("role", className === "failure" ? "alert" : "status");
        line.dir = "auto";
        this.#body.prepend(line);
        line.scrollIntoView({ block: "nearest" });
    }

    // MARK: controls

    #labelled(words, control) {
        const setting = make("div", "setting");
        const label = make("label");
        control.id = `set-${words}`;
        label.htmlFor = control.id;
        const hint = make("small", "", t(`${words}Hint`));
        hint.id = `${control.id}-hint`;
        control.setAttribute("aria-describedby", hint.id);
        label.append(t(words));
        const text = make("div", "words");
        text.append(label, hint);
        setting.append(text, control);
        return setting;
    }

    #switch(key, words) {
        if (typeof this.#settings[key] !== "boolean") return null;
        const input = make("input", "switch");
        Object.assign(input, { type: "checkbox", checked: this.#settings[key] });
        input.setAttribute("role", "switch");
        input.addEventListener("change", () => this.#save(key, input.checked, () => (input.checked = !input.checked)));
        return this.#labelled(words, input);
    }

    /** A value that is none of ours (set by hand) is kept as one more choice. */
    #choice(key, words, choices, name) {
        const value = this.#settings[key];
        if (value === undefined || value === null) return null;
        const select = make("select");
        const known = choices.some(([choice]) => String(choice) === String(value));
        for (const [choice, label] of known ? choices : [...choices, [value, name(value)]]) {
            const option = make("option", "", label);
            option.value = choice;
            select.append(option);
        }
        select.value = String(value);
        let kept = select.value;
        select.addEventListener("change", async () => {
            const before = kept;
            kept = select.value;
            await this.#save(key, typeof value === "number" ? Number(select.value) : select.value, () => (select.value = kept = before));
        });
        return this.#labelled(words, select);
    }

    #stepper(key, words) {
        if (!Number.isFinite(this.#settings[key])) return null;
        const group = make("div", "stepper");
        group.setAttribute("role", "group");
        const shown = make("output");
        const less = makeButton("icon-button", "−");
        const more = makeButton("icon-button", "+");
        less.setAttribute("aria-label", t(`${words}Less`));
        more.setAttribute("aria-label", t(`${words}More`));
        let value = this.#settings[key];
        let saved = value;
        let timer = null;
        const show = () => {
            shown.textContent = duration(value);
            less.setAttribute("aria-disabled", String(value <= TIMEOUT.least));
            more.setAttribute("aria-disabled", String(value >= TIMEOUT.most));
        };
        const change = (by) => {
            value = Math.min(TIMEOUT.most, Math.max(TIMEOUT.least, Math.round((value + by) / TIMEOUT.step) * TIMEOUT.step));
            show();
            // A row of presses is one change.
            clearTimeout(timer);
            timer = setTimeout(() => this.#save(key, value, () => {
                value = saved;
                show();
            }).then(() => (saved = value)), 300);
        };
        less.addEventListener("click", () => change(-TIMEOUT.step));
        more.addEventListener("click", () => change(TIMEOUT.step));
        group.append(less, shown, more);
        show();
        const setting = this.#labelled(words, group);
        group.setAttribute("aria-label", t(words));
        return setting;
    }

    #language() {
        const setting = make("div", "setting");
        const label = make("label", "words", t("setLanguage"));
        label.htmlFor = "set-language";
        const select = make("select");
        select.id = "set-language";
        for (const [value, name] of [["", t("setLanguageAuto")], ...Object.entries(LANGUAGES)]) {
            const option = make("option", "", name);
            option.value = value;
            if (value) option.lang = value;
            select.append(option);
        }
        select.value = languageChoice();
        select.addEventListener("change", () => chooseLanguage(select.value));
        setting.append(label, select);
        return setting;
    }

    // MARK: all chats

    #chats() {
        const rows = make("div", "rows");
        const everything = make("a", "row");
        everything.href = this.#host.exportAllAddress;
        everything.download = "";
        const words = make("span", "", t("exportAll"));
        words.append(make("small", "", t("exportAllHint")));
        everything.append(icon("export"), words);
        const input = make("input");
        Object.assign(input, { type: "file", hidden: true, accept: ".json,application/json", name: "import" });
        input.addEventListener("change", () => {
            const [file] = input.files;
            input.value = "";
            if (file) this.#import(file);
        });
        const remove = actionRow("bin", t("removeAll"), () => this.#removeAll(), { className: "danger" });
        rows.append(everything, actionRow("plus", t("importChats"), () => input.click(), { hint: t("importHint") }), input, remove);
        return rows;
    }

    async #import(file) {
        this.#tell(t("importing"), "told");
        try {
            // The file itself and not its text: it may be larger than what a page can hold, and the host reads it as it comes.
            const { imported = 0, unchanged = 0, failed = [], complete = true } = await this.#host.importChats(file);
            // Of a file that broke off the last sentence is about the file.
            const broken = complete ? [] : failed.splice(-1).map(({ error }) => error);
            const words = [t("imported", number(imported), unchanged), ...failed.map(({ title, error }) => t("importFailed", title || t("untitled"), error)), ...broken];
            this.#tell(words.join(" "), failed.length + broken.length > 0 ? "failure" : "told");
        } catch (error) {
            this.#fail(error);
        }
        // Also after a failure: what stands before a broken place was taken in.
        this.#on.imported();
    }

    async #removeAll() {
        if (!(await confirmSheet({ title: t("removeAllTitle"), body: t("removeAllBody"), action: t("removeAll") }))) return;
        try {
            const { deleted = 0 } = await this.#host.removeMany({ all: true });
            this.#tell(t("removedCount", number(deleted)), "told");
            this.#on.removedAll();
        } catch (error) {
            this.#fail(error);
        }
    }
}
