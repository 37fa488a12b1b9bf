// Sentences above the box: what went wrong or was done, and what to do about it. Each goes when it is dismissed.

import { make, makeButton } from "./elements.js";
import { t, together } from "./strings.js";

const AT_MOST = 3;

export class Notices {
    #list;

    constructor(list) {
        this.#list = list;
    }

    /** `actions` are `[words, run]`; pressing one dismisses the notice. `quiet` is for what is no trouble. */
    add({ sentence, hint, quiet = false, actions = [] }) {
        const words = together(sentence, hint);
        if ([...this.#list.children].some((card) => card.dataset.words === words)) return;
        const card = make("div", quiet ? "notice hint" : "notice");
        card.dataset.words = words;
        const text = make("p", "", words);
        text.dir = "auto";
        const buttons = make("div", "buttons");
        for (const [label, run] of [...actions, [t("dismiss"), () => {}]]) {
            const button = makeButton("quiet", label);
            button.addEventListener("click", () => {
                card.remove();
                run();
            });
            buttons.append(button);
        }
        card.append(text, buttons);
        this.#list.append(card);
        while (this.#list.children.length > AT_MOST) this.#list.firstElementChild.remove();
    }

    clear() {
        this.#list.replaceChildren();
    }
}
