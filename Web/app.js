// The page's one place where parts meet: carries out what the transport decides, and opens and keeps chats.

import { host, HostError } from "./api.js";
import { describe } from "./approval.js";
import { ChatView } from "./chat-view.js";
import { Composer, followViewport } from "./composer.js";
import { Drawer } from "./drawer.js";
import { icon, make, makeButton } from "./elements.js";
import { loadMarkdown } from "./markdown.js";
import { Model } from "./model.js";
import { fillWords, t } from "./strings.js";
import { Transport, WATCH_EVERY } from "./transport.js";

const $ = (id) => document.getElementById(id);

const transport = new Transport();
const controllers = new Map();
let retryTimer = null;
let checkTimer = null;
/** The open chat: `{ id, sessionId, title, think, history }`. The page's history is what the next request sends. */
let chat = null;
let opening = 0;
let opened = null;
let started = false;

fillWords(document);
for (const element of document.querySelectorAll("[data-icon]")) element.prepend(icon(element.dataset.icon));
followViewport();

const view = new ChatView({
    scroller: $("scroller"), list: $("transcript"), jump: $("jump"), empty: $("empty"),
}, { regenerate, answer: (id, outcome) => dispatch({ type: "answer", id, outcome }), runs: () => host.runs(chat.id) });
const composer = new Composer({
    form: $("composer"), box: $("box"), send: $("send"), strip: $("strip"), label: $("strip-label"),
    elapsed: $("strip-elapsed"), progress: $("strip-progress"), lines: $("strip-lines"), tools: $("tools"),
}, { tools: setTools, send, stop: () => dispatch({ type: "stop" }), draft: keepDraft });
const drawer = new Drawer({
    drawer: $("drawer"), scrim: $("scrim"), main: $("main"), list: $("chats"), toggle: $("menu"),
    close: $("drawer-close"), renameDialog: $("rename"), removeDialog: $("remove"),
}, { open: (id) => openChat(id), rename, remove });
const model = new Model({
    button: $("model"), name: $("model-name"), sub: $("model-sub"), progress: $("model-progress"),
    sheet: $("model-sheet"), sheetTitle: $("model-sheet-title"), sheetError: $("model-sheet-error"),
    facts: $("model-facts"), close: $("model-close"),
    empty: { title: $("empty-title"), body: $("empty-body"), command: $("empty-command"), examples: $("examples") },
}, host, { ready: modelChanged, notice: (sentence) => notice({ sentence }), failed });

function modelChanged(ready) {
    composer.setReady(ready && chat !== null);
    // The host was away when the page started, and is back.
    if (ready && started && chat === null) {
        clearNotices();
        start();
    }
}

// MARK: the transport's decisions, carried out

function dispatch(event) {
    for (const action of transport.handle({ now: Date.now(), ...event })) carryOut(action);
}

function carryOut(action) {
    switch (action.do) {
        case "showAnswer":
            view.beginAnswer();
            $("announcer").textContent = "";
            composer.setAnswering(true);
            break;
        case "strip":
            composer.strip(action);
            composer.setAnswering(transport.answering);
            break;
        case "chat":
            read(action.reader, (signal, reader) => host.chat(action.body, signal, reader));
            break;
        case "attach":
            read(action.reader, (signal, reader) => host.attach(action.turn, action.from, signal, reader));
            break;
        case "abort":
            controllers.get(action.reader)?.abort();
            break;
        case "lookUp":
            lookUp(action);
            break;
        case "stopTurn":
            host.stopTurn(action.turn).catch(() => {});
            break;
        case "retryIn":
            clearTimeout(retryTimer);
            retryTimer = setTimeout(() => dispatch({ type: "retry" }), action.after);
            break;
        case "cancelRetry":
            clearTimeout(retryTimer);
            break;
        case "accepted":
            forgetDraft();
            refreshChats();
            break;
        case "paint":
            view.paint(transport.live);
            break;
        case "step":
        case "ask":
        case "askState":
            view.carryOut(action);
            announceAsk(action);
            break;
        case "answer":
            answer(action);
            break;
        case "checkAsks":
            clearTimeout(checkTimer);
            checkTimer = setTimeout(checkAsks, 250);
            break;
        case "finish":
            if (action.message) chat.history.push(action.message);
            view.finishAnswer(action.message, action.outcome, action.files);
            $("announcer").textContent = t("answerFinished");
            refreshChats();
            break;
        case "removeAnswer":
            view.removeAnswer();
            break;
        case "giveBack":
            giveBack(action.draft);
            break;
        case "reopen":
            openChat(action.conversation);
            break;
        case "notice":
            noticeFrom(action);
            break;
    }
}

async function read(reader, start) {
    const controller = new AbortController();
    controllers.set(reader, controller);
    const live = () => !controller.signal.aborted;
    try {
        await start(controller.signal, {
            headers: (turn) => live() && dispatch({ type: "headers", reader, turn }),
            bytes: () => live() && dispatch({ type: "bytes", reader }),
            frame: (frame) => live() && dispatch({ type: "frame", reader, frame }),
            ended: () => live() && dispatch({ type: "ended", reader }),
        });
    } catch (error) {
        if (!live()) return;
        if (error instanceof HostError && error.status > 0) {
            if (error.status === 401) showGate();
            dispatch({
                type: "refused", reader, status: error.status, code: error.code, hint: error.hint,
                error: error.message || t("refusedPlain", error.status),
            });
            // The host has forgotten this session (it was started anew): the next send needs a fresh one.
            if (error.status === 404 && !transport.answering) openChat(chat.id);
        } else {
            dispatch({ type: "failed", reader, transport: error.transport === true, error: error.message });
        }
    } finally {
        controllers.delete(reader);
    }
}

async function lookUp({ lookup, conversation }) {
    try {
        const turn = await host.turn(conversation).catch((error) => {
            if (error.status === 404) return null;
            throw error;
        });
        dispatch({ type: "lookedUp", lookup, turn });
    } catch (error) {
        if (error.status === 401) showGate();
        dispatch({ type: "lookupFailed", lookup });
    }
}

// MARK: questions

function announceAsk({ ask, state }) {
    const words = ask?.state === "waiting" ? t("askAnnounced", describe(ask)) : t("askOutcomes")[state];
    if (words) $("announcer").textContent = words;
}

async function answer({ id, signature, outcome }) {
    try {
        await host.answer(id, signature, outcome);
        dispatch({ type: "answered", id, outcome });
    } catch (error) {
        if (error.status !== 404) failed(error);
        dispatch({ type: "answerRefused", id, status: error.status });
    }
}

/** After a replay: which of the questions on the screen the host still asks, and how long each has left. */
async function checkAsks() {
    const checked = transport.live.asks.filter(({ state }) => state === "waiting").map(({ id }) => id);
    if (checked.length === 0) return;
    // When this fails the card stays, and the answer to it tells.
    const asks = await host.approvals().catch(() => null);
    if (asks) dispatch({ type: "asksWaiting", asks, checked });
}

setInterval(() => dispatch({ type: "watch" }), WATCH_EVERY);
document.addEventListener("visibilitychange", () => {
    if (document.hidden) dispatch({ type: "hidden" });
    // A waking phone hands the page back before its sockets.
    else setTimeout(() => dispatch({ type: "visible" }), 250);
});
addEventListener("pageshow", (event) => event.persisted && dispatch({ type: "visible" }));

// MARK: sending

function send(text) {
    if (!chat || transport.answering) return false;
    if (pendingOpens > 0) {
        // A chat is being opened: what is sent now belongs to it, and would be lost in the one that goes.
        afterOpening = text;
        return true;
    }
    clearNotices();
    chat.history.push({ role: "user", content: text });
    view.addUser(text);
    ask({ text });
    return true;
}

function regenerate() {
    if (!chat || transport.answering || model.state !== "Loaded") return;
    clearNotices();
    while (chat.history.at(-1)?.role === "assistant") chat.history.pop();
    view.removeLastAnswer();
    ask({ again: true });
}

function ask(draft) {
    const body = { messages: chat.history, sessionId: chat.sessionId };
    if (typeof chat.think === "boolean") body.think = chat.think;
    if (toolsAreOn()) body.profile = "agent";
    dispatch({ type: "send", draft, body });
}

// Whether an answer may use tools: off until switched on, for each chat by itself.

const toolsKey = (id) => `alcove.tools.${id}`;
const toolsAreOn = () => chat !== null && localStorage.getItem(toolsKey(chat.id)) === "on";

function setTools(on) {
    if (chat === null) return;
    if (on) localStorage.setItem(toolsKey(chat.id), "on");
    else localStorage.removeItem(toolsKey(chat.id));
    composer.setTools(on);
    if (!on || localStorage.getItem("alcove.toolsExplained")) return;
    localStorage.setItem("alcove.toolsExplained", "yes");
    notice({ sentence: t("toolsHint"), quiet: true });
}

function giveBack(draft) {
    if (draft.again) {
        openChat(chat.id);
        return;
    }
    if (chat.history.at(-1)?.role === "user") chat.history.pop();
    view.removeLastUser();
    composer.giveBack(draft.text);
    keepDraft(composer.text);
}

// Unsent words outlive a reload. They go when the host has accepted them, not when Send is pressed.

const draftKey = () => `alcove.draft.${chat?.id ?? "new"}`;

function keepDraft(text) {
    if (text.trim() === "") localStorage.removeItem(draftKey());
    else localStorage.setItem(draftKey(), text);
}

function forgetDraft() {
    keepDraft(composer.text);
}

// MARK: chats

let pendingOpens = 0;
let afterOpening = null;

function openChat(id) {
    pendingOpens += 1;
    opened = openSession(id).finally(() => {
        pendingOpens -= 1;
        if (pendingOpens > 0 || afterOpening === null) return;
        const words = afterOpening;
        afterOpening = null;
        if (!send(words)) composer.giveBack(words);
    });
    return opened;
}

async function openSession(id) {
    const mine = (opening += 1);
    let session;
    try {
        session = await host.open(id);
    } catch (error) {
        if (mine !== opening) return false;
        if (error.status === 404) notice({ sentence: t("chatGone") });
        else failed(error);
        return false;
    }
    if (mine !== opening) return false;
    // What was on the screen stays until here: a chat that cannot be opened costs nothing.
    const same = chat?.id === session.conversationId;
    dispatch({ type: "left" });
    if (chat !== null && !same) clearNotices();
    // Words typed before any chat was open belong to the first that opens.
    const typed = chat === null ? composer.text : "";
    if (typed !== "") keepDraft("");
    chat = {
        id: session.conversationId, sessionId: session.sessionId, title: session.title, think: session.think,
        history: [...(session.messages ?? [])],
    };
    history.replaceState(null, "", `#chat=${encodeURIComponent(chat.id)}`);
    if (!same) composer.text = [localStorage.getItem(draftKey()), typed].filter(Boolean).join("\n");
    if (typed !== "") keepDraft(composer.text);
    composer.setTools(toolsAreOn());
    view.show(chat.history);
    showTitle();
    drawer.mark(chat.id);
    dispatch({ type: "opened", conversation: chat.id, activeTurn: session.activeTurn ?? null });
    return true;
}

async function newChat() {
    drawer.makeWay();
    if (chat && chat.history.length === 0) composer.focus();
    else if (await openChat("new")) composer.focusOnDesk();
}

async function refreshChats() {
    try {
        const chats = await host.chats();
        drawer.show(chats, chat?.id);
        const current = chats.find(({ id }) => id === chat?.id);
        if (current) {
            chat.title = current.title;
            showTitle();
        }
        return chats;
    } catch (error) {
        if (error.status === 401) showGate();
        return [];
    }
}

async function rename(id, title) {
    try {
        await host.rename(id, title);
    } catch (error) {
        failed(error);
    }
    refreshChats();
}

async function remove(id) {
    try {
        await host.remove(id);
        localStorage.removeItem(`alcove.draft.${id}`);
        localStorage.removeItem(toolsKey(id));
    } catch (error) {
        failed(error);
        return;
    }
    await refreshChats();
    if (id === chat?.id) await openChat("new");
}

function showTitle() {
    document.title = chat?.title && chat.history.length > 0 ? `${chat.title} — Alcove` : "Alcove";
}

// MARK: saying what went wrong

function failed(error) {
    if (error.status === 401) showGate();
    else if (error.transport || error.name === "TimeoutError") notice({ sentence: t("unreachable") });
    else notice({ sentence: error.message || t("refusedPlain", error.status), hint: error.hint });
}

function noticeFrom({ key, sentence, hint, status }) {
    if (status === 401) return;
    notice({ sentence: key ? t(key) : sentence, hint });
}

function notice({ sentence, hint, quiet = false }) {
    const words = [sentence, hint].filter(Boolean).join(" ");
    const notices = $("notices");
    if ([...notices.children].some((card) => card.dataset.words === words)) return;
    const card = make("div", quiet ? "notice hint" : "notice");
    card.dataset.words = words;
    const text = make("p", "", words);
    text.dir = "auto";
    const dismiss = makeButton("quiet", t("dismiss"));
    dismiss.addEventListener("click", () => card.remove());
    card.append(text, dismiss);
    notices.append(card);
    while (notices.children.length > 3) notices.firstElementChild.remove();
}

function clearNotices() {
    $("notices").replaceChildren();
}

function showGate() {
    $("gate").hidden = false;
    document.querySelector(".app").inert = true;
}

// MARK: start

for (const { title, prompt } of t("examples")) {
    const button = makeButton();
    button.append(make("strong", "", title), make("span", "", prompt));
    // An example only fills the box: sending is the person's to do.
    button.addEventListener("click", () => {
        composer.text = prompt;
        keepDraft(prompt);
        composer.focus();
    });
    $("examples").append(button);
}

for (const id of ["new", "drawer-new"]) $(id).addEventListener("click", newChat);

const hashChat = () => new URLSearchParams(location.hash.slice(1)).get("chat");
addEventListener("hashchange", () => {
    const id = hashChat();
    if (id && id !== chat?.id) openChat(id);
});

async function start() {
    started = false;
    const before = opening;
    const [formatted, chats, launch] = await Promise.all([
        loadMarkdown(), refreshChats(), host.launch().catch(() => null), model.refresh(),
    ]);
    const named = hashChat();
    // A chat picked from the list meanwhile is what the person wants to see.
    if (opening !== before) await opened;
    else if (named && chats.some(({ id }) => id === named)) await openChat(named);
    else if (!launch || launch.cold) await openChat("new");
    else await openChat(launch.conversation ?? chats[0]?.id ?? "new");
    if (!formatted) notice({ sentence: t("plainText") });
    started = true;
    // The host came back between the chat that did not open and here: no change is left to wait for.
    if (chat === null && model.state === "Loaded" && $("gate").hidden) setTimeout(modelChanged, 1_000, true);
    composer.setReady(chat !== null && model.state === "Loaded");
    composer.focusOnDesk();
    document.documentElement.dataset.started = "true";
}

start();
