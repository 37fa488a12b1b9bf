// The page's one place where parts meet: carries out what the transport decides, and opens and keeps chats.

import { host, HostError } from "./api.js";
import { attachmentsOf, messageFields } from "./attachment-fields.js";
import { Attachments } from "./attachments.js";
import { Composer, followViewport } from "./composer.js";
import { Drawer } from "./drawer.js";
import { icon, loadIcons, loadStyles, make, makeButton } from "./elements.js";
import { Model } from "./model.js";
import { Notices } from "./notices.js";
import { fillWords, language, moreWords, number, t } from "./strings.js";
import { ownWords } from "./text.js";
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
/** The earlier message that is written anew: `{ index, before: { text, attachments } }`, or null. */
let editing = null;
/** The draft that is on its way. */
let sent = null;
/** What other programs shared; loaded once the page has started. */
let shares = null;

document.documentElement.lang = language;
loadIcons().catch(() => {});
fillWords(document);
for (const element of document.querySelectorAll("[data-icon]")) element.prepend(icon(element.dataset.icon));
followViewport();

const notices = new Notices($("notices"));
const say = (sentence) => ($("announcer").textContent = sentence);
/** What draws messages; null until the first message. */
let view = null;
let viewLoading = null;
/** Whether answers come without formatting, which is told with the first. */
let isPlain = false;
const composer = new Composer({
    form: $("composer"), box: $("box"), send: $("send"), strip: $("strip"), label: $("strip-label"),
    elapsed: $("strip-elapsed"), progress: $("strip-progress"), lines: $("strip-lines"), tools: $("tools"),
    attach: $("attach"), editing: $("editing"),
}, {
    tools: setTools, send: (text) => send(text), stop: () => dispatch({ type: "stop" }), draft: keepDraft,
    attach: chooseFiles, paste: (clipboard) => attachments.paste(clipboard), cancelEdit,
});
const attachments = new Attachments($("attachments"), host.upload, {
    changed: filesChanged, failed: (sentence) => notices.add({ sentence }), say,
    words: (text) => composer.insert(text), emptied: () => composer.focus(),
});
const drawer = new Drawer({
    drawer: $("drawer"), scrim: $("scrim"), main: $("main"), list: $("chats"), toggle: $("menu"), close: $("drawer-close"),
    search: $("search"), select: $("select"), selection: $("selection"), count: $("selected-count"), all: $("select-all"),
    drop: $("remove-chosen"),
}, { open: (id) => openChat(id), edit: editChat, search: searchChats, removeMany, say });
const model = new Model({
    button: $("model"), name: $("model-name"), sub: $("model-sub"), progress: $("model-progress"), gauge: $("gauge"),
    empty: {
        title: $("empty-title"), body: $("empty-body"), command: $("empty-command"), examples: $("examples"),
        choose: $("empty-choose"),
    },
}, host, { ready: modelChanged, notice: (sentence) => notices.add({ sentence }), failed });
attachments.acceptDrops($("main"));
$("box").addEventListener("input", () => needView().catch(() => {}), { once: true });

/** Loads what draws messages: with the first that is written, or with a chat that has some. */
function needView() {
    viewLoading ??= loadView().catch((error) => {
        viewLoading = null;
        throw error;
    });
    return viewLoading;
}

async function loadView() {
    // All at once: each would otherwise be asked for only when the one before it has come.
    const libraries = [import("./vendor/markdown-it.js"), import("./vendor/purify.js")];
    for (const library of libraries) library.catch(() => {});
    const [{ ChatView }, { loadMarkdown }] = await Promise.all([
        import("./chat-view.js"), import("./markdown.js"), loadStyles("answers.css"), moreWords(),
    ]);
    isPlain = !(await loadMarkdown());
    view = new ChatView({
        scroller: $("scroller"), list: $("transcript"), jump: $("jump"), empty: $("empty"),
    }, { act, answer: (id, outcome) => dispatch({ type: "answer", id, outcome }), runs: () => host.runs(chat.id) });
}

function modelChanged(ready) {
    composer.setReady(ready && chat !== null);
    // The host was away when the page started, and is back.
    if (ready && started && chat === null) {
        notices.clear();
        start();
    }
}

// MARK: sheets, each loaded when it is first wanted

async function sheet(open) {
    try {
        return await open();
    } catch (error) {
        failed(error);
        return null;
    }
}

const showModelSheet = () => sheet(async () => (await import("./model-sheet.js")).openModelSheet(model, showModels));
const showAbout = () => sheet(async () => (await import("./about.js")).openAbout(model.facts.engine?.engine));
const showModels = () => sheet(async () => (await import("./models.js")).openModels(host, {
    used: () => model.reload(), answering: () => transport.answering, model: () => model.facts.engine?.model ?? null, failed,
}));
const showSettings = () => sheet(async () => (await import("./settings.js")).openSettings(host, {
    changed: () => model.reload(), failed, imported: refreshChats,
    removedAll: async () => {
        for (const key of Object.keys(localStorage)) if (/^alcove\.(draft|files|tools)\./.test(key)) localStorage.removeItem(key);
        await refreshChats();
        await openChat("new");
    },
}));

function chooseFiles() {
    sheet(async () => (await import("./attach-sheet.js")).openAttachSheet((files) => attachments.add(files)));
}

function editChat(chosen) {
    sheet(async () => (await import("./chat-sheet.js")).openChatSheet(chosen, { rename, remove, exportAddress: host.exportAddress }));
}

// MARK: the transport's decisions, carried out

function dispatch(event) {
    for (const action of transport.handle({ now: Date.now(), ...event })) carryOut(action);
}

function carryOut(action) {
    switch (action.do) {
        case "showAnswer":
            view.beginAnswer();
            say("");
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
            accepted();
            break;
        case "paint":
            view.paint(transport.live);
            break;
        case "step":
        case "ask":
        case "askState":
            view.carryOut(action, transport.live.text);
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
            say(t("answerFinished"));
            showUsed();
            offerNetwork(action);
            refreshChats();
            shares?.retry();
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
            if (error.status === 404 && !transport.answering && editing === null) openChat(chat.id);
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
    const words = ask?.state === "waiting" ? t("askAnnounced", view.describe(ask)) : t("askOutcomes")[state];
    if (words) say(words);
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
    else {
        setTimeout(() => dispatch({ type: "visible" }), 250);
        if (started) lookForShares();
    }
});
addEventListener("pageshow", (event) => event.persisted && dispatch({ type: "visible" }));

// MARK: sending

function send(text, files = attachments.ready) {
    if (!chat || transport.answering) return false;
    if (pendingOpens > 0 || view === null) {
        // A chat is being opened: what is sent now belongs to it, and would be lost in the one that goes.
        held = { text, files };
        if (files.length > 0) attachments.ready = [];
        needView().then(sendHeld, (error) => {
            giveHeldBack();
            failed(error);
        });
        return true;
    }
    notices.clear();
    const draft = { text, files };
    if (editing) {
        Object.assign(draft, { restore: chat.history, editing });
        chat.history = chat.history.slice(0, editing.index);
        view.show(chat.history);
        stopEditing();
    }
    const message = { role: "user", content: text, ...messageFields(files) };
    chat.history.push(message);
    view.addUser(message);
    ask(draft);
    if (files.length > 0) attachments.ready = [];
    return true;
}

function regenerate() {
    if (!chat || transport.answering || model.state !== "Loaded") return;
    cancelEdit();
    notices.clear();
    while (chat.history.at(-1)?.role === "assistant") chat.history.pop();
    view.removeLastAnswer();
    ask({ again: true });
}

function ask(draft) {
    sent = draft;
    const body = { messages: chat.history, sessionId: chat.sessionId };
    if (typeof chat.think === "boolean") body.think = chat.think;
    if (toolsAreOn()) body.profile = "agent";
    const shareIds = shares?.ids(chat.id) ?? [];
    if (shareIds.length > 0 && !draft.again) body.shareIds = shareIds;
    dispatch({ type: "send", draft, body });
}

function accepted() {
    const draft = sent;
    sent = null;
    // What was in the box before an earlier message was taken up to be changed.
    if (draft?.editing) {
        composer.giveBack(draft.editing.before.text);
        attachments.giveBack(draft.editing.before.files);
    }
    keepDraft(composer.text);
    keepFiles();
    if (isPlain) notices.add({ sentence: t("plainText") });
    isPlain = false;
    if (draft && !draft.again && shares?.ids(chat.id).length > 0) shares.sent();
    refreshChats();
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
    notices.add({ sentence: t("toolsHint"), quiet: true });
}

function giveBack(draft) {
    sent = null;
    if (draft.again) {
        openChat(chat.id);
        return;
    }
    if (draft.restore) {
        chat.history = draft.restore;
        view.show(chat.history);
        editing = draft.editing;
        composer.setEditing(true);
    } else {
        if (chat.history.at(-1)?.role === "user") chat.history.pop();
        view.removeLastUser();
    }
    returnToBox(draft.text, draft.files);
}

// Unsent words and files outlive a reload. They go when the host has accepted them, not when Send is pressed.

const draftKey = (kind) => `alcove.${kind}.${chat?.id ?? "new"}`;

function keepDraft(text) {
    if (text.trim() === "") localStorage.removeItem(draftKey("draft"));
    else localStorage.setItem(draftKey("draft"), text);
}

function keepFiles() {
    const files = attachments.ready;
    if (files.length === 0) localStorage.removeItem(draftKey("files"));
    else localStorage.setItem(draftKey("files"), JSON.stringify(files));
}

function keptFiles() {
    try {
        return attachmentsOf({ attachments: JSON.parse(localStorage.getItem(draftKey("files")) ?? "[]") });
    } catch {
        return [];
    }
}

function filesChanged() {
    composer.setFiles(attachments.ready.length > 0, attachments.isWaiting);
    if (sent === null && chat !== null) keepFiles();
}

// MARK: one message

function act(name, index, source) {
    const last = index === chat.history.length - 1;
    const idle = !transport.answering;
    if (name === "again") regenerate();
    if (name === "goOn" && idle && model.state === "Loaded") {
        cancelEdit();
        send(t("goOnPrompt"), []);
    }
    if (name === "undo" && idle) undo();
    if (name !== "more") return;
    const message = chat.history[index];
    sheet(async () => (await import("./message-sheet.js")).openMessageSheet({ role: message?.role ?? "assistant", text: source }, {
        notice: (sentence) => notices.add({ sentence }),
        edit: message?.role === "user" && idle ? () => edit(index) : null,
        branch: message && idle ? () => branch(index) : null,
        undo: last && idle ? undo : null,
    }));
}

function edit(index) {
    const message = chat.history[index];
    if (transport.answering || message?.role !== "user") return;
    const before = editing?.before ?? { text: composer.text, files: attachments.ready };
    editing = { index, before };
    composer.setEditing(true);
    composer.text = ownWords(message.content ?? "");
    attachments.ready = attachmentsOf(message);
    composer.focus();
}

function stopEditing() {
    editing = null;
    composer.setEditing(false);
}

function cancelEdit() {
    if (!editing) return;
    const { before } = editing;
    stopEditing();
    composer.text = before.text;
    attachments.ready = before.files;
    keepDraft(composer.text);
    composer.focus();
}

/** What branching, undoing and redoing need of the page. */
const page = {
    host, composer, attachments, notices, failed, openChat, refreshChats, keepDraft, cancelEdit, showMessages,
    get chat() {
        return chat;
    },
};

const branch = (index) => sheet(async () => (await import("./message-acts.js")).branch(page, index));
const undo = () => sheet(async () => (await import("./message-acts.js")).undo(page));

function showMessages(messages) {
    if (!Array.isArray(messages)) return void openChat(chat.id);
    chat.history = [...messages];
    view.show(chat.history);
    showUsed();
    showTitle();
}

/** How full the model's view of the chat was when it last answered. */
function showUsed() {
    const { promptTokens, tokenCount } = chat?.history.findLast(({ role }) => role === "assistant") ?? {};
    model.used = promptTokens > 0 ? promptTokens + (tokenCount ?? 0) : null;
}

// MARK: chats

let pendingOpens = 0;
/** What was sent before there was a chat to send it in. */
let held = null;

function sendHeld() {
    if (held === null || pendingOpens > 0 || view === null) return;
    const { text, files } = held;
    held = null;
    if (!send(text, files)) returnToBox(text, files);
}

function giveHeldBack() {
    if (held === null) return;
    const { text, files } = held;
    held = null;
    returnToBox(text, files);
}

function returnToBox(text, files) {
    composer.giveBack(text);
    attachments.giveBack(files);
    keepDraft(composer.text);
    keepFiles();
}

function openChat(id) {
    pendingOpens += 1;
    opened = openSession(id).finally(() => {
        pendingOpens -= 1;
        sendHeld();
    });
    return opened;
}

async function openSession(id) {
    const mine = (opening += 1);
    let session;
    // Without the chat it is of no use, and that failure is told; a chat without messages does not need it yet.
    if (id !== "new") needView().catch(() => {});
    try {
        session = await host.open(id);
        if (session.messages?.length > 0 || session.activeTurn) await needView();
    } catch (error) {
        if (mine !== opening) return false;
        if (error.status === 404) notices.add({ sentence: t("chatGone") });
        else failed(error);
        return false;
    }
    if (mine !== opening) return false;
    // What was on the screen stays until here: a chat that cannot be opened costs nothing.
    const same = chat?.id === session.conversationId;
    dispatch({ type: "left" });
    if (chat !== null && !same) notices.clear();
    if (editing) cancelEdit();
    sent = null;
    // Words typed and files chosen before any chat was open belong to the first that opens.
    const first = chat === null;
    const typed = first ? composer.text : "";
    if (typed !== "") keepDraft("");
    chat = {
        id: session.conversationId, sessionId: session.sessionId, title: session.title, think: session.think,
        history: [...(session.messages ?? [])],
    };
    history.replaceState(null, "", `#chat=${encodeURIComponent(chat.id)}`);
    if (!same) composer.text = [localStorage.getItem(draftKey("draft")), typed].filter(Boolean).join("\n");
    if (typed !== "") keepDraft(composer.text);
    if (first) attachments.giveBack(keptFiles());
    else if (!same) attachments.ready = keptFiles();
    shares?.showFor(chat.id);
    composer.setTools(toolsAreOn());
    if (view) view.show(chat.history);
    else $("empty").hidden = false;
    showUsed();
    showTitle();
    drawer.mark(chat.id);
    dispatch({ type: "opened", conversation: chat.id, activeTurn: session.activeTurn ?? null });
    if (session.canRedo) sheet(async () => (await import("./message-acts.js")).offerRedo(page));
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
        forgetChat(id);
    } catch (error) {
        failed(error);
        return;
    }
    await refreshChats();
    if (id === chat?.id) await openChat("new");
}

async function removeMany(ids) {
    const { confirmSheet } = (await sheet(() => import("./sheet.js"))) ?? {};
    const sure = await confirmSheet?.({ title: t("removeManyTitle", number(ids.length)), body: t("removeManyBody"), action: t("remove") });
    if (!sure) return false;
    try {
        const { deleted } = await host.removeMany({ ids });
        say(t("removedCount", number(deleted ?? ids.length)));
    } catch (error) {
        failed(error);
        return false;
    }
    ids.forEach(forgetChat);
    await refreshChats();
    if (ids.includes(chat?.id)) await openChat("new");
    return true;
}

/** What this page keeps for a chat goes with it. */
function forgetChat(id) {
    for (const kind of ["draft", "files", "tools"]) localStorage.removeItem(`alcove.${kind}.${id}`);
}

/** Chats with the words in them; null when the host did not say. */
async function searchChats(words, signal) {
    try {
        return await host.search(words, signal);
    } catch (error) {
        if (error.name !== "AbortError" && !signal.aborted) failed(error);
        return null;
    }
}

function showTitle() {
    document.title = chat?.title && chat.history.length > 0 ? `${chat.title} — Alcove` : "Alcove";
}

// MARK: saying what went wrong

function failed(error) {
    if (error.status === 401) showGate();
    // Parts of the page come from the host too: one that does not load means the same.
    else if (error.transport || error.name === "TimeoutError" || !(error instanceof HostError)) notices.add({ sentence: t("unreachable") });
    else notices.add({ sentence: error.message || t("refusedPlain", error.status), hint: error.hint });
}

function noticeFrom({ key, sentence, hint, status, code }) {
    if (status === 401) return;
    const actions = {
        network_disabled: [[t("networkOn"), turnOnNetwork]],
        vision_not_ready: [[t("openModels"), showModels]],
        no_model: [[t("openModels"), showModels]],
        routed_workflow_unavailable: [[t("openSettings"), showSettings]],
    }[code];
    notices.add({ sentence: key ? t(key) : sentence, hint, actions });
}

/** An answer that met the switched-off network says where the switch is, once. */
async function offerNetwork({ message, outcome }) {
    const refusal = model.networkDisabledMessage;
    const said = [message?.content, outcome.error, ...(message?.steps ?? []).map(({ detail }) => detail)];
    if (refusal === "" || !said.some((text) => typeof text === "string" && text.includes(refusal))) return;
    const settings = await host.settings().catch(() => null);
    if (settings?.allowNetwork !== false) return;
    notices.add({ sentence: t("networkOff"), actions: [[t("networkOn"), turnOnNetwork]] });
}

async function turnOnNetwork() {
    await host.changeSettings({ allowNetwork: true }).catch(failed);
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
        needView().catch(() => {});
        composer.text = prompt;
        keepDraft(prompt);
        composer.focus();
    });
    $("examples").append(button);
}

for (const id of ["new", "drawer-new"]) $(id).addEventListener("click", newChat);
$("model").addEventListener("click", showModelSheet);
$("empty-choose").addEventListener("click", showModels);
for (const [id, show] of [["open-models", showModels], ["open-settings", showSettings], ["open-about", showAbout]]) {
    $(id).addEventListener("click", () => {
        drawer.makeWay();
        show();
    });
}

const hashChat = () => new URLSearchParams(location.hash.slice(1)).get("chat");
addEventListener("hashchange", () => {
    const id = hashChat();
    if (id && id !== chat?.id) openChat(id);
});

async function start() {
    started = false;
    const before = opening;
    const [chats, launch] = await Promise.all([
        refreshChats(), host.launch().catch(() => null), model.refresh(),
    ]);
    const named = hashChat();
    // A chat picked from the list meanwhile is what the person wants to see.
    if (opening !== before) await opened;
    else if (named && chats.some(({ id }) => id === named)) await openChat(named);
    else if (!launch || launch.cold) await openChat("new");
    else await openChat(launch.conversation ?? chats[0]?.id ?? "new");
    started = true;
    // The host came back between the chat that did not open and here: no change is left to wait for.
    if (chat === null && model.state === "Loaded" && $("gate").hidden) setTimeout(modelChanged, 1_000, true);
    composer.setReady(chat !== null && model.state === "Loaded");
    composer.focusOnDesk();
    document.documentElement.dataset.started = "true";
    lookForShares();
}

/** What draws on the inbox is loaded with the first thing in it. */
async function lookForShares() {
    if (chat === null) return;
    if (shares === null) {
        const share = await host.claimShare().catch(() => null);
        if (share === null || shares !== null) return;
        const { Shares } = await import("./share.js").catch(() => ({}));
        if (!Shares || shares !== null) return;
        shares = new Shares($("share"), host, {
            mayApply: () => started && !transport.answering && pendingOpens === 0,
            fresh: async () => ((await openChat("new")) ? chat.id : null),
            text: () => composer.text,
            setText: (words) => {
                composer.text = words;
                keepDraft(words);
            },
            attach: (list) => attachments.giveBack(list), detach: (files) => attachments.remove(files),
            notice: (sentence) => notices.add({ sentence }), failed,
        });
    }
    shares.take();
}

start();
