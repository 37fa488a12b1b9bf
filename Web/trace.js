// What an answer's tools did: a line for each finished step, a link for each file, and the receipts on demand.

import { icon, make, makeFold } from "./elements.js";
import { clockTime, seconds } from "./formats.js";
import { number, t } from "./strings.js";
import { oneLine, visible } from "./text.js";

const DETAIL = 70;
const ARTIFACTS = "/api/code/artifacts/";

/** The kept lines, in the order things happened. Its list joins the answer with the first of them. */
export class Trace {
    #list = document.createElement("ul");
    #place;

    /** `place` gets the list, to put it where it belongs. */
    constructor(place) {
        this.#place = place;
        this.#list.className = "trace";
        // Without bullets Safari forgets that it is a list.
        this.#list.setAttribute("role", "list");
        this.#list.setAttribute("aria-label", t("steps"));
    }

    addStep(step, files) {
        this.#add(stepLine(step));
        this.addFiles(files);
    }

    addFiles(files) {
        for (const file of files) this.#add(fileLine(file));
    }

    /** Takes a settled question in among the steps. */
    addAnswered(card) {
        const line = document.createElement("li");
        line.append(card);
        this.#add(line);
    }

    #add(line) {
        if (!this.#list.parentNode) this.#place(this.#list);
        this.#list.append(line);
    }
}

function stepLine({ tool, detail, ok, seconds: took }) {
    const line = make("li", `step${ok ? "" : " failed"}`);
    const dot = make("span", "dot");
    dot.setAttribute("aria-hidden", "true");
    const words = make("p");
    const what = oneLine(detail ?? "", DETAIL);
    words.append(make("span", ok ? "offstage" : "label", `${t(ok ? "stepSucceeded" : "stepFailed")} `), make("span", "label", t(ok ? "stepDone" : "stepTried", tool)));
    if (what !== "") words.append(" · ", make("bdi", "", what));
    words.append(" · ", make("span", "took", seconds(took)));
    line.append(dot, words);
    return line;
}

function fileLine({ name, bytes, url }) {
    const line = make("li", "file");
    const size = t("kilobytes", number(Math.max(1, Math.round((bytes || 0) / 1024))));
    const words = make("bdi", "", visible(name));
    // Only this host's files are links: the address came with the answer, and an answer can say anything.
    const address = artifactAddress(url);
    if (address === null) {
        line.append(words, ` · ${size}`);
        return line;
    }
    const link = make("a");
    link.href = address;
    link.download = "";
    link.append(icon("file"), words, ` · ${size}`);
    link.setAttribute("aria-label", `${t("download", visible(name))} · ${size}`);
    line.append(link);
    return line;
}

function artifactAddress(url) {
    if (!URL.canParse(url, location.href)) return null;
    const { origin, pathname } = new URL(url, location.href);
    return origin === location.origin && pathname.startsWith(ARTIFACTS) ? pathname : null;
}

/** A disclosure below an answer. `runs` asks the host for the chat's runs, when it is opened and not before. */
export function addReceipts(article, steps, runs) {
    const details = makeFold("receipts", t("whatWasDone"));
    const content = make("div");
    content.setAttribute("aria-live", "polite");
    details.append(content);
    let known = false;
    details.addEventListener("toggle", async () => {
        if (!details.open || known) return;
        known = true;
        content.replaceChildren(make("p", "", t("receiptsLoading")));
        try {
            content.replaceChildren(receiptList(await runs(), steps));
        } catch {
            known = false;
            content.replaceChildren(make("p", "", t("receiptsFailed")));
        }
    });
    article.append(details);
}

function receiptList(runs, steps) {
    const wanted = new Set(steps.map(({ receipt }) => receipt).filter(Boolean));
    const receipts = runs.flatMap((run) => run.receipts ?? []).filter(({ id }) => wanted.has(id));
    if (receipts.length === 0) return make("p", "", t("receiptsNone"));
    const list = make("ol");
    list.append(...receipts.map(receiptItem));
    return list;
}

export function receiptItem({ tool, arguments: given, effect, outcome, observation, startedAt, finishedAt }) {
    const item = make("li", "receipt");
    const head = make("p", "");
    const word = make("span", `outcome${outcome === "succeeded" ? "" : " failed"}`, t("outcomes")[outcome] ?? visible(outcome ?? ""));
    head.append(make("b", "", oneLine(tool ?? "", 60)), ` ${t("effects")[effect] ?? visible(effect ?? "")} · `, word);
    const took = (new Date(finishedAt) - new Date(startedAt)) / 1_000;
    const times = make("p", "times", t("receiptTimes", clockTime(startedAt), seconds(Number.isFinite(took) ? took : 0)));
    item.append(head, times, exactText(argumentLines(given), t("receiptArguments")));
    const folded = makeFold("", t("receiptObservation"));
    folded.append(exactText(observation || t("receiptNothing"), t("receiptObservation")));
    item.append(folded);
    return item;
}

/** The arguments one a line, text as it is; what is no object is shown as it came. */
function argumentLines(given) {
    let value = given;
    try {
        if (typeof given === "string") value = JSON.parse(given);
    } catch {
        return given;
    }
    if (value === null || typeof value !== "object" || Array.isArray(value)) return String(given ?? "");
    return Object.entries(value)
        .map(([key, part]) => `${key}: ${typeof part === "string" ? part : JSON.stringify(part)}`)
        .join("\n");
}

/** A box that scrolls, by keys too, and shows `text` as text and nothing else. */
export function exactText(text, label) {
    const box = make("pre", "exact", visible(text));
    box.dir = "ltr";
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", label);
    return box;
}
