// Sheets: dialogs made when they are wanted, with a title, a way out, and their own style sheet.

import { icon, loadStyles, make, makeButton } from "./elements.js";
import { t } from "./strings.js";

/**
 * Opens a sheet; `fill(body, sheet)` puts in what it shows. A press beside it or Escape closes it, and the focus goes back
 * to where it was. Answers the dialog, which leaves the page when it closes.
 */
export async function openSheet({ id, title, role, wide = false }, fill) {
    await loadStyles("sheets.css");
    document.getElementById(id)?.remove();
    const sheet = make("dialog", wide ? "sheet wide" : "sheet");
    sheet.id = id;
    if (role) sheet.setAttribute("role", role);
    const heading = make("h2", "", title);
    heading.id = `${id}-title`;
    heading.dir = "auto";
    sheet.setAttribute("aria-labelledby", heading.id);
    const close = makeButton("icon-button");
    close.setAttribute("aria-label", t("close"));
    close.append(icon("close"));
    close.addEventListener("click", () => sheet.close());
    const head = make("header");
    head.append(heading, close);
    const body = make("div", "content");
    sheet.append(head, body);
    sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
    sheet.addEventListener("close", () => sheet.remove());
    fill(body, sheet);
    document.body.append(sheet);
    sheet.showModal();
    return sheet;
}

/** Asks before something that cannot be undone; answers whether to go on. The focus is on the harmless button. */
export function confirmSheet({ id = "confirm", title, body: words, action, danger = true }) {
    return new Promise((resolve, reject) => {
        openSheet({ id, title, role: "alertdialog" }, (body, sheet) => {
            const text = make("p", "", words);
            text.id = `${id}-words`;
            text.dir = "auto";
            sheet.setAttribute("aria-describedby", text.id);
            const no = makeButton("text", t("cancel"));
            no.autofocus = true;
            no.addEventListener("click", () => sheet.close());
            const yes = makeButton(danger ? "danger primary" : "primary", action);
            yes.addEventListener("click", () => {
                resolve(true);
                sheet.close();
            });
            const actions = make("div", "actions");
            actions.append(make("span", "gap"), no, yes);
            body.append(text, actions);
            sheet.addEventListener("close", () => resolve(false));
        }).catch(reject);
    });
}

/** A button of a list of actions. */
export function actionRow(symbol, words, run, { className = "", hint = "" } = {}) {
    const button = makeButton(`row ${className}`);
    const label = make("span", "", words);
    button.append(icon(symbol), label);
    if (hint) label.append(make("small", "", hint));
    button.addEventListener("click", run);
    return button;
}
