// The page's words in the person's language, and numbers and dates as that language writes them. The table itself is in
// words/: for each language the words a page starts with, and the rest, with the same keys in every language. Only the
// chosen language is loaded.

import { CHOICE, firstWords, language, LANGUAGES, languageChoice, locale, pickLanguage } from "./language.js";

export { language, LANGUAGES, languageChoice, locale, pickLanguage };

/** The words of a page cannot change under what is on it, so it is opened anew; drafts outlive that. */
export function chooseLanguage(choice) {
    if (choice === "") localStorage.removeItem(CHOICE);
    else localStorage.setItem(CHOICE, choice);
    location.reload();
}

const words = { ...(await firstWords).words };

let rest = null;

/** Adds the words of messages and sheets to the table; whoever says one of them awaits this first. */
export function moreWords() {
    rest ??= import(`./words/${language}-more.js`).then(({ words: more }) => Object.assign(words, more), (error) => {
        rest = null;
        throw error;
    });
    return rest;
}

/** What the host said, in the person's language where the page knows it by its code: `{ error, hint }`. */
export async function hostWords({ code, error, hint }) {
    const known = language === "en" ? null : await import(`./words/${language}-host.js`).catch(() => null);
    const [sentence, advice] = (typeof code === "string" && Object.hasOwn(known?.refusals ?? {}, code) && known.refusals[code]) || [error || "", hint];
    return { error: sentence, hint: advice ?? null };
}

/** Sentences one after another; after a wide full stop there is no space. */
export const together = (...sentences) => sentences.filter(Boolean).join(" ").replace(/。 /g, "。");

/** The words under `key`; a function entry gets `args`. */
export function t(key, ...args) {
    const entry = words[key];
    if (entry === undefined) throw new RangeError(`There are no words for "${key}".`);
    return typeof entry === "function" ? entry(...args) : entry;
}

/** Fills `data-t` (text) and `data-t-label`, `data-t-placeholder` of everything under `root`. */
export function fillWords(root) {
    for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
    for (const element of root.querySelectorAll("[data-t-label]")) {
        element.setAttribute("aria-label", t(element.dataset.tLabel));
        if (element.matches("button")) element.title = t(element.dataset.tLabel);
    }
    for (const element of root.querySelectorAll("[data-t-placeholder]")) {
        element.placeholder = t(element.dataset.tPlaceholder);
    }
}

export function number(value, digits = 0) {
    return new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value);
}

export function percent(fraction) {
    return new Intl.NumberFormat(locale, { style: "percent" }).format(fraction);
}

export function kilo(tokens) {
    return tokens >= 1024 ? `${number(tokens / 1024, tokens % 1024 ? 1 : 0)}K` : number(tokens);
}

/** The time today, the weekday within six days, else the date. */
export function shortTime(iso, now = new Date()) {
    const then = new Date(iso);
    if (Number.isNaN(then.getTime())) return "";
    const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
    const days = Math.round((midnight(now) - midnight(then)) / 86_400_000);
    if (days <= 0) return new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" }).format(then);
    if (days === 1) return t("yesterday");
    if (days <= 6) return new Intl.DateTimeFormat(locale, { weekday: "long" }).format(then);
    const sameYear = then.getFullYear() === now.getFullYear();
    return new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: sameYear ? undefined : "numeric" }).format(then);
}
