// A symbol out of icons.svg, for the eye only: what it stands for is said in words beside it or in a label.

export function icon(name) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS(space, "use");
    use.setAttribute("href", `icons.svg#${name}`);
    svg.append(use);
    return svg;
}
