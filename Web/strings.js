// Every word the page says, in one table. Another language is another table with the same keys.

const english = {
    skipToComposer: "Skip to the message box",
    menu: "Chats",
    closeMenu: "Close the list of chats",
    newChat: "New chat",
    chats: "Chats",
    noChats: "Chats you have are kept here, on this device.",
    untitled: "New chat",
    messages: (n) => (n === 1 ? "1 message" : `${n} messages`),
    yesterday: "Yesterday",
    chatActions: (title) => `Rename or delete “${title}”`,
    rename: "Rename",
    renameTitle: "Rename chat",
    renameLabel: "Title",
    save: "Save",
    cancel: "Cancel",
    remove: "Delete",
    removeTitle: "Delete this chat?",
    removeBody: (title) => `“${title}” and its answers are deleted from this device. This cannot be undone.`,
    privacy: "Runs on this device",

    conversation: "Conversation",
    you: "You",
    assistant: "Alcove",
    reasoning: "Reasoning",
    reasoningLive: "Reasoning…",
    earlier: (n) => `Show ${n} earlier messages`,
    jump: "Jump to the latest",
    answerFinished: "Answer finished.",

    composerLabel: "Message",
    placeholder: "Ask anything",
    placeholderNoModel: "Waiting for a model…",
    send: "Send",
    stop: "Stop the answer",
    keysDesk: "Enter sends · Shift + Enter makes a line",
    caution: "Small models make mistakes. Check what matters.",

    strip_thinking: "Thinking…",
    strip_reading: "Reading the prompt…",
    strip_writing: "Writing the answer…",
    strip_lost: "Looking for the answer again…",
    strip_working: "Still working…",
    strip_asking: "Waiting for your answer…",
    strip_preparing: (tool) => `${tool ? toolWords(tool)[0] : "Preparing a step"}…`,
    strip_running: (tool) => `${toolWords(tool)[1]}…`,
    strip_finished: (tool) => toolWords(tool)[1],
    seconds: (n) => `${n}s`,
    percent: (fraction) => `${Math.round(fraction * 100)} %`,

    tools: "Tools",
    toolsHint: "With tools, Alcove can work with files and run commands for this chat. It asks you before it changes or runs anything.",
    steps: "Steps",
    stepDone: (tool) => toolWords(tool)[1],
    stepFailed: "Failed:",
    stepSucceeded: "Done:",
    kilobytes: (n) => `${n} KB`,
    download: (name) => `Download ${name}`,

    askTitle: "May Alcove do this?",
    askWhat: (tool, effect) => `${tool} ${effect}`,
    askPlain: (tool) => `${tool} wants to act`,
    askLines: (n) => `${n} lines`,
    askText: "Exactly what will be done",
    askAnnounced: (what) => `Alcove asks for permission: ${what}. The answer holds the buttons.`,
    allow: "Allow",
    allowForChat: "Allow for this chat",
    refuse: "Refuse",
    timeLeft: (minutes, seconds) => `${minutes}:${String(seconds).padStart(2, "0")} left`,
    timeUp: "No time left",
    askSending: "Sending your answer…",
    askOutcomes: {
        allowed: "Allowed", allowed_for_chat: "Allowed for this chat", refused: "Refused",
        expired: "Expired without an answer", withdrawn: "No longer asked",
        unanswerable: "Refused, as nobody could be asked", elsewhere: "Answered elsewhere or expired",
    },

    whatWasDone: "What was done",
    receiptsLoading: "Looking it up…",
    receiptsNone: "Nothing was carried out, so there are no receipts.",
    receiptsFailed: "The receipts could not be read. Close this and open it again to retry.",
    receiptArguments: "What was asked for",
    receiptObservation: "What came back",
    receiptNothing: "Nothing came back.",
    receiptTimes: (start, took) => `${start} · took ${took}`,
    outcomes: { succeeded: "Done", failed: "Failed", stopped: "Stopped", refused: "Refused", interrupted: "Interrupted" },
    effects: {
        reads: "only reads", writes_workspace: "changes files of this chat", writes_store: "changes what Alcove keeps",
        deletes_from_store: "deletes from what Alcove keeps", network: "uses the network",
        runs_code: "runs code on this device",
    },
    stoppedBy: (why) => ({
        "repeated tool call": "Stopped: it made the same call again and again",
        "round limit": "Stopped at the limit of steps",
    })[why] ?? `Stopped: ${why}`,

    copy: "Copy",
    copied: "Copied",
    copyAnswer: "Copy the answer",
    copyCode: "Copy the code",
    regenerate: "Again",
    regenerateLabel: "Ask for another answer",
    tokens: (n) => (n === 1 ? "1 token" : `${n} tokens`),
    perSecond: (n) => `${n} tok/s`,
    stopped: "Stopped",
    truncated: "Cut off at the reply limit",
    incomplete: "Not complete here",
    emptyAnswer: "The model ended its turn without saying anything.",
    code: "code",
    imageLeftOut: (alt) => `Image not loaded: ${alt}`,
    imageNoName: "an image from elsewhere",

    modelNone: "No model yet",
    modelNoneSub: "Nothing to answer with",
    modelLoading: (name) => `Loading ${name}…`,
    modelLoadingSub: "you can write already",
    modelFailed: "The model did not load",
    modelUnreachable: "Alcove is not answering",
    modelUnreachableSub: "Trying again…",
    contextWindow: (n) => `${n} context`,
    onDevice: "On this device",
    close: "Close",
    detailFile: "File",
    detailArchitecture: "Architecture",
    detailContext: "Context",
    detailContextOf: (active, full) => `${active} of the model’s ${full} tokens`,
    detailContextOnly: (active) => `${active} tokens`,
    detailReply: "Longest reply",
    detailMemory: "Memory",
    detailEngine: "Engine",
    detailFolder: "Models folder",
    bytes: (text) => `${text} in use`,

    emptyTitle: "Ask, and it stays here.",
    emptyBody: "Alcove answers with a model that runs on this device. What you write goes nowhere else.",
    noModelTitle: "There is no model yet.",
    noModelBody: (folder) => `Put a .gguf file in ${folder}, then start Alcove again, or start it with`,
    noModelBodyPlain: "Start Alcove again with a model file:",
    noModelCommand: "alcove serve --model FILE.gguf",
    failedTitle: "The model did not load.",
    failedBody: "Start Alcove again with another model file:",
    loadingTitle: "Almost there.",
    loadingBody: "The model is being read into memory. You can write your first question while it loads.",
    examplesLabel: "Try one of these",
    examples: [
        { title: "Explain it simply", prompt: "Explain how a rainbow forms, as if I were ten years old." },
        { title: "Write it for me", prompt: "Write a short, friendly note to my neighbours about a party on Saturday evening." },
        { title: "Help with code", prompt: "Write a Python function that finds the longest word in a sentence, with one example." },
    ],

    dismiss: "Dismiss",
    gaveUp: "The connection to Alcove was lost. The answer goes on in the program; reopen the chat to see it.",
    sendLost: "The message did not reach Alcove, so it is back in the box.",
    unreachable: "Alcove does not answer. Check that the program is still running.",
    refusedPlain: (status) => `Alcove refused that (status ${status}).`,
    copyFailed: "The browser did not allow copying.",
    chatGone: "That chat is no longer there.",
    gateTitle: "This page has lost its key.",
    gateBody: "Open Alcove again with the link that the program printed when it started. A link works for one launch only.",
    plainText: "Formatting is not available, so answers are shown as plain text. Run Scripts/bootstrap to put it right.",
};

/** What a tool is called while its call is written and while it runs. */
const toolNames = {
    shell: ["Generating code", "Running code"],
    apply_patch: ["Preparing patch", "Applying patch"],
    read_file: ["Preparing read", "Reading file"],
    edit_file: ["Preparing edit", "Editing file"],
    write_file: ["Preparing file", "Writing file"],
    skills_list: ["Preparing lookup", "Checking skills"],
    skills_read: ["Preparing read", "Reading skill"],
    skills_run: ["Preparing run", "Running skill"],
    spawn_agent: ["Preparing sub-agent", "Starting sub-agent"],
    wait_agent: ["Preparing wait", "Waiting for sub-agents"],
    send_input: ["Preparing message", "Messaging sub-agent"],
    close_agent: ["Preparing stop", "Stopping sub-agent"],
    list_agents: ["Preparing lookup", "Checking sub-agents"],
};

function toolWords(tool) {
    if (Object.hasOwn(toolNames, tool ?? "")) return toolNames[tool];
    const name = oneLine(tool ?? "tool", 40);
    return [`Preparing ${name}`, `Running ${name}`];
}

const table = english;

/** The words under `key`; a function entry gets `args`. */
export function t(key, ...args) {
    const entry = table[key];
    if (entry === undefined) throw new RangeError(`There are no words for "${key}".`);
    return typeof entry === "function" ? entry(...args) : entry;
}

/** Fills `data-t` (text) and `data-t-label`, `data-t-placeholder`, `data-t-title` of everything under `root`. */
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

/** Text that came from a model, with what could turn a line around or hide in it spelled out. */
export function visible(text) {
    return String(text).replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (character) =>
        `‹U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

/** `text` on one line, at most `limit` characters of it. */
export function oneLine(text, limit) {
    const line = visible(text).replace(/\s+/g, " ").trim();
    const characters = [...line.slice(0, 4 * limit)];
    return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
}

const locale = undefined;

export function number(value, digits = 0) {
    return new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value);
}

export function kilo(tokens) {
    return tokens >= 1024 ? `${number(tokens / 1024, tokens % 1024 ? 1 : 0)}K` : number(tokens);
}

export function fileSize(bytes) {
    const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
    let value = bytes;
    let unit = 0;
    while (value >= 1000 && unit < units.length - 1) {
        value /= 1000;
        unit += 1;
    }
    const digits = unit < 2 || value >= 100 ? 0 : 1;
    return new Intl.NumberFormat(locale, {
        style: "unit", unit: units[unit], unitDisplay: "short", maximumFractionDigits: digits,
    }).format(value);
}

export function seconds(value) {
    return t("seconds", Math.round(value || 0));
}

export function clockTime(iso) {
    const then = new Date(iso);
    return Number.isNaN(then.getTime()) ? "" : new Intl.DateTimeFormat(locale, { timeStyle: "medium" }).format(then);
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
