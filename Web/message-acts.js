// Branching off from a message, and taking the newest turn back with what it did to the chat's files.

import { attachmentsOf } from "./attachment-fields.js";
import { keepText } from "./drafts.js";
import { listed } from "./formats.js";
import { t } from "./strings.js";
import { ownWords, sightOf, visible } from "./text.js";

/** A new chat with everything up to the message with this index. */
export async function branch(page, index) {
    const { id, notice } = await page.host.branch(page.chats.current.id, index + 1);
    if (await page.chats.open(id)) page.notices.add({ sentence: t("branched"), hint: notice, quiet: !notice });
    page.chats.refresh();
}

/** Takes back the newest turn: its messages, and what it did to the chat's files. Its words go back into the box. */
export async function undo(page) {
    const { id, history } = page.chats.current;
    const attached = attachmentsOf(history.findLast(({ role }) => role === "user") ?? {});
    const taken = await changed(page, () => page.host.rewind(id, sightOf(history)));
    if (taken === null || page.chats.current.id !== id) return;
    const { messages, text, files = [], canRedo, notice } = taken;
    page.chats.showMessages(messages);
    page.sending.cancelEdit();
    const words = ownWords(text ?? "");
    page.composer.giveBack(words);
    page.attachments.giveBack(attached);
    keepText(page.chats.current, page.composer.text);
    page.notices.clear();
    page.notices.add({
        sentence: files.length > 0 ? t("undoneFiles", listed(files.map(visible))) : t("undone"), hint: notice, quiet: !notice,
        actions: canRedo ? [[t("redo"), () => redo(page, id, words, attached).catch((error) => page.troubles.failed(error))]] : [],
    });
    page.composer.focusOnDesk();
    page.chats.refresh();
}

/** After a reload: what was taken back before it can still be brought back. */
export function offerRedo(page) {
    const { id } = page.chats.current;
    page.notices.add({
        sentence: t("redoWaiting"), quiet: true, actions: [[t("redo"), () => redo(page, id, "", []).catch((error) => page.troubles.failed(error))]],
    });
}

async function redo(page, id, words, attached) {
    const given = await changed(page, () => page.host.redo(id, sightOf(page.chats.current.history)));
    if (given === null || page.chats.current.id !== id) return;
    const { messages, notice } = given;
    page.chats.showMessages(messages);
    const { composer } = page;
    if (composer.text.startsWith(words)) composer.text = composer.text.slice(words.length).trimStart();
    page.attachments.remove(attached.map(({ file }) => file));
    keepText(page.chats.current, composer.text);
    page.notices.add({ sentence: t("redone"), hint: notice, quiet: !notice });
    page.chats.refresh();
}

let changing = false;

/** What came of a change; null when the chat is not what was shown here, and is now, or when one is under way already. */
async function changed(page, change) {
    const { id } = page.chats.current;
    if (changing) return null;
    changing = true;
    try {
        return await change();
    } catch (error) {
        // Also one that is answered elsewhere: that answer is what is to be seen.
        if (!["chat_changed", "turn_running"].includes(error.code)) throw error;
        if (page.chats.current.id === id) await page.chats.open(id);
        page.troubles.failed(error);
        return null;
    } finally {
        changing = false;
    }
}
