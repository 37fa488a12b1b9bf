// The list of saved chats: a drawer over the page on a phone, a column beside it on a desk. Searches, and takes several
// at once for deleting.

import { icon, make, makeButton } from "./elements.js";
import { number, shortTime, t } from "./strings.js";

const desk = matchMedia("(min-width: 960px)");
const REMEMBERED = "alcove.drawer";
/** Typing waits this long before the host is asked. */
const SEARCH_AFTER = 150;

export class Drawer {
    #parts;
    #on;
    #current = null;
    #chats = [];
    /** What a search found, or null while nothing is searched for. */
    #found = null;
    #asking = null;
    #timer = null;
    /** The ids that are ticked, or null while none can be. */
    #chosen = null;

    /**
     * `on` has `open(id)`, `edit(chat)`, `search(words, signal)`, which answers chats with snippets, `removeMany(ids)`,
     * which answers whether they are gone, and `say(sentence)` for a screen reader.
     */
    constructor(parts, on) {
        this.#parts = parts;
        this.#on = on;
        const { toggle, close, scrim, list, search, select, all, drop } = parts;
        toggle.addEventListener("click", () => this.#set(!this.isOpen));
        close.addEventListener("click", () => this.#set(false));
        scrim.addEventListener("click", () => this.#set(false));
        addEventListener("keydown", (event) => {
            if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
            if (this.#chosen) this.#choose(false);
            else if (this.isOpen && !desk.matches) this.#set(false);
        });
        list.addEventListener("click", (event) => this.#clicked(event));
        list.addEventListener("change", (event) => this.#ticked(event.target));
        search.addEventListener("input", () => this.#searchSoon());
        search.addEventListener("keydown", (event) => {
            if (event.key !== "Escape" || search.value === "") return;
            event.stopPropagation();
            search.value = "";
            this.#searchSoon();
        });
        select.addEventListener("click", () => this.#choose(this.#chosen === null));
        all.addEventListener("click", () => this.#chooseAll());
        drop.addEventListener("click", () => this.#removeChosen());
        desk.addEventListener("change", () => this.#place());
        this.#place();
    }

    get isOpen() {
        return document.documentElement.classList.contains("drawer-open");
    }

    show(chats, current) {
        this.#chats = chats;
        this.#current = current;
        this.#draw();
        if (this.#found) this.#search();
    }

    mark(current) {
        this.#current = current;
        this.#draw();
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

    get #shown() {
        return this.#found ?? this.#chats;
    }

    #draw() {
        const { list, select, search } = this.#parts;
        const focused = list.contains(document.activeElement) ? document.activeElement.dataset : null;
        list.replaceChildren(...this.#shown.map((chat) => this.#row(chat)));
        if (this.#found?.length === 0) list.append(make("li", "none", t("searchNone", search.value.trim())));
        else if (this.#chats.length === 0) list.append(make("li", "none", t("noChats")));
        select.hidden = this.#chats.length === 0;
        search.parentElement.hidden = this.#chats.length === 0;
        for (const key of ["id", "more", "tick"]) {
            if (focused?.[key]) list.querySelector(`[data-${key}="${CSS.escape(focused[key])}"]`)?.focus();
        }
        this.#showChosen();
    }

    #row(chat) {
        const row = make("li");
        row.classList.toggle("current", chat.id === this.#current);
        const name = chat.title || t("untitled");
        const title = make("span", "title", name);
        title.dir = "auto";
        title.title = name;
        const count = Number.isFinite(chat.messageCount) ? t("messages", number(chat.messageCount)) : "";
        const about = make("span", "about", [shortTime(chat.updatedAt ?? chat.createdAt), count].filter(Boolean).join(" · "));
        if (this.#chosen) {
            const label = make("label", "chat");
            const tick = make("input");
            Object.assign(tick, { type: "checkbox", checked: this.#chosen.has(chat.id) });
            tick.dataset.tick = chat.id;
            tick.setAttribute("aria-label", t("selectChat", name));
            const words = make("span", "words");
            words.append(title, about);
            label.append(tick, words);
            row.append(label);
            return row;
        }
        const open = makeButton("chat");
        open.dataset.id = chat.id;
        if (chat.id === this.#current) open.setAttribute("aria-current", "page");
        open.append(title, about, ...snippet(chat));
        const more = makeButton("icon-button more");
        more.dataset.more = chat.id;
        more.setAttribute("aria-label", t("chatActions", name));
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
            const chat = this.#shown.find(({ id }) => id === button.dataset.more);
            if (chat) this.#on.edit(chat);
        }
    }

    #searchSoon() {
        clearTimeout(this.#timer);
        this.#asking?.abort();
        if (this.#parts.search.value.trim() === "") {
            this.#found = null;
            this.#draw();
            return;
        }
        this.#timer = setTimeout(() => this.#search(), SEARCH_AFTER);
    }

    async #search() {
        this.#asking?.abort();
        const asking = (this.#asking = new AbortController());
        const found = await this.#on.search(this.#parts.search.value.trim(), asking.signal);
        if (asking.signal.aborted || found === null) return;
        const news = this.#found?.length !== found.length;
        this.#found = found;
        this.#draw();
        if (news) this.#on.say(t("searchFound", number(found.length)));
    }

    #choose(choosing) {
        this.#chosen = choosing ? new Set() : null;
        this.#draw();
        if (!choosing) this.#parts.select.focus();
    }

    #chooseAll() {
        const every = this.#shown.every(({ id }) => this.#chosen.has(id));
        this.#chosen = new Set(every ? [] : this.#shown.map(({ id }) => id));
        this.#draw();
    }

    #ticked({ dataset, checked }) {
        if (!this.#chosen || !dataset.tick) return;
        if (checked) this.#chosen.add(dataset.tick);
        else this.#chosen.delete(dataset.tick);
        this.#showChosen();
    }

    #showChosen() {
        const { select, selection, count, all, drop } = this.#parts;
        select.textContent = t(this.#chosen ? "done" : "select");
        selection.hidden = this.#chosen === null;
        if (!this.#chosen) return;
        const every = this.#shown.length > 0 && this.#shown.every(({ id }) => this.#chosen.has(id));
        count.textContent = t("selected", number(this.#chosen.size));
        all.textContent = t(every ? "selectNone" : "selectAll");
        drop.disabled = this.#chosen.size === 0;
    }

    async #removeChosen() {
        if (await this.#on.removeMany([...this.#chosen])) this.#choose(false);
    }
}

/** The words around what was searched for, with the matches marked. */
function snippet({ snippet: text }) {
    if (typeof text !== "string" || text.trim() === "") return [];
    const line = make("span", "snippet");
    line.dir = "auto";
    text.replace(/\s+/g, " ").split("\u0001").forEach((part, index) => {
        const [match, rest] = index === 0 ? ["", part] : part.split("\u0002");
        if (match) line.append(make("mark", "", match));
        if (rest) line.append(rest);
    });
    return [line];
}
