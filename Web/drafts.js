// What this browser keeps of each chat: unsent words, stored files, whether tools may be used. All of it goes with the
// chat. Unsent words and files outlive a reload; they go when the host has accepted them, not when Send is pressed.

import { attachmentsOf } from "./attachment-fields.js";

const KINDS = ["draft", "files", "tools"];
const key = (kind, chat) => `alcove.${kind}.${chat?.id ?? "new"}`;

function keep(kind, chat, value) {
    if (value === null) localStorage.removeItem(key(kind, chat));
    else localStorage.setItem(key(kind, chat), value);
}

export const keptText = (chat) => localStorage.getItem(key("draft", chat)) ?? "";
export const keepText = (chat, text) => keep("draft", chat, text.trim() === "" ? null : text);

export function keptFiles(chat) {
    try {
        return attachmentsOf({ attachments: JSON.parse(localStorage.getItem(key("files", chat)) ?? "[]") });
    } catch {
        return [];
    }
}

export const keepFiles = (chat, files) => keep("files", chat, files.length === 0 ? null : JSON.stringify(files));

/** Off until switched on, for each chat by itself. */
export const toolsAreOn = (chat) => chat !== null && localStorage.getItem(key("tools", chat)) === "on";
export const keepTools = (chat, on) => keep("tools", chat, on ? "on" : null);

export function forgetChat(id) {
    for (const kind of KINDS) localStorage.removeItem(key(kind, { id }));
}

export function forgetEveryChat() {
    for (const name of Object.keys(localStorage)) if (/^alcove\.(draft|files|tools)\./.test(name)) localStorage.removeItem(name);
}
