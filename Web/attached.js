// A message's files: pictures, sound and film as such, everything else as a link to what is stored.

import { addressOf } from "./attachment-fields.js";
import { icon, make } from "./elements.js";
import { number, t } from "./strings.js";
import { visible } from "./text.js";

export function attachedList(attachments) {
    const list = make("ul", "attached");
    list.setAttribute("role", "list");
    list.setAttribute("aria-label", t("attached"));
    list.append(...attachments.map((attachment) => {
        const line = make("li");
        line.append(shown(attachment));
        return line;
    }));
    return list;
}

export const shownName = ({ fileName, file }) => visible(fileName || file);

function shown(attachment) {
    const { file, mediaType, previewFile, frames } = attachment;
    if (mediaType === "audio" || mediaType === "video") {
        const player = make(mediaType);
        player.controls = true;
        player.preload = "metadata";
        player.src = addressOf(file);
        player.setAttribute("aria-label", shownName(attachment));
        if (frames?.[0]) player.poster = addressOf(frames[0]);
        return player;
    }
    const link = make("a", mediaType === "image" ? "picture" : "document");
    link.href = addressOf(file);
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    link.setAttribute("aria-label", t("openFile", shownName(attachment)));
    if (mediaType === "image") link.append(picture(previewFile ?? file, shownName(attachment)));
    else link.append(icon("file"), make("bdi", "", shownName(attachment)), ...pages(attachment));
    return link;
}

/** A picture that is gone or cannot be drawn is its name. */
export function picture(name, words) {
    const image = make("img");
    image.loading = "lazy";
    image.alt = words;
    image.src = addressOf(name);
    return image;
}

function pages({ pageCount }) {
    return pageCount > 0 ? [make("span", "about", t("attachPages", number(pageCount)))] : [];
}
