// Which language the page speaks. Loaded by itself, before all else, so that its words are asked for while the rest is
// still on its way. It awaits nothing: WebKit runs a module that does, and that two scripts of a page share, now and then never.

export const LANGUAGES = { en: "English", "zh-Hans": "简体中文" };
export const CHOICE = "alcove.language";

/** "" follows the browser. */
export const languageChoice = () => globalThis.localStorage?.getItem(CHOICE) ?? "";

/** The best of our languages for a list of wishes, and the locale for numbers and dates. */
export function pickLanguage(choice, wishes) {
    const ours = (tag) => (/^zh\b/i.test(tag) ? "zh-Hans" : /^en\b/i.test(tag) ? "en" : null);
    const language = choice in LANGUAGES ? choice : wishes.map(ours).find(Boolean) ?? "en";
    // English words with British dates, for who asked for those.
    return { language, locale: wishes.find((tag) => ours(tag) === language) ?? language };
}

export const { language, locale } = pickLanguage(languageChoice(), [...(globalThis.navigator?.languages ?? [])]);

export const firstWords = import(`./words/${language}.js`);
// Who awaits it tells.
firstWords.catch(() => {});
