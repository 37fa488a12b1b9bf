// The list of saved chats: a drawer over the page on a phone, a column beside it on a desk.

import { icon, make, makeButton } from "./elements.js";
import { shortTime, t } from "./strings.js";

const desk = matchMedia("(min-width: 960px)");
const REMEMBERED = "alcove.drawer";

export class Drawer {
    #parts;
    #on;
    #current = null;
    #chats = [];

    /** `on` has `open(id)`, `rename(id, title)` and `remove(id)`. */
    constructor({ drawer, scrim, main, list, toggle, close, renameDialog, removeDialog }, on) {
        this.#parts = { drawer, scrim, main, list, toggle, renameDialog, removeDialog };
        this.#on = on;
        toggle.addEventListener("click", () => this.#set(!this.isOpen));
        close.addEventListener("click", () => this.#set(false));
        scrim.addEventListener("click", () => this.#set(false));
        addEventListener("keydown", (event) => {
            if (event.key === "Escape" && this.isOpen && !desk.matches && !document.querySelector("dialog[open]")) {
                this.#set(false);
            }
        });
        list.addEventListener("click", (event) => this.#clicked(event));
        desk.addEventListener("change", () => this.#place());
        for (const dialog of [renameDialog, removeDialog]) {
            dialog.addEventListener("click", (event) => {
                if (event.target === dialog) dialog.close();
            });
        }
        this.#place();
    }

    get isOpen() {
        return document.documentElement.classList.contains("drawer-open");
    }

    show(chats, current) {
        this.#chats = chats;
        this.#current = current;
        const { list } = this.#parts;
        const focused = list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
        list.replaceChildren(...chats.map((chat) => this.#row(chat)));
        if (chats.length === 0) {
            list.append(make("li", "none", t("noChats")));
        }
        if (focused) list.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
    }

    mark(current) {
        this.show(this.#chats, current);
    }

    /** After a choice the drawer makes way, but the column on a desk stays. */
    makeWay() {
        if (!desk.matches) this.#set(false);
    }

    #place() {
        const open = desk.matches && localStorage.getItem(REMEMBERED) !== "closed";
        this.#apply(open);
    }

    #set(open) {
        if (desk.matches) localStorage.setItem(REMEMBERED, open ? "open" : "closed");
        this.#apply(open);
        const { drawer, toggle } = this.#parts;
        if (desk.matches) return;
        // What is still invisible takes no focus; it is visible one frame later.
        if (open) requestAnimationFrame(() => drawer.querySelector("button").focus());
        else toggle.focus();
    }

    #apply(open) {
        const { drawer, main, toggle } = this.#parts;
        document.documentElement.classList.toggle("drawer-open", open);
        toggle.setAttribute("aria-expanded", String(open));
        drawer.inert = !open;
        main.inert = open && !desk.matches;
    }

    #row(chat) {
        const row = make("li");
        row.classList.toggle("current", chat.id === this.#current);
        const open = makeButton("chat");
        open.dataset.id = chat.id;
        if (chat.id === this.#current) open.setAttribute("aria-current", "page");
        const title = make("span", "title", chat.title || t("untitled"));
        title.dir = "auto";
        const count = Number.isFinite(chat.messageCount) ? t("messages", chat.messageCount) : "";
        const about = [shortTime(chat.updatedAt ?? chat.createdAt), count].filter(Boolean).join(" · ");
        open.append(title, make("span", "about", about));
        const more = makeButton("icon-button more");
        more.dataset.more = chat.id;
        more.setAttribute("aria-label", t("chatActions", title.textContent));
        more.append(icon("more"));
        row.append(open, more);
        return row;
    }

    #clicked(event) {
        const button = event.target.closest("button");
        if (!button) return;
        if (button.dataset.id) {
            this.makeWay();
            this.#on.open(button.dataset.id);
        } else if (button.dataset.more) {
            const chat = this.#chats.find(({ id }) => id === button.dataset.more);
            if (chat) this.#edit(chat);
        }
    }

    #edit(chat) {
        const { renameDialog } = this.#parts;
        const form = renameDialog.querySelector("form");
        form.elements.chatTitle.value = chat.title ?? "";
        form.onsubmit = (event) => {
            event.preventDefault();
            const title = form.elements.chatTitle.value.trim();
            renameDialog.close();
            if (title !== "" && title !== chat.title) this.#on.rename(chat.id, title);
        };
        renameDialog.querySelector("[data-act=cancel]").onclick = () => renameDialog.close();
        renameDialog.querySelector("[data-act=remove]").onclick = () => {
            renameDialog.close();
            this.#confirmRemoval(chat);
        };
        renameDialog.showModal();
        form.elements.chatTitle.select();
    }

    #confirmRemoval(chat) {
        const { removeDialog } = this.#parts;
        removeDialog.querySelector("p").textContent = t("removeBody", chat.title || t("untitled"));
        removeDialog.querySelector("[data-act=cancel]").onclick = () => removeDialog.close();
        removeDialog.querySelector("[data-act=remove]").onclick = () => {
            removeDialog.close();
            this.#on.remove(chat.id);
        };
        removeDialog.showModal();
    }
}
