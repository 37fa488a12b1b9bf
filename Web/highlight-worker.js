import highlighter from "./vendor/highlight.js";

self.onmessage = ({ data: { id, text, language } }) => {
    let html = null;
    try {
        if (highlighter.getLanguage(language)) html = highlighter.highlight(language, text, true).value;
    } catch {
        // A text the highlighter cannot read stays plain.
    }
    self.postMessage({ id, html });
};
