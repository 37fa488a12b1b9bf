// The few elements that the page's parts make by hand. Words go in as text, never as HTML.

export function make(name, className = "", words = "") {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (words) element.textContent = words;
    return element;
}

export function makeButton(className, words) {
    const button = make("button", className, words);
    button.type = "button";
    return button;
}

/** A disclosure, closed. Its content is appended after. */
export function makeFold(className, ...words) {
    const fold = make("details", `fold ${className}`);
    const label = make("span");
    label.append(...words);
    fold.append(make("summary"));
    fold.firstElementChild.append(icon("chevron"), label);
    return fold;
}

/** A symbol out of icons.svg, for the eye only: what it stands for is said in words beside it or in a label. */
export function icon(name) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    svg.append(document.createElementNS(space, "use"));
    setIcon(svg, name);
    return svg;
}

export function setIcon(svg, name) {
    svg.firstElementChild.setAttribute("href", `#icon-${name}`);
}

/** Takes the symbols into the page: one that is looked up in another file shows a moment after what it stands in. */
export async function loadIcons() {
    const text = await (await fetch("icons.svg")).text();
    const sprite = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    for (const symbol of sprite.querySelectorAll("symbol")) symbol.id = `icon-${symbol.id}`;
    sprite.setAttribute("hidden", "");
    sprite.setAttribute("aria-hidden", "true");
    document.body.append(document.importNode(sprite, true));
}

const styles = new Map();

/** Loads one of the page's style sheets, once. What is shown before it is there looks wrong, so wait for it. */
export function loadStyles(file) {
    if (!styles.has(file)) {
        styles.set(file, new Promise((resolve, reject) => {
            const link = make("link");
            Object.assign(link, { rel: "stylesheet", href: file, onload: resolve });
            link.onerror = () => {
                styles.delete(file);
                link.remove();
                reject(new Error(`${file} did not load`));
            };
            document.head.append(link);
        }));
    }
    return styles.get(file);
}
