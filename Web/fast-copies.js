// Quicker copies of models whose weights are stored in a way that is slow on this device: offered on the model's card, made
// while the card is watched or not, told with what they gained, switched to and removed.

import { json, stream } from "./api.js";
import { make, makeButton } from "./elements.js";
import { fileSize } from "./formats.js";
import { confirmSheet } from "./sheet.js";
import { number, percent, t, together } from "./strings.js";

const fileOf = (path) => String(path ?? "").split("/").at(-1);

/**
 * `on` has `drawn(file)`, to draw the cards of a file again, `changed()`, when there are other files, `use(name)`,
 * `inUse(name)`, `refused(error)` and `signal`, which is aborted when nobody looks any more.
 */
export class FastCopies {
    #on;
    #slow = new Map();
    #copies = [];
    #job = null;
    #watching = null;

    constructor(on) {
        this.#on = on;
    }

    /** What the host's list of models tells of copies. */
    take(listing) {
        this.#slow = new Map((listing?.slowModels ?? []).map(({ model, types }) => [model, types]));
        this.#copies = listing?.fastCopies ?? [];
        const under = listing?.optimizing ?? null;
        if (under && this.#watching === null) {
            this.#job = { ...under, state: "running" };
            this.#watch(under.model);
        }
    }

    /** Whether a file is a copy, which is told on its original's card and has none of its own. */
    isCopy(file) {
        return this.#copies.some((copy) => copy.name === file && this.#slow.has(copy.original.name));
    }

    /** What a card says of a file: an offer, how far the making is, or the copy; null when there is nothing to say. */
    part(file, name) {
        const copies = this.#copies.filter((copy) => copy.original.name === file);
        if (!file || (!this.#slow.has(file) && copies.length === 0)) return null;
        const box = make("div", "fast");
        for (const copy of copies) box.append(...this.#copyLines(copy, name));
        if (this.#job && fileOf(this.#job.model) === file) box.append(...this.#jobLines(name));
        else if (copies.length === 0) box.append(...this.#offerLines(file, name));
        return box;
    }

    #offerLines(file, name) {
        const words = make("p", "about", t("fastOffer", this.#slow.get(file).join(", ")));
        const button = makeButton("text", t("fastMake"));
        button.dataset.act = "fast";
        button.setAttribute("aria-label", `${t("fastMake")}: ${name}`);
        button.disabled = this.#job !== null && this.#job.state === "running";
        button.addEventListener("click", () => {
            this.#job = { model: file, phase: "quantizing", fraction: 0, state: "running" };
            this.#on.drawn(file);
            this.#watch(file);
        });
        return [words, actions(button)];
    }

    #jobLines(name) {
        const { state, phase, fraction, error } = this.#job;
        if (state === "failed") {
            const line = make("p", "failure", error);
            line.setAttribute("role", "alert");
            return [line, ...this.#offerLines(fileOf(this.#job.model), name)];
        }
        const bar = make("progress");
        bar.max = 1;
        bar.value = fraction;
        bar.setAttribute("aria-label", `${t("fastMake")}: ${name}`);
        const words = t(phase === "measuring" ? "fastMeasuring" : "fastWriting", percent(fraction));
        const stop = makeButton("text", t("modelStop"));
        stop.dataset.act = "fast";
        stop.setAttribute("aria-label", `${t("modelStop")}: ${name}`);
        stop.addEventListener("click", () => json("POST", "/api/models/optimize/cancel", { body: {}, timeout: 60_000 })
            .catch((error) => this.#on.refused(error)));
        const box = make("div", "progress");
        box.append(bar, make("p", "about", words));
        return [box, actions(stop)];
    }

    #copyLines(copy, name) {
        const { prefillGain, decodeGain, originalPerplexity, copyPerplexity } = copy.measure;
        const gains = t("fastGains", number(prefillGain, 1), number(decodeGain, 1));
        const sizes = t("fastSizes", fileSize(copy.bytes), fileSize(copy.original.bytes));
        const loss = t("fastLoss", number(100 * (copyPerplexity / originalPerplexity - 1), 1));
        const remove = makeButton("text danger", t("fastRemove"));
        remove.dataset.act = "fast-remove";
        remove.setAttribute("aria-label", `${t("fastRemove")}: ${name}`);
        remove.addEventListener("click", () => this.#remove(copy, name));
        const used = this.#on.inUse(copy.name);
        const use = used ? make("span", "badge on", t("fastInUse")) : makeButton("primary", t("fastUse"));
        if (!used) {
            use.dataset.act = "fast-use";
            use.setAttribute("aria-label", `${t("fastUse")}: ${name}`);
            use.addEventListener("click", () => this.#on.use(copy.name));
        }
        return [make("p", "about", together(gains, sizes, loss)), actions(...(used ? [use] : [remove, make("span", "gap"), use]))];
    }

    /** Starts the making or joins it, and follows it to its end; leaving stops nothing. */
    async #watch(model) {
        const mine = (this.#watching = {}), file = fileOf(model);
        let ended = null;
        try {
            await stream("POST", "/api/models/optimize", { body: { model }, signal: this.#on.signal }, {
                headers: () => {}, bytes: () => {}, ended: () => {},
                frame: (frame) => {
                    if (frame.phase) this.#job = { ...frame, state: "running" };
                    else ended = frame;
                    this.#on.drawn(file);
                },
            });
        } catch (error) {
            if (this.#on.signal.aborted) return;
            ended = { error: error.status > 0 ? together(error.message, error.hint) : t("unreachable") };
        }
        if (this.#watching !== mine) return;
        this.#watching = null;
        this.#job = ended?.error ? { model: file, state: "failed", error: together(ended.error, ended.hint) } : null;
        if (!this.#on.signal.aborted) await this.#on.changed();
    }

    async #remove(copy, name) {
        const sure = await confirmSheet({
            title: t("fastRemoveTitle", name), action: t("fastRemove"), body: t("fastRemoveBody", fileSize(copy.bytes)),
        });
        if (!sure) return;
        await json("DELETE", `/api/models/optimize?model=${encodeURIComponent(copy.name)}`, { timeout: 60_000 })
            .catch((error) => this.#on.refused(error));
        await this.#on.changed();
    }
}

function actions(...parts) {
    const row = make("div", "actions");
    row.append(...parts);
    return row;
}
