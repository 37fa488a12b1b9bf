// Which model answers, and what to do while there is none: the header's button, its sheet, and the empty page.

import { make } from "./elements.js";
import { fileSize, kilo, number, t } from "./strings.js";

const POLL_LOADING = 1_000;
const POLL_IDLE = 5_000;

export class Model {
    #parts;
    #host;
    #on;
    #timer = null;
    #engine = null;
    #models = null;
    #reachable = true;
    #told = new Set();

    /** `on` has `ready(boolean)`, called on every change, `notice(sentence)` for what the engine has to say about this
     * model, once, and `failed(error)` for what only the page can handle. */
    constructor(parts, host, on) {
        this.#parts = parts;
        this.#host = host;
        this.#on = on;
        parts.button.addEventListener("click", () => this.#openSheet());
        parts.close.addEventListener("click", () => parts.sheet.close());
        parts.sheet.addEventListener("click", (event) => {
            if (event.target === parts.sheet) parts.sheet.close();
        });
        document.addEventListener("visibilitychange", () => {
            if (!document.hidden && this.#engine) this.refresh();
        });
    }

    get state() {
        return this.#engine?.model?.state ?? "None";
    }

    async refresh() {
        clearTimeout(this.#timer);
        try {
            this.#engine = await this.#host.engine();
            this.#reachable = true;
            if (this.state === "Loaded" && !this.#models?.loaded) this.#models = await this.#host.models();
            if (this.state !== "Loaded") this.#models = null;
        } catch (error) {
            if (error.status === 401) return this.#on.failed(error);
            this.#reachable = error.status > 0;
        }
        this.#show();
        if (!document.hidden && (this.state !== "Loaded" || !this.#reachable)) {
            this.#timer = setTimeout(() => this.refresh(), this.state === "Loading" ? POLL_LOADING : POLL_IDLE);
        }
    }

    #show() {
        const { button, name, sub, progress } = this.#parts;
        const model = this.#engine?.model ?? {};
        const shown = displayName(model.id || model.name || "");
        const [title, below] = {
            Loaded: () => [shown, this.#loadedWords()],
            Loading: () => [
                t("modelLoading", shown),
                [Number.isFinite(model.loading) && t("percent", model.loading), t("modelLoadingSub")].filter(Boolean).join(" · "),
            ],
            Failed: () => [t("modelFailed"), shown],
            None: () => [t("modelNone"), t("modelNoneSub")],
        }[this.state]?.() ?? [t("modelNone"), t("modelNoneSub")];
        name.textContent = this.#reachable ? title : t("modelUnreachable");
        sub.textContent = this.#reachable ? below : t("modelUnreachableSub");
        button.dataset.state = this.#reachable ? this.state : "Unreachable";
        progress.hidden = this.state !== "Loading" || !Number.isFinite(model.loading);
        if (!progress.hidden) progress.value = model.loading;
        this.#showEmpty();
        this.#on.ready(this.state === "Loaded");
        for (const sentence of Array.isArray(model.notices) ? model.notices : []) {
            if (this.#told.has(`${model.id}:${sentence}`)) continue;
            this.#told.add(`${model.id}:${sentence}`);
            this.#on.notice(sentence);
        }
    }

    #loadedWords() {
        const window = this.#models?.contextTokens;
        return window > 0 ? `${t("onDevice")} · ${t("contextWindow", kilo(window))}` : t("onDevice");
    }

    #showEmpty() {
        const { title, body, command, examples } = this.#parts.empty;
        const folder = this.#engine?.modelRoot;
        const [heading, words, example] = {
            Loaded: () => [t("emptyTitle"), t("emptyBody"), null],
            Loading: () => [t("loadingTitle"), t("loadingBody"), null],
            Failed: () => [t("failedTitle"), [this.#engine.model.error, t("failedBody")].filter(Boolean).join(" "), t("noModelCommand")],
            None: () => [t("noModelTitle"), folder ? t("noModelBody", folder) : t("noModelBodyPlain"), t("noModelCommand")],
        }[this.state]?.() ?? [t("emptyTitle"), t("emptyBody"), null];
        title.textContent = heading;
        body.textContent = words;
        command.textContent = example ?? "";
        command.hidden = example === null;
        examples.hidden = this.state === "None" || this.state === "Failed";
    }

    #openSheet() {
        const { sheet, sheetTitle, sheetError, facts } = this.#parts;
        const model = this.#engine?.model ?? {};
        const models = this.#models ?? {};
        sheetTitle.textContent = this.state === "Loaded" ? displayName(model.id || model.name || "") : this.#parts.name.textContent;
        sheetError.hidden = !model.error;
        sheetError.textContent = model.error ?? "";
        const active = models.contextTokens;
        const full = models.modelContextTokens;
        const rows = [
            [t("detailFile"), models.loaded || model.id],
            [t("detailArchitecture"), models.architecture],
            [t("detailContext"), active > 0 && (full > active
                ? t("detailContextOf", number(active), number(full)) : t("detailContextOnly", number(active)))],
            [t("detailReply"), models.defaultMaxTokens > 0 && t("detailContextOnly", number(models.defaultMaxTokens))],
            [t("detailMemory"), memoryWords(model.memory)],
            [t("detailEngine"), typeof this.#engine?.engine === "string" && this.#engine.engine],
            [t("detailFolder"), this.#engine?.modelRoot],
        ].filter(([, value]) => typeof value === "string" && value !== "");
        facts.replaceChildren(...rows.flatMap(([term, value]) => {
            const dd = make("dd", "", value);
            dd.dir = "auto";
            return [make("dt", "", term), dd];
        }));
        sheet.showModal();
    }
}

function memoryWords(memory) {
    if (typeof memory === "string") return memory;
    const bytes = typeof memory === "number" ? memory : memory?.bytes ?? memory?.resident;
    return Number.isFinite(bytes) && bytes > 0 ? t("bytes", fileSize(bytes)) : null;
}

/**
 * The file's name as a person would say it. The name inside the file is whatever its maker's training run was called
 * ("Smollm2 135M 8k Lc100K Mix1 Ep2"); the file's own is what people know it by.
 */
export function displayName(file) {
    return file
        .replace(/^.*[/\\]/, "")
        .replace(/\.gguf$/i, "")
        .replace(/[-_](?:it|instruct)(?=[-_.]|$)/i, "")
        .replace(/[-.]((?:UD-)?I?Q\d\w*|B?F16|F32)$/i, " $1")
        .replace(/-+/g, " ")
        .trim();
}
