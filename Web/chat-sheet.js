// One chat of the list: its title, its export, its end.

import { make, makeButton } from "./elements.js";
import { confirmSheet, openSheet } from "./sheet.js";
import { t } from "./strings.js";
import { titleText } from "./text.js";

/** `on` has `rename(id, title)`, `remove(id)` and `exportAddress(id, format)`. */
export function openChatSheet(chat, on) {
    return openSheet({ id: "rename", title: t("renameTitle") }, (body, sheet) => {
        const form = make("form");
        const label = make("label");
        const input = make("input");
        Object.assign(input, { name: "chatTitle", maxLength: 200, dir: "auto", autocomplete: "off", value: chat.title ?? "" });
        label.append(make("span", "", t("renameLabel")), input);
        const save = make("button", "primary", t("save"));
        const remove = makeButton("danger text", t("remove"));
        remove.addEventListener("click", async () => {
            sheet.close();
            const sure = await confirmSheet({
                id: "remove", title: t("removeTitle"), body: t("removeBody", chat.title || t("untitled")), action: t("remove"),
            });
            if (sure) on.remove(chat.id);
        });
        const exports = make("div", "links");
        for (const [format, words] of [["markdown", "exportMarkdown"], ["json", "exportJSON"]]) {
            const link = make("a", "text", t(words));
            link.href = on.exportAddress(chat.id, format);
            link.download = "";
            exports.append(link);
        }
        const actions = make("div", "actions");
        actions.append(remove, make("span", "gap"), save);
        form.append(label, exports, actions);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            const title = titleText(input.value);
            sheet.close();
            if (title !== "" && title !== chat.title) on.rename(chat.id, title);
        });
        body.append(form);
    }).then((sheet) => sheet.querySelector("input").select());
}
