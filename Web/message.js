// One message as it is kept, and the pieces that it and a growing answer are made of.

import { attachedList } from "./attached.js";
import { attachmentsOf } from "./attachment-fields.js";
import { icon, make, makeButton, makeFold } from "./elements.js";
import { renderMarkdown } from "./markdown.js";
import { number, t } from "./strings.js";
import { inOrder, ownWords } from "./text.js";
import { addReceipts, Trace } from "./trace.js";

/** A saved message. What is in it may be older than this page, or damaged: of a message that cannot be drawn whole, the words are. */
export function savedMessage(message, runs) {
    try {
        return drawnMessage(message, runs);
    } catch {
        const article = articleFor(message?.role === "user" ? "user" : "assistant");
        addBody(article).textContent = typeof message?.content === "string" ? message.content : "";
        return article;
    }
}

function drawnMessage(message, runs) {
    const { role, content, thinking, tokenCount, tokPerSec, aborted, truncated, stoppedBy } = message;
    const interrupted = message.interrupted === true;
    const steps = listOf(message.steps, "tool");
    const artifacts = listOf(message.artifacts, "name");
    const text = typeof content === "string" ? content : "";
    const article = articleFor(role === "user" ? "user" : "assistant");
    if (role === "user") {
        const words = ownWords(text);
        article.dataset.source = words;
        const attached = attachmentsOf(message);
        if (attached.length > 0) article.append(attachedList(attached));
        if (words !== "") addBody(article).textContent = words;
        article.append(action("more", "", t("messageActions"), { act: "more" }));
        return article;
    }
    article.dataset.source = text;
    if (thinking) addReasoning(article, t("reasoning")).lastElementChild.textContent = thinking;
    let trace = null;
    for (const piece of inOrder(text, steps)) {
        const body = addBody(article);
        if (trace === null || piece.steps.length > 0) trace = new Trace((list) => body.before(list));
        for (const step of piece.steps) trace.addStep(step, []);
        body.append(renderMarkdown(piece.text));
    }
    trace.addFiles(artifacts);
    if (steps.length > 0) addReceipts(article, steps, runs);
    if (interrupted) addAside(article, "note", t("interrupted"));
    addFooter(article, { tokens: tokenCount, perSecond: tokPerSec, stopped: aborted, truncated, stoppedBy, interrupted });
    return article;
}

/** What stands in an answer's place where a question has none, so that it can be asked again. */
export function noAnswer() {
    const article = articleFor("assistant");
    article.classList.add("unkept");
    addBody(article);
    addAside(article, "note", t("unanswered"));
    addFooter(article);
    return article;
}

/** Those of a list that are what it should hold. */
const listOf = (list, key) => (Array.isArray(list) ? list.filter((one) => typeof one?.[key] === "string") : []);

export function articleFor(role) {
    const article = make("article", `message ${role}`);
    article.setAttribute("aria-label", t(role === "user" ? "you" : "assistant"));
    return article;
}

export function addBody(article) {
    const body = make("div", "body");
    body.dir = "auto";
    article.append(body);
    return body;
}

export function addReasoning(article, words) {
    const details = makeFold("reasoning", words);
    const text = make("div");
    text.dir = "auto";
    details.append(text);
    article.prepend(details);
    return details;
}

export function addAside(article, className, words) {
    [...article.querySelectorAll(":scope > .body")].at(-1).after(make("p", className, words));
}

export function addFooter(article, outcome) {
    const footer = make("footer");
    if (article.dataset.source) footer.append(action("copy", t("copy"), t("copyAnswer"), { copy: "answer" }));
    footer.append(action("again", t("regenerate"), t("regenerateLabel"), { act: "again" }));
    if (article.dataset.source && (outcome?.truncated || outcome?.stopped || outcome?.interrupted)) {
        footer.append(action("forward", t("goOn"), t("goOnLabel"), { act: "goOn" }));
    }
    footer.append(action("undo", t("undo"), t("undoLabel"), { act: "undo" }));
    if (outcome) footer.append(action("more", "", t("messageActions"), { act: "more" }));
    const facts = [];
    if (outcome?.stoppedBy) facts.push(t("stoppedBy", outcome.stoppedBy));
    if (outcome?.stopped) facts.push(t("stopped"));
    if (outcome?.truncated) facts.push(t("truncated"));
    if (outcome?.incomplete) facts.push(t("incomplete"));
    if (outcome?.tokens > 0) facts.push(t("tokens", number(outcome.tokens)));
    if (outcome?.tokens > 0 && outcome.perSecond > 0) facts.push(t("perSecond", number(outcome.perSecond, 1)));
    footer.append(make("span", "facts", facts.join(" · ")));
    article.append(footer);
}

function action(symbol, words, label, data) {
    const button = makeButton(`quiet ${symbol}`);
    button.setAttribute("aria-label", label);
    button.title = label;
    Object.assign(button.dataset, data);
    button.append(icon(symbol));
    if (words) button.append(make("span", "", words));
    return button;
}
