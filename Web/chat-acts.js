// Renaming and deleting chats. Loaded when first wanted.

import { forgetChat } from "./drafts.js";
import { confirmSheet } from "./sheet.js";
import { number, t } from "./strings.js";

export async function rename(page, id, title) {
    try {
        await page.host.rename(id, title);
    } catch (error) {
        page.troubles.failed(error);
    }
    page.chats.refresh();
}

export async function remove(page, id) {
    try {
        await page.host.remove(id);
    } catch (error) {
        return page.troubles.failed(error);
    }
    await forget(page, [id]);
}

/** Asks first; answers whether they are gone. */
export async function removeMany(page, ids) {
    const sure = await confirmSheet({ title: t("removeManyTitle", number(ids.length)), body: t("removeManyBody"), action: t("remove") });
    if (!sure) return false;
    try {
        const { deleted } = await page.host.removeMany({ ids });
        page.say(t("removedCount", number(deleted ?? ids.length)));
    } catch (error) {
        page.troubles.failed(error);
        return false;
    }
    await forget(page, ids);
    return true;
}

async function forget(page, ids) {
    ids.forEach(forgetChat);
    await page.chats.refresh();
    if (ids.includes(page.chats.current?.id)) await page.chats.open("new");
}
