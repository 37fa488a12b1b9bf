// What the model button opens: the loaded model's figures, how full its view of this chat is, and the way to Models.

import { make, makeButton } from "./elements.js";
import { fileSize, nowWords } from "./formats.js";
import { openSheet } from "./sheet.js";
import { number, percent, t } from "./strings.js";
import { displayName } from "./text.js";

/** `model` is the header's; `manage()` opens Models. */
export function openModelSheet(model, manage) {
    const { engine, models, used } = model.facts;
    const about = engine?.model ?? {};
    const loaded = model.state === "Loaded";
    const title = displayName(about.id || about.name || "") || t("modelNone");
    return openSheet({ id: "model-sheet", title }, (body, sheet) => {
        if (about.error) body.append(make("p", "failure", about.error));
        const list = make("dl");
        for (const [term, value] of rows(engine, loaded ? models ?? {} : {}, loaded ? used : null)) {
            const text = make("dd", "", value);
            text.dir = "auto";
            list.append(make("dt", "", term), text);
        }
        const button = makeButton("primary", t("manageModels"));
        button.addEventListener("click", () => {
            sheet.close();
            manage();
        });
        const actions = make("div", "actions");
        actions.append(make("span", "gap"), button);
        body.append(list, actions);
    });
}

function rows(engine, models, used) {
    const about = engine?.model ?? {};
    const active = models.contextTokens;
    const full = models.modelContextTokens;
    return [
        [t("detailFile"), models.loaded || about.id],
        [t("detailArchitecture"), models.architecture],
        [t("detailContext"), active > 0 && (full > active
            ? t("detailContextOf", number(active), number(full)) : t("detailContextOnly", number(active)))],
        [t("detailUsed"), used > 0 && active > 0 && t("detailUsedOf", number(used), number(active), percent(used / active))],
        [t("detailReply"), models.defaultMaxTokens > 0 && t("detailContextOnly", number(models.defaultMaxTokens))],
        [t("detailMemory"), memoryWords(about.memory)],
        [t("detailEngine"), nowWords(engine ?? {})],
        [t("detailFolder"), engine?.modelRoot],
    ].filter(([, value]) => typeof value === "string" && value !== "");
}

function memoryWords(memory) {
    if (typeof memory === "string") return memory;
    const bytes = typeof memory === "number" ? memory : memory?.bytes ?? memory?.resident;
    return Number.isFinite(bytes) && bytes > 0 ? t("bytes", fileSize(bytes)) : null;
}
