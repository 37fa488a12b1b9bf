// What was done: the runs of all chats by day, newest first, each with its timeline, counters, failures and receipts, and
// the removal of all of it.

import { host, json } from "./api.js";
import { make, makeButton, makeFold } from "./elements.js";
import { clockTime, dayName, seconds } from "./formats.js";
import { confirmSheet, openSheet } from "./sheet.js";
import { number, shortTime, t, together } from "./strings.js";
import { oneLine, visible } from "./text.js";
import { receiptItem } from "./trace.js";

const COUNTERS = ["rounds", "calls", "succeeded", "failed", "asked", "allowed"];

/** `on` has `open(chat)`, `cleared()` and `failed(error)`. */
export async function openActivity(on) {
    const [{ runs }, activity] = await Promise.all([json("GET", "/api/agent/runs"), json("GET", "/api/agent/activity")]);
    return openSheet({ id: "activity", title: t("activity"), wide: true }, (body, sheet) => {
        body.append(make("p", "facts", t("activityCounts", ...["chats", "runs", "receipts"].map((key) => number(activity[key])))));
        for (const [day, those] of grouped(runs)) {
            const list = make("ul", "kept");
            list.append(...those.map((run) => runItem(run, sheet, on)));
            body.append(make("h3", "day", dayName(day)), list);
        }
        if (runs.length === 0) body.append(make("p", "hint", t("activityNone")));
        const clear = makeButton("text danger", t("activityClear"));
        clear.addEventListener("click", () => clearAll(activity, sheet, on));
        const actions = make("div", "actions");
        actions.append(clear);
        body.append(actions);
    });
}

/** The person's day, not the host's. */
function dayOf({ startedAt }) {
    const day = new Date(startedAt);
    return new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
}

function grouped(runs) {
    const days = new Map();
    for (const run of runs) days.set(dayOf(run), [...(days.get(dayOf(run)) ?? []), run]);
    return days;
}

function runItem(run, sheet, on) {
    const item = make("li");
    const { id, state, startedAt, receipts = [], conversation, reason } = run;
    const badge = make("span", state === "running" ? "badge on" : "badge", t("activityStates")[state] ?? state);
    const fold = makeFold("", badge, make("span", "", together(shortTime(startedAt), t("activitySteps", receipts.length))));
    const whole = make("div", "whole");
    if (typeof reason === "string" && reason !== "" && state !== "completed") whole.append(make("p", "facts", reason));
    const story = make("div", "story");
    story.setAttribute("aria-live", "polite");
    const steps = make("ol", "receipts");
    steps.append(...receipts.map(receiptItem));
    whole.append(story, receipts.length ? steps : make("p", "hint", t("receiptsNone")));
    let known = false;
    fold.addEventListener("toggle", () => {
        if (!fold.open || known) return;
        known = true;
        json("GET", `/api/agent/runs/${id}`).then((told) => tell(story, told), () => {
            known = false;
            story.replaceChildren(make("p", "hint", t("receiptsFailed")));
        });
    });
    if (state === "running") {
        const stop = makeButton("quiet danger", t("stop"));
        stop.addEventListener("click", () => host.stopTurn(id).then(() => (stop.disabled = true), on.failed));
        whole.append(stop);
    }
    if (conversation) {
        const open = makeButton("quiet", t("activityOpen"));
        open.addEventListener("click", () => {
            sheet.close();
            on.open(conversation);
        });
        whole.append(open);
    }
    fold.append(whole);
    item.append(fold);
    return item;
}

/** What happened in a run, in its order. */
function tell(place, { counters = {}, failures = [], timeline = [], phase, activeTool }) {
    const counts = COUNTERS.map((key) => `${t("activityCounters")[key]} ${number(counters[key] ?? 0)}`);
    const tokens = (counters.promptTokens ?? 0) + (counters.answerTokens ?? 0);
    if (tokens > 0) counts.push(`${t("activityCounters").tokens} ${number(tokens)}`);
    counts.push(seconds(counters.seconds));
    place.replaceChildren(make("p", "facts", counts.join(" · ")));
    if (phase && phase !== "ended") {
        place.append(make("p", "facts", together(t("activityPhases")[phase] ?? visible(phase), activeTool ? oneLine(activeTool, 60) : "")));
    }
    const list = make("ol", "timeline");
    list.append(...timeline.map(momentItem));
    place.append(list);
    for (const { tool, text } of failures) {
        const line = make("p", "failure", `${oneLine(tool ?? "", 60)}: ${visible(text ?? "")}`);
        line.dir = "auto";
        place.append(line);
    }
}

function momentItem({ at, what, tool, text, ok }) {
    const item = make("li", ok === false ? "failed" : "");
    const words = make("span", "", t("activityMoments")[what] ?? visible(what ?? ""));
    const detail = what === "answered" ? t("askOutcomes")[text] ?? text : what === "ended" ? t("activityEnds")[text] ?? text : text;
    const about = make("bdi", "", [tool, detail].filter(Boolean).map((part) => oneLine(part, 120)).join(" · "));
    item.append(make("time", "", clockTime(at)), " ", words, about.textContent ? " " : "", about);
    return item;
}

async function clearAll(activity, sheet, on) {
    const counts = ["chats", "messages", "runs", "receipts", "excerpts"].map((key) => number(activity[key]));
    try {
        if (!(await confirmSheet({ title: t("activityClear"), body: t("activityClearBody", ...counts), action: t("activityClear") }))) return;
        await json("POST", "/api/agent/activity/clear", { body: { confirm: "clear" }, timeout: 0 });
        sheet.close();
        on.cleared();
    } catch (error) {
        sheet.close();
        on.failed(error);
    }
}
