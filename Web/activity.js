// What was done: the runs of all chats, newest first, each with its receipts, and the removal of all of it.

import { host, json } from "./api.js";
import { make, makeButton, makeFold } from "./elements.js";
import { confirmSheet, openSheet } from "./sheet.js";
import { number, shortTime, t, together } from "./strings.js";
import { receiptItem } from "./trace.js";

/** `on` has `open(chat)`, `cleared()` and `failed(error)`. */
export async function openActivity(on) {
    const [{ runs }, activity] = await Promise.all([json("GET", "/api/agent/runs"), json("GET", "/api/agent/activity")]);
    return openSheet({ id: "activity", title: t("activity"), wide: true }, (body, sheet) => {
        const counts = make("p", "facts", t("activityCounts", ...["chats", "runs", "receipts"].map((key) => number(activity[key]))));
        const list = make("ul", "kept");
        list.append(...runs.map((run) => runItem(run, sheet, on)));
        if (runs.length === 0) list.append(make("li", "hint", t("activityNone")));
        const clear = makeButton("text danger", t("activityClear"));
        clear.addEventListener("click", () => clearAll(activity, sheet, on));
        const actions = make("div", "actions");
        actions.append(clear);
        body.append(counts, list, actions);
    });
}

function runItem(run, sheet, on) {
    const item = make("li");
    const { id, state, startedAt, receipts = [], conversation, reason } = run;
    const badge = make("span", state === "running" ? "badge on" : "badge", t("activityStates")[state] ?? state);
    const fold = makeFold("", badge, make("span", "", together(shortTime(startedAt), t("activitySteps", receipts.length))));
    const whole = make("div", "whole");
    if (typeof reason === "string" && reason !== "" && state !== "completed") whole.append(make("p", "facts", reason));
    const steps = make("ol", "receipts");
    steps.append(...receipts.map(receiptItem));
    whole.append(receipts.length ? steps : make("p", "hint", t("receiptsNone")));
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
