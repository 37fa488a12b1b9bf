"""A small host that serves Web/ and answers as a test tells it to: slowly, not at all, or with the line cut.

Its routes and shapes are those of the real one. Turns belong to the host and not to the request, so a page that lost its
reader can find its answer again, as with the real program.
"""

import email
import email.policy
import json
import mimetypes
import threading
import time
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

WEB = Path(__file__).resolve().parents[2] / "Web"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; media-src 'self' blob:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
TYPES = {".js": "text/javascript", ".svg": "image/svg+xml", ".webmanifest": "application/manifest+json"}
LONGEST_WAIT = 30
# For a browser whose driver tells nothing of the console.
WATCH = b"""window.complaints = [];
const complain = (what) => window.complaints.push(String(what));
const told = console.error;
console.error = (...words) => { complain(words.join(" ")); told(...words); };
addEventListener("error", (event) => complain(event.message || `${event.target.src || event.target.href} did not load`), true);
addEventListener("unhandledrejection", (event) => complain(event.reason));
addEventListener("securitypolicyviolation", (event) => complain(`${event.violatedDirective}: ${event.blockedURI}`));
"""


@dataclass(frozen=True)
class Wait:
    """The turn goes no further until the test calls `release` with the same name."""

    name: str


@dataclass(frozen=True)
class Drop:
    """Cuts the line of everyone who is reading; the turn itself goes on."""


@dataclass(frozen=True)
class Refuse:
    """The send is refused before its first frame."""

    status: int
    error: str
    code: str = "refused"
    hint: str | None = None


@dataclass(frozen=True)
class Ask:
    """A question that waits for its answer; then the frames for that outcome follow."""

    id: str
    tool: str = "shell"
    shown: str = "ls"
    effect: str = "runs code on this device"
    signature: str = "signature"
    remember: bool = False
    expires: int = 600
    allowed: tuple = ()
    refused: tuple = ()

    def frame(self):
        keys = ("id", "tool", "shown", "effect", "signature", "remember", "expires")
        return {"call": f"call-{self.id}", **{key: getattr(self, key) for key in keys}}


def step(tool, detail="", ok=True, seconds=1.2, receipt=None, files=None, round=1):
    """How a step ends: its record, and at once the end of its progress."""
    return [
        {
            "skill_step": tool, "agent_id": None, "skill": None, "detail": detail, "ok": ok, "round": round,
            "seconds": seconds, "receipt": receipt, "files": files,
        },
        {"tool_progress": "finished", "tool": tool, "seconds": seconds},
    ]


def words(text, size=4):
    """`text` as token frames of a few characters each."""
    return [{"token": text[start : start + size]} for start in range(0, len(text), size)]


def done(**changes):
    return {
        "done": True, "tokenCount": 12, "elapsed": 0.5, "tokPerSec": 24.0, "aborted": False, "truncated": False,
        "error": None, "promptTokens": 30, "kvReusedTokens": 0, "kvReusePercent": 0, "stoppedBy": None, **changes,
    }


@dataclass
class Turn:
    conversation: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    frames: list = field(default_factory=list)
    running: bool = True
    stopped: bool = False
    drops: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def add(self, frame):
        with self.changed:
            self.frames.append(frame)
            self.changed.notify_all()

    def status(self):
        state = "Running" if self.running else "Cancelled" if self.stopped else "Completed"
        return {"id": self.id, "state": state, "running": self.running, "frames": len(self.frames)}


class ScriptedHost:
    def __init__(self):
        self.model = {
            "id": "SmolLM2-135M-Instruct-Q8_0.gguf", "name": "SmolLM2-135M-Instruct-Q8_0.gguf", "state": "Loaded",
            "loading": None, "error": None, "prefixCacheWarm": True, "memory": None,
        }
        self.chats = {}
        self.turns = {}
        self.scripts = []
        self.requests = []
        self.waiting = {}
        self.runs = {}
        self.now = None
        self.artifacts = {}
        self.settings = {
            "selectedModelId": None, "allowCodeExecution": True, "allowNetwork": False, "networkHosts": [],
            "maxTokens": 2048, "kvCacheDtype": "q4_0", "toolTimeoutSeconds": 120, "thinkByDefault": False,
            "downloadOptionalFiles": True, "contextLength": 0, "aKeyFromLater": {"kept": True},
        }
        self.catalog = []
        self.transfers = {}
        self.loading = []
        self.uploads = {}
        self.refusals = {}
        self.shares = []
        self.taken_back = {}
        self.files_put_back = []
        self.cold = True
        self.bound = None
        self.locked = False
        self.reachable = True
        self.watched = False
        self.imported = []
        self.slow_models, self.fast_copies, self.optimizing = [], [], None
        self.optimizing_stopped = threading.Event()
        self.optimize_steps = []
        self._releases = {}
        self._lock = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def close(self):
        for event in list(self._releases.values()):
            event.set()
        for turn in list(self.turns.values()):
            turn.stopped = True
        self._server.shutdown()
        self._server.server_close()

    # What a test says

    def script(self, *steps):
        """What the next send is answered with: frames, waits and cut lines, or one refusal."""
        flat = []
        for step in steps:
            flat.extend(step if isinstance(step, list) else [step])
        self.scripts.append(flat)

    def release(self, name):
        self._event(name).set()

    def save_chat(self, title, messages, minutes_ago=0):
        chat = self._new_chat()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60 * minutes_ago))
        chat.update(title=title, messages=messages, createdAt=stamp, updatedAt=stamp)
        return chat["id"]

    def sent(self, at_least=0):
        """Bodies of the sends that arrived, once there are so many: the page shows a message before it is sent."""
        deadline = time.monotonic() + 10
        while len(self._sends()) < at_least:
            assert time.monotonic() < deadline, "the page sent nothing"
            time.sleep(0.01)
        return self._sends()

    def _sends(self):
        return [body for method, path, body in self.requests if (method, path) == ("POST", "/api/chat")]

    def refuse(self, method, path, refusal):
        """The next such request is refused."""
        self.refusals[method, path] = refusal

    def add_model(self, id, **changes):
        """An entry of the catalog, as the host tells it."""
        entry = {
            "id": id, "name": id.title(), "family": "test", "parameters": "4B", "quantization": "Q8_0", "notes": "",
            "license": "Apache-2.0", "contextLength": 8192, "modalities": "Text", "kind": "Dense", "experimental": False,
            "sideloadOnly": False, "minDeviceMemoryGB": 4, "totalBytes": 2_000_000_000, "state": "NotInstalled",
            "installedBytes": 0, "remainingBytes": 2_000_000_000, "path": None, "download": None, "origin": "builtIn",
            "recommended": False, **changes,
        }
        fits = entry.pop("fits", True)
        entry["fit"] = {
            "verdict": entry.pop("verdict", "fits" if fits else "tooBig"), "label": None if fits else "Too big",
            "needBytes": entry.pop("needsBytes", 3_000_000_000), "freeBytes": entry.pop("freeBytes", 6_000_000_000),
            "deviceBytes": 8_000_000_000, "deviceTierGB": 8}
        self.catalog.append(entry)
        return entry

    def copies_told(self):
        return {"slowModels": self.slow_models, "fastCopies": self.fast_copies, "optimizing": self.optimizing}

    def script_download(self, id, *steps):
        """What a download tells: frames, waits and cut lines. A `done` frame makes the model one that is here."""
        self.transfers[id] = {"script": list(steps), "frames": [], "state": None, "changed": threading.Condition(), "drops": 0}

    def answers(self):
        """Answers to questions that arrived, as (id, body)."""
        start = "/api/agent/approvals/"
        return [(path.removeprefix(start), body) for method, path, body in self.requests
                if method == "POST" and path.startswith(start)]

    def answer(self, question, outcome):
        """Another surface answers, or the time is up."""
        with self._lock:
            _, _, given = self.waiting.pop(question)
        given.append(outcome)

    # What it keeps

    def _event(self, name):
        with self._lock:
            return self._releases.setdefault(name, threading.Event())

    def _new_chat(self):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        chat = {
            "id": uuid.uuid4().hex, "title": "", "createdAt": now, "updatedAt": now, "modelId": self.model["id"],
            "think": False, "messages": [],
        }
        self.chats[chat["id"]] = chat
        return chat

    def _listing(self):
        kept = sorted((c for c in self.chats.values() if c["messages"]), key=lambda c: c["updatedAt"], reverse=True)
        keys = ("id", "title", "createdAt", "updatedAt", "modelId")
        return [{**{key: chat[key] for key in keys}, "messageCount": len(chat["messages"])} for chat in kept]

    def _bind(self, wanted):
        if wanted and wanted != "new":
            chat = self.chats.get(wanted)
        else:
            chat = next((c for c in self.chats.values() if not c["messages"]), None) or self._new_chat()
        if chat is not None:
            self.cold, self.bound = False, chat["id"]
        return chat

    def _search(self, text):
        """Chats with the words in a message or the title, the first match marked as the store does."""
        found = []
        for summary in self._listing():
            texts = [m["content"] for m in self.chats[summary["id"]]["messages"]]
            match = next((t for t in [*texts, summary["title"]] if text.lower() in t.lower()), None)
            if match is None:
                continue
            at = match.lower().index(text.lower())
            end = at + len(text)
            found.append({**summary, "snippet": f"…{match[max(0, at - 20):at]}\u0001{match[at:end]}\u0002{match[end:end + 20]}…"})
        return found

    def _transfer(self, id):
        job = self.transfers[id]
        entry = next(entry for entry in self.catalog if entry["id"] == id)

        def add(frame):
            with job["changed"]:
                job["frames"].append(frame)
                job["changed"].notify_all()

        for step in job["script"]:
            if isinstance(step, Wait):
                deadline = time.monotonic() + LONGEST_WAIT
                while not self._event(step.name).wait(0.01) and job["state"] == "Running" and time.monotonic() < deadline:
                    pass
            elif isinstance(step, Drop):
                with job["changed"]:
                    job["drops"] += 1
                    job["changed"].notify_all()
            if job["state"] != "Running":
                entry.update(state="Partial", installedBytes=500_000_000)
                return add({"cancelled": True, "id": id})
            if isinstance(step, dict):
                if step.get("done"):
                    entry.update(state="Installed", installedBytes=entry["totalBytes"], path=f"/m/{id}/{id}.gguf")
                    job["state"] = "Completed"
                if "error" in step:
                    entry.update(state="Partial", installedBytes=500_000_000)
                    job["state"] = "Failed"
                add({**step, "id": id} if {"done", "error"} & set(step) else step)

    def _turn_of(self, conversation):
        found = [turn for turn in self.turns.values() if turn.conversation == conversation]
        return found[-1].status() if found else None

    def _start(self, chat, messages, script):
        for other in self.turns.values():
            if other.conversation == chat["id"] and other.running:
                other.stopped = True
        chat["messages"] = messages
        chat["title"] = chat["title"] or messages[0]["content"].split("\n")[0][:60]
        chat["updatedAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        turn = Turn(chat["id"])
        self.turns[turn.id] = turn
        threading.Thread(target=self._run, args=(turn, chat, script), daemon=True).start()
        return turn

    def _run(self, turn, chat, script):
        text = thinking = ""
        steps, artifacts = [], []
        script = list(script)
        while script:
            step = script.pop(0)
            if isinstance(step, Ask):
                script = [*self._ask(step, turn), *script]
            elif isinstance(step, Wait):
                self._wait(step.name, turn)
            elif isinstance(step, Drop):
                with turn.changed:
                    turn.drops += 1
                    turn.changed.notify_all()
            elif isinstance(step, float):
                time.sleep(step)
            elif not turn.stopped:
                text = step.get("replace", text) + step.get("token", "")
                thinking += step.get("thinking", "")
                if "skill_step" in step:
                    kept = {key: step[key] for key in ("detail", "ok", "seconds", "receipt")}
                    steps.append({"tool": step["skill_step"], **kept})
                made = [step["artifact"]] if "artifact" in step else step.get("files") or []
                artifacts.extend(file for file in made if file not in artifacts)
                turn.add(step)
            if turn.stopped:
                break
        if turn.stopped:
            turn.add(done(aborted=True))
        extras = {"thinking": thinking, "steps": steps, "artifacts": artifacts}
        if text or any(extras.values()):
            answer = {"role": "assistant", "content": text, **{key: value for key, value in extras.items() if value}}
            chat["messages"] = [*chat["messages"], answer]
        with turn.changed:
            turn.running = False
            turn.changed.notify_all()

    def _ask(self, ask, turn):
        given = []
        with self._lock:
            self.waiting[ask.id] = (ask, turn, given)
        turn.add({"approval": ask.frame()})
        deadline = time.monotonic() + LONGEST_WAIT
        while not given and not turn.stopped and time.monotonic() < deadline:
            time.sleep(0.01)
        with self._lock:
            self.waiting.pop(ask.id, None)
        outcome = given[0] if given else "withdrawn" if turn.stopped else "expired"
        turn.add({"approval_answered": ask.id, "call": f"call-{ask.id}", "outcome": outcome})
        return ask.allowed if outcome.startswith("allowed") else ask.refused

    def _wait(self, name, turn):
        event = self._event(name)
        deadline = time.monotonic() + LONGEST_WAIT
        while not event.wait(0.01) and not turn.stopped and time.monotonic() < deadline:
            pass

    # What it answers

    def _handler(host):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Head and body are two writes: with Nagle's algorithm the second waits 40 ms for the first to be acknowledged.
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def do_GET(self):
                self._answer("GET")

            def do_POST(self):
                self._answer("POST")

            def do_DELETE(self):
                self._answer("DELETE")

            def do_PATCH(self):
                self._answer("PATCH")

            def _answer(self, method):
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                parts = urlsplit(self.path)
                path = unquote(parts.path)
                query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
                kind = self.headers.get("Content-Type") or ""
                body = raw if kind.startswith("multipart/") else json.loads(raw) if raw else None
                if path.startswith("/api/"):
                    host.requests.append((method, path, body))
                    if not host.reachable:
                        self.close_connection = True
                        return
                    if host.locked:
                        self._refuse(401, "This page has no valid cookie.", "unauthorized")
                        return
                    refusal = host.refusals.pop((method, path), None)
                    if refusal:
                        self._refuse(refusal.status, refusal.error, refusal.code, refusal.hint)
                        return
                try:
                    self._route(method, path, query, body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def _route(self, method, path, query, body):
                if path == "/health":
                    return self._json({"ok": True})
                if path == "/api/agent/engine":
                    return self._json({
                        "engine": "llama.cpp", "now": host.now, "networkDisabledMessage": "The network is off.", "model": host.model,
                        "modelRoot": "/home/you/.alcove/models", "conversationRoot": "/home/you/.alcove",
                    })
                if path == "/api/models":
                    loaded = host.model["state"] == "Loaded"
                    return self._json({
                        "models": list(dict.fromkeys([host.model["id"], *host.imported])), "mmProjModels": [], "loaded": host.model["id"] if loaded else None,
                        "architecture": "llama", "contextTokens": 4096, "modelContextTokens": 8192,
                        "defaultMaxTokens": 1024, **host.copies_told(),
                    })
                if path == "/api/agent/launch":
                    return self._json({"cold": host.cold, "conversation": host.bound})
                if path == "/api/sessions":
                    return self._session(query.get("conversation"))
                if path == "/api/chat":
                    return self._chat(body)
                if path == "/api/agent/turns":
                    return self._json({"turn": host._turn_of(query.get("conversation"))})
                if path.startswith("/api/agent/turns/"):
                    return self._turn(method, path.split("/")[4:], int(query.get("from", 0)))
                if path == "/api/agent/conversations":
                    if "search" in query:
                        return self._json({"conversations": host._search(query["search"])})
                    return self._json(host._new_chat() if method == "POST" else {"conversations": host._listing()})
                if path == "/api/agent/conversations/delete":
                    ids = list(host.chats) if body.get("all") else [id for id in body["ids"] if id in host.chats]
                    for id in ids:
                        del host.chats[id]
                    return self._json({"deleted": len(ids)})
                if path == "/api/agent/export":
                    return self._attachment("alcove-chats.json", {"chats": list(host.chats.values())})
                if path == "/api/agent/import":
                    return self._import(body)
                if path == "/api/agent/settings":
                    if method == "POST":
                        host.settings = body
                    elif method == "PATCH":
                        host.settings = {**host.settings, **body}
                    return self._json(host.settings)
                if path == "/api/agent/disk":
                    return self._json({"freeBytes": 50_000_000_000, "parts": [{"name": "models", "bytes": 4_200_000_000}]})
                if path == "/api/agent/catalog":
                    return self._json({"models": host.catalog})
                if path == "/api/agent/downloads":
                    return self._json({"downloads": [
                        {"id": id, "state": job["state"], "running": job["state"] == "Running",
                         "error": next((f["error"] for f in job["frames"] if "error" in f), None),
                         "progress": next((f for f in reversed(job["frames"]) if "fraction" in f), None)}
                        for id, job in host.transfers.items() if job["state"]]})
                if path.startswith("/api/agent/catalog/"):
                    return self._model(method, path.split("/")[4:])
                if path == "/api/models/import":
                    name = body["path"].rsplit("/", 1)[-1]
                    if not name.endswith(".gguf"):
                        return self._refuse(400, f"{name} is not a GGUF file.", "model_not_gguf", "Choose a .gguf file.")
                    host.imported.append(name)
                    return self._json({"ok": True, "model": name, "path": f"/m/{name}", "copied": body["copy"], "bytes": 4_200_000})
                if path == "/api/models/optimize" and method == "DELETE":
                    host.fast_copies = [copy for copy in host.fast_copies if copy["name"] != query.get("model")]
                    return self._json({"ok": True, "removed": [query.get("model")]})
                if path == "/api/models/optimize":
                    return self._optimize(body["model"])
                if path == "/api/models/optimize/cancel":
                    host.optimizing_stopped.set()
                    return self._json({"cancelled": True})
                if path == "/api/models/load":
                    return self._load(body["model"])
                if path == "/api/upload":
                    return self._upload(body)
                if path.startswith("/uploads/"):
                    stored = host.uploads.get(path.removeprefix("/uploads/"))
                    if stored is None:
                        return self._refuse(404, "There is no such file.", "upload_missing")
                    self._head(200, mimetypes.guess_type(path)[0] or "text/plain", {"Content-Length": str(len(stored))})
                    return self.wfile.write(stored)
                if path == "/api/agent/share/claim":
                    return self._json({"share": host.shares[0] if host.shares else None})
                if path == "/api/agent/share/discard":
                    head = bool(host.shares) and host.shares[0]["id"] == body["id"]
                    if head:
                        host.shares.pop(0)
                    return self._json({"ok": head}, 200 if head else 409)
                if path.startswith("/api/agent/conversations/"):
                    return self._conversation(method, path.split("/")[4:], query, body)
                if path == "/api/agent/approvals":
                    return self._json({"approvals": [
                        {**ask.frame(), "turn": turn.id, "conversation": turn.conversation}
                        for ask, turn, _ in host.waiting.values()]})
                if path.startswith("/api/agent/approvals/"):
                    return self._approval(path.rsplit("/", 1)[1], body)
                if path == "/api/agent/runs":
                    return self._json({"runs": host.runs.get(query.get("conversation"), [])})
                if path in host.artifacts:
                    data = host.artifacts[path]
                    self._head(200, "application/octet-stream", {
                        "Content-Length": str(len(data)), "Content-Disposition": "attachment"})
                    return self.wfile.write(data)
                return self._file(path)

            def _approval(self, question, body):
                entry = host.waiting.get(question)
                if entry is None:
                    return self._refuse(404, "Nobody waits for this answer any more.", "approval_not_waiting")
                if body["signature"] != entry[0].signature:
                    return self._refuse(400, "The answer is for another action.", "approval_other_payload")
                host.answer(question, body["outcome"])
                return self._json({"ok": True})

            def _session(self, wanted):
                chat = host._bind(wanted)
                if chat is None:
                    return self._refuse(404, "There is no such chat.", "chat_missing")
                return self._json({
                    "sessionId": f"s-{chat['id']}", "conversationId": chat["id"], "title": chat["title"],
                    "messages": chat["messages"], "think": chat["think"], "skills": [], "skillsExplicit": False,
                    "canRedo": chat["id"] in host.taken_back, "modelId": chat["modelId"], "activeTurn": host._turn_of(chat["id"]),
                })

            def _chat(self, body):
                script = host.scripts.pop(0) if host.scripts else [*words("You said: " + body["messages"][-1]["content"]), done()]
                if script and isinstance(script[0], Refuse):
                    refusal = script[0]
                    return self._refuse(refusal.status, refusal.error, refusal.code, refusal.hint)
                chat = host.chats[body["sessionId"].removeprefix("s-")]
                host.taken_back.pop(chat["id"], None)
                host.shares = [share for share in host.shares if share["id"] not in body.get("shareIds", [])]
                return self._stream(host._start(chat, body["messages"], script), 0)

            def _turn(self, method, parts, start):
                turn = host.turns.get(parts[0])
                if turn is None:
                    return self._refuse(404, "There is no such turn.", "turn_missing")
                if method == "POST":
                    turn.stopped = True
                    return self._json({"stopped": turn.running, "id": turn.id})
                return self._stream(turn, start)

            def _conversation(self, method, parts, query, body):
                chat_id, what = parts[0], parts[1] if len(parts) > 1 else None
                chat = host.chats.get(chat_id)
                if chat is None:
                    return self._refuse(404, "There is no such chat.", "chat_missing")
                if what == "branch":
                    fork = host._new_chat()
                    fork.update(title=chat["title"], messages=chat["messages"][: body["messages"]])
                    return self._json(fork)
                if what == "export":
                    if query["format"] == "json":
                        return self._attachment("chat.json", chat)
                    text = "\n\n".join(f"**{m['role']}**\n\n{m['content']}" for m in chat["messages"])
                    return self._attachment("chat.md", text)
                if what == "rewind":
                    if not chat["messages"]:
                        return self._refuse(409, "There is nothing to take back.", "nothing_to_rewind")
                    at = max(index for index, m in enumerate(chat["messages"]) if m["role"] == "user")
                    host.taken_back[chat_id] = chat["messages"]
                    text = chat["messages"][at]["content"]
                    chat["messages"] = chat["messages"][:at]
                    return self._json({
                        "messages": chat["messages"], "text": text, "files": host.files_put_back, "notice": None, "canRedo": True})
                if what == "redo":
                    if chat_id not in host.taken_back:
                        return self._refuse(409, "There is nothing to bring back.", "nothing_to_redo")
                    chat["messages"] = host.taken_back.pop(chat_id)
                    return self._json({"messages": chat["messages"], "files": host.files_put_back})
                if method == "DELETE":
                    del host.chats[chat_id]
                    return self._json({"deleted": True})
                if method == "POST":
                    chat["title"] = body["title"]
                return self._json(chat)

            def _attachment(self, name, value):
                data = (value if isinstance(value, str) else json.dumps(value)).encode()
                self._head(200, "application/octet-stream", {
                    "Content-Length": str(len(data)), "Content-Disposition": f'attachment; filename="{name}"'})
                self.wfile.write(data)

            def _import(self, body):
                imported = unchanged = 0
                failed = []
                for chat in body.get("chats", []):
                    if not isinstance(chat.get("messages"), list):
                        failed.append({"title": chat.get("title", ""), "error": "It has no messages."})
                    elif chat["id"] in host.chats:
                        unchanged += 1
                    else:
                        host.chats[chat["id"]] = chat
                        imported += 1
                return self._json({"imported": imported, "unchanged": unchanged, "failed": failed})

            def _model(self, method, parts):
                entry = next((entry for entry in host.catalog if entry["id"] == parts[0]), None)
                if entry is None:
                    return self._refuse(404, "There is no such model.", "model_unknown")
                if method == "DELETE":
                    entry.update(state="NotInstalled", installedBytes=0, path=None)
                    host.transfers.pop(entry["id"], None)
                    return self._json(entry)
                if entry["id"] not in host.transfers:
                    host.script_download(entry["id"], {"done": True})
                job = host.transfers[entry["id"]]
                if parts[1:] == ["download", "cancel"]:
                    running = job["state"] == "Running"
                    if running:
                        job["state"] = "Cancelled"
                    return self._json({"cancelled": running, "id": entry["id"]})
                if job["state"] != "Running":
                    job.update(state="Running", frames=[])
                    threading.Thread(target=host._transfer, args=(entry["id"],), daemon=True).start()
                return self._download(job)

            def _download(self, job):
                index, drops = 0, job["drops"]
                self._head(200, "text/event-stream", {"Transfer-Encoding": "chunked"})
                while True:
                    with job["changed"]:
                        job["changed"].wait_for(lambda: len(job["frames"]) > index or job["drops"] > drops, timeout=1)
                        fresh = job["frames"][index:]
                    for frame in fresh:
                        self._chunk(f"data: {json.dumps(frame)}\n\n")
                        index += 1
                    if job["drops"] > drops:
                        self.connection.shutdown(2)
                        self.close_connection = True
                        return
                    if any({"done", "cancelled", "error"} & set(frame) for frame in fresh):
                        self.wfile.write(b"0\r\n\r\n")
                        return

            def _optimize(self, model):
                """What the making of a copy tells: frames, and names of gates to wait at."""
                host.optimizing = host.optimizing or {"model": model, "phase": "quantizing", "fraction": 0}
                self._head(200, "text/event-stream", {"Transfer-Encoding": "chunked"})
                for step in host.optimize_steps:
                    if isinstance(step, Wait):
                        gate = host._event(step.name)
                        while not gate.wait(0.02) and not host.optimizing_stopped.is_set():
                            pass
                        if host.optimizing_stopped.is_set():
                            step = {"cancelled": True}
                        else:
                            continue
                    if {"done", "cancelled", "error"} & set(step):
                        host.optimizing = None
                        if "done" in step:
                            host.fast_copies.append(step["copy"])
                    self._chunk(f"data: {json.dumps({'model': model, **step})}\n\n")
                    if host.optimizing is None:
                        break
                self.wfile.write(b"0\r\n\r\n")

            def _load(self, wanted):
                host.loading.append(wanted)
                host.model.update(id=wanted, name=wanted, state="Loaded", loading=None)
                return self._json({"ok": True, "model": wanted, "loadedMmProj": None, "architecture": "llama"})

            def _upload(self, raw):
                head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
                message = email.message_from_bytes(head + raw, policy=email.policy.HTTP)
                part = next(part for part in message.iter_parts() if part.get_param("name", header="content-disposition") == "file")
                name, data = part.get_filename(), part.get_payload(decode=True)
                extension = name.rsplit(".", 1)[-1].lower()
                kinds = {"png": "image", "heic": "image", "mp4": "video", "wav": "audio", "pdf": "pdf", "txt": "text", "csv": "text"}
                if extension not in kinds:
                    return self._refuse(400, f"Files like {name} cannot be read.", "upload_kind", "Attach a text, a picture or a PDF.")
                file = f"{uuid.uuid4().hex}.{extension}"
                host.uploads[file] = data
                reply = {"ok": True, "file": file, "url": f"/uploads/{file}", "mediaType": kinds[extension], "fileName": name}
                if extension == "heic":
                    reply["previewUrl"] = f"/uploads/{file.split('.')[0]}-preview.png"
                if extension == "pdf":
                    reply.update(renderedAsImages=False, pageCount=3, extractedPageCount=3, textContent="")
                return self._json(reply)

            def _stream(self, turn, index):
                """The first frame before any header, then each as it comes, with a comment while nothing does."""
                drops, begun = turn.drops, False
                while True:
                    with turn.changed:
                        waited = turn.changed.wait_for(
                            lambda: len(turn.frames) > index or not turn.running or turn.drops > drops, timeout=5)
                        fresh = turn.frames[index:]
                        over = not turn.running
                        dropped = turn.drops > drops
                    if not begun and (fresh or over):
                        begun = True
                        self._head(200, "text/event-stream", {
                            "Transfer-Encoding": "chunked", "X-Accel-Buffering": "no", "X-Alcove-Turn": turn.id})
                    for frame in fresh:
                        self._chunk(f"data: {json.dumps(frame)}\n\n")
                        index += 1
                    if not waited and begun:
                        self._chunk(": keep-alive\n\n")
                    if dropped:
                        self.connection.shutdown(2)
                        self.close_connection = True
                        return
                    if over and index >= len(turn.frames):
                        self.wfile.write(b"0\r\n\r\n")
                        return

            def _chunk(self, text):
                data = text.encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()

            def _file(self, path):
                if host.watched and path == "/watch.js":
                    self._head(200, "text/javascript", {"Content-Length": str(len(WATCH))})
                    return self.wfile.write(WATCH)
                file = (WEB / ("index.html" if path == "/" else path.lstrip("/"))).resolve()
                if not file.is_relative_to(WEB) or not file.is_file():
                    return self._refuse(404, f"There is nothing at {path}.", "not_found")
                data = file.read_bytes()
                if host.watched and path == "/":
                    data = data.replace(b"<title>", b'<script src="/watch.js"></script><title>')
                kind = TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
                self._head(200, kind, {"Content-Length": str(len(data))})
                self.wfile.write(data)

            def _refuse(self, status, error, code, hint=None):
                self._json({"error": error, "code": code, **({"hint": hint} if hint else {})}, status)

            def _json(self, value, status=200):
                data = json.dumps(value).encode()
                self._head(status, "application/json", {"Content-Length": str(len(data))})
                self.wfile.write(data)

            def _head(self, status, kind, headers):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Cache-Control", "no-cache")
                self.send_header("Content-Security-Policy", POLICY)
                self.send_header("X-Content-Type-Options", "nosniff")
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()

        return Handler


if __name__ == "__main__":
    served = ScriptedHost()
    print(served.url)
    threading.Event().wait()
