// Messages of chats that handoffs hold copies of: their own list, from which each can be removed.

import { json } from "./api.js";
import { make, makeButton, makeFold } from "./elements.js";
import { number, t } from "./strings.js";
import { visible } from "./text.js";

/** Fills `place`. `attempt(run)` runs what may be refused and tells it; `changed()` reads what shows handoffs again. */
export async function showExcerpts(place, attempt, changed) {
    const { excerpts } = await json("GET", "/api/agent/excerpts");
    place.replaceChildren();
    if (excerpts.length === 0) return;
    const fold = makeFold("", make("span", "", t("excerpts", number(excerpts.length))));
    const list = make("ul", "kept");
    list.append(...excerpts.map(({ handoff, title, message, role, text, chatIsThere }) => {
        const item = make("li");
        const words = make("p", "words", visible(text));
        words.dir = "auto";
        const facts = make("p", "facts", `${t(role === "user" ? "you" : "assistant")} · ${title}${chatIsThere ? "" : ` · ${t("excerptChatGone")}`}`);
        facts.dir = "auto";
        const remove = makeButton("quiet danger", t("excerptRemove"));
        remove.addEventListener("click", () => attempt(async () => {
            await json("DELETE", `/api/agent/excerpts?${new URLSearchParams({ handoff, message })}`);
            await changed();
        }));
        item.append(words, facts, remove);
        return item;
    }));
    const whole = make("div", "whole");
    whole.append(make("p", "hint", t("excerptsHint")), list);
    fold.append(whole);
    place.append(fold);
}
