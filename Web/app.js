// The page's one place where parts meet: makes them, ties them to what is on the page, and starts.

import { host } from "./api.js";
import { Attachments } from "./attachments.js";
import { Chats } from "./chats.js";
import { Composer, followViewport } from "./composer.js";
import { keepFiles, keepText, keepTools } from "./drafts.js";
import { Drawer } from "./drawer.js";
import { icon, loadIcons, make, makeButton } from "./elements.js";
import { Model } from "./model.js";
import { Notices } from "./notices.js";
import { Sending } from "./sending.js";
import { fillWords, language, moreWords, t } from "./strings.js";
import { Transcript } from "./transcript.js";
import { Troubles } from "./troubles.js";
import { TurnLink } from "./turn-link.js";

const $ = (id) => document.getElementById(id);

document.documentElement.lang = language;
loadIcons().catch(() => {});
fillWords(document);
for (const element of document.querySelectorAll("[data-icon]")) element.prepend(icon(element.dataset.icon));
followViewport();

/** What the parts know each other by. Each is told in its own file what it is for. */
const page = { host, say: (sentence) => ($("announcer").textContent = sentence), shares: null };
const { attempt, failed, notice } = {
    attempt: (run) => page.troubles.attempt(run), failed: (error) => page.troubles.failed(error),
    notice: (sentence) => page.notices.add({ sentence }),
};
let started = false;

/** A part of the page that is loaded when it is wanted, with the words it says. */
const load = async (file) => (await Promise.all([import(file), moreWords()]))[0];

page.notices = new Notices($("notices"));
page.troubles = new Troubles(page);
page.transcript = new Transcript((ChatView, Transport) => {
    page.link.follow(new Transport());
    return new ChatView({ scroller: $("scroller"), list: $("transcript"), jump: $("jump"), empty: $("empty") }, {
        act, answer: (id, outcome) => page.link.dispatch({ type: "answer", id, outcome }),
        runs: () => host.runs(page.chats.current.id),
    });
});
page.chats = new Chats(page);
page.sending = new Sending(page);
page.composer = new Composer({
    form: $("composer"), box: $("box"), send: $("send"), strip: $("strip"), label: $("strip-label"),
    elapsed: $("strip-elapsed"), progress: $("strip-progress"), lines: $("strip-lines"), tools: $("tools"),
    attach: $("attach"), editing: $("editing"),
}, {
    tools: setTools, send: (text) => page.sending.send(text), stop: () => page.link.dispatch({ type: "stop" }),
    draft: (text) => keepText(page.chats.current, text),
    attach: () => attempt(async () => (await load("./attach-sheet.js")).openAttachSheet(
        (files) => page.attachments.add(files), page.model.server,
    )),
    paste: (clipboard) => page.attachments.paste(clipboard), cancelEdit: () => page.sending.cancelEdit(),
});
page.attachments = new Attachments($("attachments"), host.upload, {
    changed: filesChanged, failed: notice, say: page.say,
    words: (text) => page.composer.insert(text), emptied: () => page.composer.focus(),
});
const chatActs = (run) => attempt(async () => run(await load("./chat-acts.js")));
page.drawer = new Drawer({
    drawer: $("drawer"), scrim: $("scrim"), main: $("main"), list: $("chats"), toggle: $("menu"), close: $("drawer-close"),
    search: $("search"), select: $("select"), selection: $("selection"), count: $("selected-count"), all: $("select-all"),
    drop: $("remove-chosen"),
}, {
    open: (id) => page.chats.open(id), search: (words, signal) => page.chats.search(words, signal), say: page.say,
    removeMany: (ids) => chatActs((acts) => acts.removeMany(page, ids)),
    edit: (chosen) => attempt(async () => (await load("./chat-sheet.js")).openChatSheet(chosen, {
        rename: (id, title) => chatActs((acts) => acts.rename(page, id, title)),
        remove: (id) => chatActs((acts) => acts.remove(page, id)), exportAddress: host.exportAddress,
    })),
});
page.model = new Model({
    button: $("model"), name: $("model-name"), sub: $("model-sub"), progress: $("model-progress"), gauge: $("gauge"),
    privacy: $("privacy"),
    empty: {
        title: $("empty-title"), body: $("empty-body"), command: $("empty-command"), examples: $("examples"),
        choose: $("empty-choose"),
    },
}, host, { ready: modelChanged, notice, failed, back: () => page.link.back() });
host.lost = () => page.model.lost();
page.link = new TurnLink(page);
page.messageActs = (run) => attempt(async () => run(await load("./message-acts.js")));
page.places = {};
for (const name of ["model", "models", "kept", "activity", "settings", "about"]) {
    page.places[name] = () => attempt(async () => (await load("./places.js")).places(page, { failed, fillBox })[name]());
}

page.attachments.acceptDrops($("main"));
// What draws messages is here before the first answer is, or before a chat is chosen. Whoever needs it tells when it does not come.
const expectMessages = () => page.transcript.need().catch(() => {});
$("box").addEventListener("input", expectMessages, { once: true });
for (const kind of ["pointerenter", "focusin"]) $("drawer").addEventListener(kind, expectMessages, { once: true });
for (const id of ["new", "drawer-new"]) $(id).addEventListener("click", () => page.chats.openNew());
$("model").addEventListener("click", page.places.model);
$("empty-choose").addEventListener("click", page.places.models);
for (const [name, symbol] of Object.entries({ models: "chip", kept: "file", activity: "again", settings: "settings", about: "about" })) {
    const place = makeButton();
    place.id = `open-${name}`;
    place.append(icon(symbol), make("span", "", t(name)));
    place.addEventListener("click", () => {
        page.drawer.makeWay();
        page.places[name]();
    });
    $("places").append(place);
}
for (const { title, prompt } of t("examples")) {
    const button = makeButton();
    button.append(make("strong", "", title), make("span", "", prompt));
    // An example only fills the box: sending is the person's to do.
    button.addEventListener("click", () => fillBox(prompt));
    $("examples").append(button);
}

function fillBox(text) {
    expectMessages();
    page.composer.text = text;
    keepText(page.chats.current, text);
    page.composer.focus();
}

function showReady() {
    const { chats, composer, model } = page;
    const open = chats.current !== null;
    composer.setReady(open && model.state === "Loaded", open && model.idle);
}

function modelChanged(ready) {
    const { chats, notices } = page;
    showReady();
    // The host was away when the page started, and is back.
    if (ready && started && chats.current === null) {
        notices.clear();
        start();
    }
}

function setTools(on) {
    const { chats, composer, notices } = page;
    if (chats.current === null) return;
    keepTools(chats.current, on);
    composer.setTools(on);
    if (!on || localStorage.getItem("alcove.toolsExplained")) return;
    localStorage.setItem("alcove.toolsExplained", "yes");
    notices.add({ sentence: t("toolsHint"), quiet: true });
}

function filesChanged() {
    const { attachments, chats, composer, sending } = page;
    composer.setFiles(attachments.ready.length > 0, attachments.isWaiting);
    if (!sending.isUnderWay && chats.current !== null) keepFiles(chats.current, attachments.ready);
}

/** A button of a message. */
function act(name, index, source) {
    const { chats, link, sending } = page;
    const idle = !link.answering;
    const undo = () => page.messageActs((acts) => acts.undo(page));
    if (name === "again") sending.regenerate();
    if (name === "goOn") sending.goOn();
    if (name === "undo" && idle) undo();
    if (name !== "more") return;
    const message = chats.current.history[index];
    const last = index === chats.current.history.length - 1;
    attempt(async () => (await load("./message-sheet.js")).openMessageSheet({ role: message?.role ?? "assistant", text: source }, {
        notice, edit: message?.role === "user" && idle ? () => sending.edit(index) : null,
        branch: message && idle ? () => page.messageActs((acts) => acts.branch(page, index)) : null,
        undo: last && idle ? undo : null,
    }));
}

const hashChat = () => new URLSearchParams(location.hash.slice(1)).get("chat");
addEventListener("hashchange", async () => {
    const id = hashChat(), { chats } = page;
    if (!id || id === chats.current?.id || await chats.open(id) || chats.current === null || hashChat() !== id) return;
    // It is gone: what is on the screen is what the address should name.
    history.replaceState(null, "", `#chat=${encodeURIComponent(chats.current.id)}`);
});

async function start() {
    const { chats, composer, model } = page;
    started = false;
    const before = chats.asked.count;
    const [listed, launch] = await Promise.all([
        chats.refresh(), host.launch().catch(() => null), model.refresh(),
    ]);
    const named = hashChat();
    // A chat picked from the list meanwhile is what the person wants to see.
    if (chats.asked.count !== before) await chats.asked.last;
    else if (named && listed.some(({ id }) => id === named)) await chats.open(named);
    else if (!launch || launch.cold) await chats.open("new");
    else await chats.open(launch.conversation ?? listed[0]?.id ?? "new");
    started = true;
    // The host came back between the chat that did not open and here: no change is left to wait for.
    if (chats.current === null && model.state === "Loaded" && $("gate").hidden) setTimeout(modelChanged, 1_000, true);
    showReady();
    composer.focusOnDesk();
    document.documentElement.dataset.started = "true";
    lookForShares();
}

/** What draws on the inbox is loaded with the first thing in it. */
async function lookForShares() {
    if (page.chats.current === null) return;
    if (page.shares === null) {
        const share = await host.claimShare().catch(() => null);
        if (share === null || page.shares !== null) return;
        const { sharesOf } = await load("./share.js").catch(() => ({}));
        if (!sharesOf || page.shares !== null) return;
        page.shares = sharesOf($("share"), page, () => started);
    }
    page.shares.take();
}
document.addEventListener("visibilitychange", () => !document.hidden && started && lookForShares());

start();
