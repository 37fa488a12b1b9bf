// Loads what draws messages and what follows their turns: with the first that is written, or with a chat that has some.

import { loadStyles } from "./elements.js";
import { moreWords } from "./strings.js";

export class Transcript {
    /** The `ChatView`; null until the first message. */
    view = null;
    #loading = null;
    #make;
    #plain = false;

    /** `make(ChatView, Transport)` answers the view. */
    constructor(make) {
        this.#make = make;
    }

    need() {
        this.#loading ??= this.#load().catch((error) => {
            this.#loading = null;
            throw error;
        });
        return this.#loading;
    }

    async #load() {
        // All at once: each would otherwise be asked for only when the one before it has come.
        for (const library of [import("./vendor/markdown-it.js"), import("./vendor/purify.js"), import("./sse.js")]) library.catch(() => {});
        const [{ ChatView }, { Transport }, { loadMarkdown }] = await Promise.all([
            import("./chat-view.js"), import("./transport.js"), import("./markdown.js"), loadStyles("answers.css"), moreWords(),
        ]);
        this.#plain = !(await loadMarkdown());
        this.view = this.#make(ChatView, Transport);
    }

    /** Whether answers come without formatting; true once, as it is told once. */
    tellPlain() {
        const plain = this.#plain;
        this.#plain = false;
        return plain;
    }
}
