// The places that the drawer leads to, each loaded when it is gone to.

import { forgetEveryChat } from "./drafts.js";

/** Ways to go, by name. `on` has `failed(error)`, and `fillBox(text)`, which puts words where they are read before they are sent. */
export function places(page, { failed, fillBox }) {
    const { host, model } = page;
    const removedAll = async () => {
        forgetEveryChat();
        await page.chats.refresh();
        await page.chats.open("new");
    };
    return {
        model: async () => (await import("./model-sheet.js")).openModelSheet(model, page.places.models),
        models: async () => (await import("./models.js")).openModels(host, {
            used: () => model.reload(), answering: () => page.link.answering, model: () => model.facts.engine?.model ?? null,
            failed,
        }),
        kept: async () => (await import("./kept.js")).openKept({ failed, restore: fillBox }),
        activity: async () => (await import("./activity.js")).openActivity({
            failed, open: (id) => page.chats.open(id), cleared: removedAll,
        }),
        settings: async () => (await import("./settings.js")).openSettings(host, {
            changed: () => model.reload(), failed, imported: () => page.chats.refresh(), removedAll,
        }),
        about: async () => (await import("./about.js")).openAbout(model.facts.engine, model.server),
    };
}
