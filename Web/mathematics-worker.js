import katex from "./vendor/katex.js";

/** Links, pictures and classes of a formula's own are refused (`trust`), and what it may grow to is bounded. */
const options = { output: "mathml", throwOnError: true, strict: "ignore", trust: false, maxExpand: 300, maxSize: 40 };

self.onmessage = ({ data: { source, tex, display } }) => {
    let markup = null;
    try {
        // The page's policy forbids inline styles, and MathML needs none. Quotes in texts are escaped, so nothing else matches.
        markup = katex.renderToString(tex, { ...options, displayMode: display }).replace(/ style="[^"]*"/g, "");
    } catch {
        // What is no TeX is shown as it was written.
    }
    self.postMessage({ source, markup });
};
