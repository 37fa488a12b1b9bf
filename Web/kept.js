// What is kept beside the chats: knowledge, handoffs and tasks, each with its own list, loaded when it is looked at.

import { json } from "./api.js";
import { icon, make, makeButton, makeFold } from "./elements.js";
import { FILE_LIMIT, filePieces } from "./file-pieces.js";
import { showExcerpts } from "./kept-excerpts.js";
import { confirmSheet, openSheet } from "./sheet.js";
import { number, shortTime, t, together } from "./strings.js";

const TYPES = ["note", "decision", "requirement", "risk", "question", "fact", "reference", "idea", "insight"];
const TABS = ["knowledge", "handoffs", "tasks"];

const kept = (query) => json("GET", `/api/agent/kept?${new URLSearchParams(query)}`);
const act = (tool, given) => json("POST", "/api/agent/kept", { body: { tool, arguments: given } });

/** `on` has `failed(error)`, and `restore(text)`, which puts a handoff's words where they can be read before they are sent. */
export function openKept(on) {
    return openSheet({ id: "kept", title: t("kept"), wide: true }, (body, sheet) => new Kept(body, sheet, on));
}

class Kept {
    #on;
    #sheet;
    #tabs = make("div", "tabs");
    #panel = make("div");
    #status = make("p", "offstage");
    #tab = null;
    /** Reads the list again that is looked at. */
    #reload = async () => {};

    constructor(body, sheet, on) {
        this.#on = on;
        this.#sheet = sheet;
        this.#status.setAttribute("role", "status");
        this.#tabs.setAttribute("role", "tablist");
        this.#tabs.setAttribute("aria-label", t("kept"));
        this.#panel.id = "kept-panel";
        this.#panel.setAttribute("role", "tabpanel");
        for (const name of TABS) {
            const tab = makeButton("", t("keptTabs")[name]);
            tab.id = `kept-${name}`;
            tab.setAttribute("role", "tab");
            tab.setAttribute("aria-controls", this.#panel.id);
            tab.addEventListener("click", () => this.#show(name));
            this.#tabs.append(tab);
        }
        this.#tabs.addEventListener("keydown", (event) => this.#step(event));
        body.append(this.#status, this.#tabs, this.#panel);
        this.#show("knowledge");
    }

    // Arrows go from tab to tab, as in every list of them.
    #step(event) {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        const next = TABS[(TABS.indexOf(this.#tab) + by + TABS.length) % TABS.length];
        this.#show(next);
        document.getElementById(`kept-${next}`).focus();
    }

    #show(name) {
        this.#tab = name;
        for (const tab of this.#tabs.children) {
            const isChosen = tab.id === `kept-${name}`;
            tab.setAttribute("aria-selected", isChosen);
            tab.tabIndex = isChosen ? 0 : -1;
        }
        this.#panel.setAttribute("aria-labelledby", `kept-${name}`);
        this.#panel.replaceChildren();
        ({ knowledge: () => this.#knowledge(), handoffs: () => this.#handoffs(), tasks: () => this.#tasks() })[name]();
    }

    // MARK: the three lists

    #knowledge() {
        const type = make("select");
        type.setAttribute("aria-label", t("keptType"));
        type.append(...TYPES.map((name) => new Option(t("keptTypes")[name], name)));
        const form = this.#form(t("keptCapture"), t("keptKeep"), (text) =>
            act("knowledge_capture", { type: type.value, text }), type);
        form.append(this.#fileButton(type));
        const search = make("input");
        search.type = "search";
        search.dir = "auto";
        search.placeholder = t("keptSearch");
        search.setAttribute("aria-label", t("keptSearch"));
        const insights = make("section", "insights");
        const list = make("ul", "kept");
        let asked = 0;
        const fill = async () => {
            const mine = ++asked;
            const words = search.value.trim();
            const found = await (words ? kept({ search: words, kind: "knowledge" }) : kept({ kind: "knowledge" }));
            if (mine === asked) this.#fill(list, found.hits ?? found.items, words ? "keptNothingFound" : "keptEmpty");
        };
        search.addEventListener("input", () => this.#attempt(fill));
        this.#panel.append(form, search, insights, list, this.#memories(), this.#synthesis());
        this.#reload = async () => {
            await fill();
            this.#showInsights(insights, (await json("GET", "/api/agent/insights")).insights);
        };
        this.#attempt(this.#reload);
    }

    /** What was remembered, and what is put together of all of it: read when it is looked at. */
    #memories() {
        const place = make("div");
        return this.#later("keptMemories", place, async () => {
            const list = make("ul", "kept");
            this.#fill(list, (await kept({ kind: "memory" })).items, "keptNoMemories");
            place.replaceChildren(list);
        });
    }

    #synthesis() {
        const text = make("div");
        return this.#later("keptReview", text, async () => {
            const { context, review } = await json("GET", "/api/agent/project");
            text.replaceChildren(this.#text(context), this.#text(review));
        });
    }

    #later(words, content, read) {
        const fold = makeFold("later", make("span", "", t(words)));
        fold.append(content);
        fold.addEventListener("toggle", () => fold.open && this.#attempt(read));
        return fold;
    }

    #handoffs() {
        const list = make("ul", "kept");
        const form = this.#form(t("keptHandoffTitle"), t("keptCreate"), (title) =>
            act("handoffs_create", title ? { title } : {}));
        form.querySelector("input").required = false;
        const excerpts = make("section");
        this.#panel.append(make("p", "hint", t("keptHandoffHint")), form, list, excerpts);
        this.#reload = async () => {
            this.#fill(list, (await kept({ kind: "handoff" })).items, "keptNoHandoffs");
            await showExcerpts(excerpts, (run) => this.#attempt(run), () => this.#reload());
        };
        this.#attempt(this.#reload);
    }

    #tasks() {
        const list = make("ul", "kept");
        const form = this.#form(t("keptTask"), t("keptAdd"), (title) => act("tasks_add", { title }));
        this.#panel.append(form, list);
        this.#reload = async () => this.#fill(list, (await kept({ kind: "task" })).items, "keptNoTasks");
        this.#attempt(this.#reload);
    }

    // MARK: parts of them

    #form(label, action, send, ...before) {
        const form = make("form", "adding");
        const input = make("input");
        input.setAttribute("aria-label", label);
        Object.assign(input, { placeholder: label, dir: "auto", required: true, autocomplete: "off" });
        const button = makeButton("primary", action);
        button.type = "submit";
        form.append(...before, input, button);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#attempt(async () => {
                button.disabled = true;
                try {
                    this.#say((await send(input.value.trim())).text.split("\n")[0]);
                    input.value = "";
                    await this.#reload();
                } finally {
                    button.disabled = false;
                }
            });
        });
        return form;
    }

    /** A text file is kept as it is, in pieces where it is long, each with the file's name and where in it it stands. */
    #fileButton(type) {
        const input = make("input");
        Object.assign(input, { type: "file", hidden: true, name: "kept-file" });
        const button = makeButton("text", t("keptFile"));
        button.addEventListener("click", () => input.click());
        input.addEventListener("change", () => {
            const [file] = input.files;
            input.value = "";
            if (file) this.#attempt(() => this.#keepFile(file, type.value));
        });
        const both = make("span");
        both.append(button, input);
        return both;
    }

    async #keepFile(file, type) {
        const pieces = file.size > FILE_LIMIT ? null : filePieces(new Uint8Array(await file.arrayBuffer()));
        if (pieces === null) throw Object.assign(new Error(t("keptFileBad", file.name, FILE_LIMIT / 1024)), { status: 400 });
        try {
            for (const { text, offset } of pieces) {
                await act("knowledge_capture", { type, text, file: file.name.slice(0, 1_000), offset });
            }
        } finally {
            await this.#reload();
        }
        this.#say(t("keptFileDone", file.name, number(pieces.length)));
    }

    #fill(list, items, none) {
        list.replaceChildren(...items.map((item) => this.#item(item)));
        if (items.length === 0) list.append(make("li", "hint", t(none)));
    }

    #item(item) {
        const line = make("li");
        const head = make("div", "head");
        if (item.kind === "task") head.append(this.#tick(item));
        const fold = makeFold("", this.#badge(item), this.#title(item));
        const content = make("div", "whole");
        if (item.text && item.text !== item.title) content.append(this.#text(item.text));
        content.append(make("p", "facts", shortTime(item.createdAt)), this.#source(item));
        fold.append(content);
        head.append(fold);
        if (item.kind === "handoff" && item.state === "active") {
            content.append(
                this.#button("undo", t("keptRestore"), () => this.#restore(item)),
                this.#button("close", t("keptDeactivate"), () => this.#change("handoffs_deactivate", { handoff: item.id })));
        }
        content.append(this.#button("bin", t("keptDelete"), () => this.#remove(item), "danger"));
        line.append(head);
        return line;
    }

    #title({ title, state }) {
        const words = make("span", state === "done" || state === "inactive" ? "past" : "", title);
        words.dir = "auto";
        return words;
    }

    #badge({ kind, type, state }) {
        const words = kind === "knowledge" ? (t("keptTypes")[type] ?? type) : state === "inactive" ? t("keptInactive") : "";
        return words ? make("span", "badge", words) : "";
    }

    #text(words) {
        const text = make("p", "words", words);
        text.dir = "auto";
        return text;
    }

    #source({ provenance = {} }) {
        const { file, offset } = provenance;
        return file ? make("p", "facts", t("keptFrom", Number.isInteger(offset) ? `${file}, ${offset}` : file)) : "";
    }

    #tick(item) {
        const box = make("input");
        box.type = "checkbox";
        box.checked = item.state === "done";
        box.setAttribute("aria-label", item.title);
        box.addEventListener("change", () => {
            const tool = box.checked ? "tasks_complete" : "tasks_reopen";
            this.#change(tool, { task: item.id }).then((done) => {
                if (!done) box.checked = !box.checked;
            });
        });
        return box;
    }

    #button(symbol, words, run, className = "") {
        const button = makeButton(`quiet ${className}`);
        button.append(icon(symbol), make("span", "", words));
        button.addEventListener("click", run);
        return button;
    }

    #showInsights(section, insights) {
        section.replaceChildren();
        if (insights.length === 0) return;
        const list = make("ul");
        list.append(...insights.map(({ kind, items }) => {
            const line = make("li", "", t("keptInsights")[kind](items.map(({ title }) => title)));
            line.dir = "auto";
            return line;
        }));
        section.append(make("h3", "", t("keptInsightsTitle")), list);
    }

    // MARK: what is done

    async #change(tool, given) {
        return this.#attempt(async () => {
            this.#say((await act(tool, given)).text);
            await this.#reload();
        });
    }

    #restore(item) {
        this.#attempt(async () => {
            const { text } = await act("handoffs_restore", { handoff: item.id });
            this.#sheet.close();
            this.#on.restore(text);
        });
    }

    #remove(item) {
        this.#attempt(async () => {
            const path = `/api/agent/kept/${item.id}`;
            const cascade = await json("GET", `${path}/cascade`);
            // Not the host's words: they are in one language only.
            const others = cascade.items.filter(({ id }) => id !== item.id).map(({ title }) => title);
            const words = together(t("keptDeleteBody", item.title), others.length ? t("keptDeleteWith", others) : "");
            if (!(await confirmSheet({ title: t("keptDelete"), body: words, action: t("keptDelete") }))) return;
            await json("DELETE", `${path}?token=${cascade.token}`);
            await this.#reload();
        });
    }

    /** Answers whether it was done. Inside the sheet, as what is under it cannot be read. */
    async #attempt(run) {
        this.#panel.querySelector(":scope > .failure")?.remove();
        try {
            await run();
            return true;
        } catch (error) {
            if (error.status === 401) {
                this.#on.failed(error);
                return false;
            }
            const words = error.status > 0 ? together(error.message || t("refusedPlain", error.status), error.hint) : t("unreachable");
            const line = make("p", "failure", words);
            line.setAttribute("role", "alert");
            line.dir = "auto";
            this.#panel.prepend(line);
            return false;
        }
    }

    #say(sentence) {
        this.#status.textContent = sentence;
    }
}
