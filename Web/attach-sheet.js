// Photo, Camera, Video, File: what the + beside the box opens.

import { make } from "./elements.js";
import { actionRow, openSheet } from "./sheet.js";
import { t } from "./strings.js";

const ANYTHING = "image/*,video/*,audio/*,.pdf,.docx,.xlsx,.pptx,.txt,.csv,.json,.md,.py,.js,.html,.xml,.log,.heic,.heif";
const CHOICES = [
    ["photo", "attachPhoto", { accept: "image/*", multiple: true }],
    ["camera", "attachCamera", { accept: "image/*", capture: "environment" }],
    ["video", "attachVideo", { accept: "video/*" }],
    ["file", "attachFile", { accept: ANYTHING, multiple: true }],
];

/** `chosen(files)` hears what was picked; `server` answers in place of this device, or is null. */
export function openAttachSheet(chosen, server) {
    return openSheet({ id: "attach-sheet", title: t("attachTitle") }, (body, sheet) => {
        const list = make("div", "choices");
        for (const [symbol, words, options] of CHOICES) {
            // Inside the sheet, so that a test and a reader find it by its choice; out of sight, as the row speaks for it.
            const input = make("input", "offstage");
            Object.assign(input, { type: "file", hidden: true, name: symbol, accept: options.accept, multiple: options.multiple ?? false });
            if (options.capture) input.setAttribute("capture", options.capture);
            input.addEventListener("change", () => {
                const files = [...input.files];
                sheet.close();
                if (files.length > 0) chosen(files);
            });
            list.append(actionRow(symbol, t(words), () => input.click()), input);
        }
        body.append(list, make("p", "hint", server === null ? t("attachHint") : t("attachHintServer", server)));
    });
}
