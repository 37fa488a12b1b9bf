// Which model answers, how full its view of the chat is, and what to do while there is none: the header's button and
// the empty page. The sheet behind the button is model-sheet.js.

import { kilo, percent, t, together } from "./strings.js";
import { displayName } from "./text.js";

const POLL_LOADING = 1_000;
const POLL_IDLE = 5_000;
/** After a line was lost: a page that is being left loses all of them, and asks no more. */
const LOOK_AFTER = 200;
/** While all is well: a host that has ended is not to be shown as one that answers. */
const POLL_QUIET = 15_000;

export class Model {
    #parts;
    #host;
    #on;
    #timer = null;
    #engine = null;
    #models = null;
    #reachable = true;
    #asking = false;
    #told = new Set();
    #used = null;

    /** `on` has `ready(boolean)`, called on every change, `notice(sentence)` for what the engine has to say about this
     * model, once, `failed(error)` for what only the page can handle, and `back()` once the host can be reached
     * again. */
    constructor(parts, host, on) {
        this.#parts = parts;
        this.#host = host;
        this.#on = on;
        document.addEventListener("visibilitychange", () => {
            if (!document.hidden && this.#engine) this.refresh();
        });
    }

    get state() {
        return this.#engine?.model?.state ?? "None";
    }

    /** Whether none is there or on its way, at a host that answers. */
    get idle() {
        return this.#engine !== null && this.#reachable && (this.state === "None" || this.state === "Failed");
    }

    /** What the host said of its engine and its models, for who shows it in full. */
    get facts() {
        return { engine: this.#engine, models: this.#models, used: this.#used };
    }

    /** The server that answers in place of this device, so that text leaves it; null when none does. */
    get server() {
        return this.#engine?.leavesDevice ? this.#engine.endpointHost ?? "" : null;
    }

    get networkDisabledMessage() {
        return this.#engine?.networkDisabledMessage ?? "";
    }

    /** How many tokens of the model's view the open chat takes, as its last answer told; null when none did. */
    set used(tokens) {
        this.#used = tokens;
        if (this.#engine) this.#show();
    }

    /** Asks again, also for what does not change by itself. */
    async reload() {
        this.#models = null;
        await this.refresh();
    }

    /** Something did not reach the host: whether nothing does is found out soon. */
    lost() {
        if (this.#asking || !this.#reachable) return;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.refresh(), LOOK_AFTER);
    }

    async refresh() {
        clearTimeout(this.#timer);
        this.#asking = true;
        const before = this.#reachable;
        try {
            this.#engine = await this.#host.engine();
            this.#reachable = true;
            if (this.state === "Loaded" && !this.#models?.loaded) this.#models = await this.#host.models();
            if (this.state !== "Loaded") this.#models = null;
        } catch (error) {
            if (error.status === 401) return this.#on.failed(error);
            this.#reachable = error.status > 0;
        } finally {
            this.#asking = false;
        }
        this.#show();
        if (!before && this.#reachable) this.#on.back();
        clearTimeout(this.#timer);
        if (document.hidden) return;
        const quiet = this.state === "Loaded" && this.#reachable;
        // A host that has only just begun may load a model in a moment.
        const soon = this.state === "Loading" || performance.now() < POLL_QUIET;
        const wait = quiet ? POLL_QUIET : soon ? POLL_LOADING : POLL_IDLE;
        this.#timer = setTimeout(() => this.refresh(), wait);
    }

    #show() {
        const { button, name, sub, progress, privacy } = this.#parts;
        const model = this.#engine?.model ?? {};
        const shown = displayName(model.id || model.name || "");
        const [title, below] = {
            Loaded: () => [shown, this.#loadedWords()],
            Loading: () => [
                t("modelLoading", shown),
                [Number.isFinite(model.loading) && percent(model.loading), t("modelLoadingSub")].filter(Boolean).join(" · "),
            ],
            Failed: () => [t("modelFailed"), shown],
            None: () => [t("modelNone"), t("modelNoneSub")],
        }[this.state]?.() ?? [t("modelNone"), t("modelNoneSub")];
        if (this.state !== "Loaded") this.#showGauge(null);
        if (!this.#reachable) this.#showGauge(null);
        say(name, this.#reachable ? title : t("modelUnreachable"));
        say(sub, this.#reachable ? below : t("modelUnreachableSub"));
        button.dataset.state = this.#reachable ? this.state : "Unreachable";
        privacy.textContent = this.server === null ? t("privacy") : t("privacyServer", this.server);
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

    // The share in words, and as a ring that fills.
    #loadedWords() {
        const window = this.#models?.contextTokens;
        const share = window > 0 && this.#used > 0 ? Math.min(1, this.#used / window) : null;
        this.#showGauge(share);
        const place = this.server === null ? t("onDevice") : t("onServer", this.server);
        if (!(window > 0)) return place;
        if (share === null) return `${place} · ${t("contextWindow", kilo(window))}`;
        const used = t("contextUsed", percent(share), kilo(window));
        // Where text leaves the device that is always in sight.
        return this.server === null ? used : `${place} · ${used}`;
    }

    #showGauge(share) {
        const { gauge } = this.#parts;
        gauge.toggleAttribute("hidden", share === null);
        gauge.classList.toggle("nearly-full", share > 0.8);
        gauge.lastElementChild.setAttribute("stroke-dasharray", `${100 * (share ?? 0)} 100`);
    }

    #showEmpty() {
        const { title, body, command, examples, choose } = this.#parts.empty;
        const folder = this.#engine?.modelRoot;
        const [heading, words, example] = {
            Loaded: () => this.server === null
                ? [t("emptyTitle"), t("emptyBody"), null]
                : [t("emptyTitleServer", this.server), t("emptyBodyServer", this.server), null],
            Loading: () => [
                t("loadingTitle"), this.server === null ? t("loadingBody") : t("loadingBodyServer", this.server), null,
            ],
            Failed: () => this.server === null
                ? [t("failedTitle"), together(this.#engine.model.error, t("failedBody")), t("noModelCommand")]
                : [t("failedTitle"), this.#engine.model.error ?? "", null],
            None: () => [t("noModelTitle"), folder ? t("noModelBody", folder) : t("noModelBodyPlain"), t("noModelCommand")],
        }[this.state]?.() ?? [t("emptyTitle"), t("emptyBody"), null];
        title.textContent = heading;
        body.textContent = words;
        command.textContent = example ?? "";
        command.hidden = example === null;
        examples.hidden = this.state === "None" || this.state === "Failed";
        choose.hidden = !examples.hidden;
    }
}

/** What is said already is not said again: a screen reader would. */
function say(element, words) {
    if (element.textContent !== words) element.textContent = words;
}
