// The models: what is on this device, what fits it, downloads with their progress, Use and Delete.

import { afterFrame, begun, fromListing, isHere, sorted, withMemory } from "./download-state.js";
import { make, makeButton, makeFold } from "./elements.js";
import { FastCopies } from "./fast-copies.js";
import { fileSize } from "./formats.js";
import { facts, memoryWords, progress } from "./model-card.js";
import { importForm } from "./model-import.js";
import { confirmSheet, openSheet } from "./sheet.js";
import { number, t, together } from "./strings.js";
import { displayName } from "./text.js";

/** A lost window on a download is opened again after this long. */
const LOOK_AGAIN = 2_000;

/**
 * `on` has `used()` once another model is chosen, `answering()`, whether one is being written, `model()`, the host's word
 * on the loaded one, and `failed(error)`; `host` are the host's routes.
 */
export function openModels(host, on) {
    let models = null;
    return openSheet({ id: "models", title: t("models"), wide: true }, (body, sheet) => {
        models = new Models(body, host, on);
        sheet.addEventListener("close", () => models.leave());
    }).then(() => models.load());
}

class Models {
    #host;
    #on;
    #content = make("div");
    #status = make("p", "offstage");
    #entries = [];
    #files = [];
    #jobs = new Map();
    #cards = new Map();
    /** What was pressed here last: a model that has come is used only when nothing else was chosen since. */
    #wanted = null;
    #loading = null;
    #leaving = new AbortController();
    #copies = new FastCopies({
        signal: this.#leaving.signal, changed: () => this.load(), refused: (error) => this.#fail(error), use: (name) => this.#use(name),
        inUse: (name) => this.#isLoaded([name]), drawn: (file) => this.#drawFile(file),
    });

    constructor(body, host, on) {
        this.#host = host;
        this.#on = on;
        this.#status.setAttribute("role", "status");
        body.append(make("p", "hint", t("modelsIntro")), this.#status, this.#content);
        this.#content.append(make("p", "", t("modelsLoading")));
        body.append(importForm({
            send: (path, copy) => host.importModel(path, copy), added: () => this.load(), failed: (error) => on.failed(error),
        }));
    }

    leave() {
        this.#leaving.abort();
    }

    async load() {
        try {
            const [entries, jobs, files] = await Promise.all([
                this.#host.catalog(), this.#host.downloads().catch(() => []), this.#host.models().catch(() => null),
            ]);
            this.#entries = entries.map(withMemory);
            this.#files = Array.isArray(files?.models) ? files.models : [];
            this.#copies.take(files);
            for (const job of jobs) {
                if (this.#jobs.get(job.id)?.state === "running") continue;
                // A finished job says less than the entry itself, but a failed one says why.
                if (job.running || job.state === "Failed") this.#jobs.set(job.id, fromListing(job));
                if (job.running) this.#watch(job.id);
            }
            this.#draw();
        } catch (error) {
            if (error.status === 401) return this.#on.failed(error);
            const again = makeButton("primary", t("retry"));
            again.addEventListener("click", () => this.load());
            this.#content.replaceChildren(make("p", "failure", together(t("modelsFailed"), error.message)), again);
        }
    }

    #draw() {
        const { first, rest } = sorted(this.#entries);
        this.#cards.clear();
        const fresh = [];
        const pile = (entries) => {
            const list = make("ul", "cards");
            list.setAttribute("role", "list");
            list.append(...entries.map((entry) => this.#card(entry)));
            return list;
        };
        const advised = first.some((entry) => !isHere(entry));
        if (first.length > 0) fresh.push(make("h3", "", t(advised ? "modelsRecommended" : "models")), pile(first));
        if (rest.length > 0) {
            const fold = makeFold("rest", t("modelsRest", number(rest.length)));
            fold.open = first.length === 0 || this.#content.querySelector(".rest")?.open === true;
            fold.append(pile(rest));
            fresh.push(fold);
        }
        const others = this.#files.filter((file) => !this.#copies.isCopy(file) && !this.#entries.some((entry) => entry.id === file || entry.path?.endsWith(`/${file}`)));
        if (others.length > 0) fresh.push(make("h3", "", t("modelsHere")), this.#otherFiles(others));
        this.#content.replaceChildren(...fresh);
    }

    #otherFiles(files) {
        const list = make("ul", "cards");
        list.setAttribute("role", "list");
        for (const file of files) {
            const card = make("li", "card");
            const title = make("h4", "", displayName(file));
            const actions = make("div", "actions");
            actions.append(make("span", "gap"));
            this.#addUse(actions, file, displayName(file));
            card.append(title, make("p", "facts", file), ...this.#copyPart(file, displayName(file)), actions);
            list.append(card);
        }
        return list;
    }

    // MARK: a card

    #card(entry) {
        const card = make("li", "card");
        this.#cards.set(entry.id, { card, entry });
        this.#fill(card, entry);
        return card;
    }

    #fill(card, entry) {
        const job = this.#jobs.get(entry.id);
        const focused = card.contains(document.activeElement) ? document.activeElement.dataset.act : null;
        const title = make("h4", "", [entry.name ?? entry.id, entry.quantization].filter(Boolean).join(" · "));
        title.dir = "auto";
        if (entry.experimental) title.append(" ", make("span", "badge", t("modelExperimental")));
        card.replaceChildren(title, make("p", "facts", facts(entry)));
        if (entry.notes) card.append(make("p", "about", entry.notes));
        const memory = memoryWords(entry);
        if (memory) card.append(make("p", entry.fits === false ? "about toobig" : "about", memory));
        if (job) card.append(progress(job, entry));
        if (isHere(entry)) card.append(...this.#copyPart(entry.path?.split("/").at(-1), entry.name ?? entry.id));
        const actions = make("div", "actions");
        this.#addActions(actions, entry, job);
        card.append(actions);
        if (focused) (card.querySelector(`[data-act="${focused}"]`) ?? card.querySelector("button"))?.focus();
    }

    #addActions(actions, entry, job) {
        const name = entry.name ?? entry.id;
        const add = (act, words, className, run) => {
            const button = makeButton(className, t(words));
            button.dataset.act = act;
            button.setAttribute("aria-label", `${t(words)}: ${name}`);
            button.addEventListener("click", run);
            actions.append(button);
        };
        const whole = entry.state === "Installed" || entry.installed === true;
        if (whole || entry.state === "Partial") {
            // What comes with the program cannot be deleted.
            if (job?.state !== "running" && entry.origin !== "embedded") add("delete", "modelDelete", "text danger", () => this.#remove(entry));
        }
        actions.append(make("span", "gap"));
        if (job?.state === "running") return add("stop", "modelStop", "text", () => this.#cancel(entry));
        if (whole && entry.fits !== false) return this.#addUse(actions, entry.id, name, entry);
        if (entry.fits === false) return actions.append(make("span", "badge", t("modelTooBig")));
        if (entry.sideloadOnly) return actions.append(make("p", "about", t("modelSideload")));
        const words = job?.state === "failed" ? "retry" : entry.state === "Partial" ? "modelResume" : "modelDownload";
        return add("download", words, "primary", () => this.#download(entry));
    }

    #addUse(actions, id, name, entry) {
        const names = [id, entry?.path?.split("/").at(-1)].filter(Boolean);
        if (this.#loading === id) return actions.append(make("span", "badge", t("modelStarting")));
        if (this.#isLoaded(names)) {
            return actions.append(make("span", "badge on", t("modelInUse")));
        }
        const use = makeButton("primary", t("modelUse"));
        use.dataset.act = "use";
        use.setAttribute("aria-label", `${t("modelUse")}: ${name}`);
        use.addEventListener("click", () => this.#use(id));
        return actions.append(use);
    }

    #isLoaded(names) {
        const loaded = this.#on.model();
        return loaded?.state === "Loaded" && (names.includes(loaded.id) || names.includes(loaded.name));
    }

    #drawFile(file) {
        const entry = this.#entries.find((other) => other.path?.split("/").at(-1) === file);
        if (entry) this.#redraw(entry.id);
        else this.#draw();
    }

    #copyPart(file, name) {
        return [this.#copies.part(file, name)].filter(Boolean);
    }

    #redraw(id) {
        const { card, entry } = this.#cards.get(id) ?? {};
        if (card) this.#fill(card, entry);
    }

    // MARK: downloads

    #download(entry) {
        this.#wanted = entry.id;
        this.#jobs.set(entry.id, begun());
        this.#redraw(entry.id);
        this.#watch(entry.id);
    }

    /** Follows a download until it ends; a lost line is taken up again, as the download goes on in the host. */
    async #watch(id) {
        const { signal } = this.#leaving;
        const name = this.#entries.find((entry) => entry.id === id)?.name ?? id;
        try {
            await this.#host.download(id, signal, {
                headers: () => {}, bytes: () => {}, ended: () => {},
                frame: (frame) => {
                    const job = afterFrame(this.#jobs.get(id) ?? begun(), frame);
                    const moved = job.state === "running" && this.#cards.get(id)?.card.querySelector(".progress");
                    this.#jobs.set(id, job);
                    if (moved) moved.replaceWith(progress(job, this.#cards.get(id).entry));
                    else this.#redraw(id);
                },
            });
        } catch (error) {
            if (signal.aborted) return;
            if (error.status > 0) {
                this.#jobs.set(id, { ...begun(), state: "failed", error: together(error.message || t("refusedPlain", error.status), error.hint) });
            } else {
                this.#status.textContent = t("downloadLost");
                setTimeout(() => !signal.aborted && this.#lookAgain(id), LOOK_AGAIN);
                return;
            }
        }
        if (signal.aborted) return;
        const job = this.#jobs.get(id);
        if (job?.state === "running") return this.#lookAgain(id);
        if (job?.state === "done") this.#status.textContent = t("downloadDone", name);
        if (job?.state === "failed") this.#status.textContent = t("downloadFailed", name, job.error);
        if (job?.state === "done") this.#jobs.delete(id);
        await this.load();
        if (job?.state === "done") this.#arrived(id);
    }

    async #lookAgain(id) {
        const jobs = await this.#host.downloads().catch(() => null);
        if (this.#leaving.signal.aborted) return;
        if (jobs === null) return void setTimeout(() => this.#lookAgain(id), LOOK_AGAIN);
        const job = jobs.find((other) => other.id === id);
        if (job?.running) return void setTimeout(() => !this.#leaving.signal.aborted && this.#watch(id), LOOK_AGAIN);
        const complete = !job || job.state === "Completed";
        if (complete) this.#jobs.delete(id);
        else this.#jobs.set(id, fromListing(job));
        await this.load();
        if (job && complete) this.#arrived(id);
    }

    #arrived(id) {
        if (this.#wanted === id && !this.#on.answering()) this.#use(id);
    }

    async #cancel(entry) {
        this.#wanted = null;
        await this.#host.cancelDownload(entry.id).catch((error) => this.#fail(error));
    }

    // MARK: using and deleting

    async #use(id) {
        this.#wanted = id;
        if (this.#on.answering()) {
            const sure = await confirmSheet({
                title: t("modelSwitchTitle"), body: t("modelSwitchBody"), action: t("modelSwitch"), danger: false,
            });
            if (!sure) return;
        }
        this.#loading = id;
        this.#draw();
        this.#on.used();
        try {
            await this.#host.loadModel(id);
        } catch (error) {
            this.#fail(error);
        }
        this.#loading = null;
        await this.#on.used();
        if (!this.#leaving.signal.aborted) await this.load();
    }

    async #remove(entry) {
        const name = entry.name ?? entry.id;
        const size = entry.installedBytes ?? 0;
        const sure = await confirmSheet({
            title: t("modelRemoveTitle", name), action: t("modelDelete"),
            body: size > 0 ? t("modelRemoveBody", fileSize(size)) : t("modelRemovePlain"),
        });
        if (!sure) return;
        this.#jobs.delete(entry.id);
        await this.#host.removeModel(entry.id).catch((error) => this.#fail(error));
        await this.load();
        this.#on.used();
    }

    #fail(error) {
        if (error.status === 401) return this.#on.failed(error);
        const words = error.status > 0 ? together(error.message || t("refusedPlain", error.status), error.hint) : t("unreachable");
        const line = make("p", "failure", words);
        line.setAttribute("role", "alert");
        this.#content.parentElement.querySelector(":scope > .failure")?.remove();
        this.#content.before(line);
        line.scrollIntoView({ block: "nearest" });
    }
}
