// What can be done with one message besides reading it.

import { copyText } from "./clipboard.js";
import { actionRow, openSheet } from "./sheet.js";
import { t } from "./strings.js";

/** `on` may have `edit()`, `branch()` and `undo()`, each for what this message allows, and `notice(sentence)`. */
export function openMessageSheet({ role, text }, on) {
    const mine = role === "user";
    return openSheet({ id: "message-sheet", title: t(mine ? "you" : "assistant") }, (body, sheet) => {
        const add = (symbol, words, run, options) => body.append(actionRow(symbol, words, () => {
            sheet.close();
            run();
        }, options));
        if (text) {
            add("copy", t(mine ? "copyMessage" : "copyAnswer"), async () => {
                if (!(await copyText(text))) on.notice(t("copyFailed"));
            });
        }
        if (on.edit) add("edit", t("edit"), on.edit);
        if (on.branch) add("branch", t("branch"), on.branch, { hint: t("branchHint") });
        if (on.undo) add("undo", t("undo"), on.undo, { hint: t("undoLabel") });
    });
}
