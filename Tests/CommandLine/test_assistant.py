"""The assistant: tasks and knowledge on the terminal, and explicit commands that run without a model."""

import datetime
import json

import pytest
from test_agent import Stream, decide


def command(host, session, text):
    return Stream(host, session, text, profile="assistant")


def test_tasks_on_the_terminal(alcove, root):
    def tasks(*words):
        return alcove("tasks", *words, "--root", root)

    assert "Added the task \"Buy milk\"" in tasks("add", "Buy milk").stdout
    added = json.loads(tasks("add", "Call Ann", "--json").stdout)
    assert (added["title"], added["state"], added["kind"]) == ("Call Ann", "open", "task")
    assert added["provenance"]["receipt"]
    done = json.loads(tasks("complete", "milk", "--json").stdout)
    assert done["state"] == "done" and done["finishedAt"]
    again = tasks("complete", "milk")
    assert again.returncode == 1 and "\"Buy milk\" is done already." in again.stderr
    assert [task["title"] for task in json.loads(tasks("list", "--json").stdout)] == ["Call Ann"]
    assert len(json.loads(tasks("list", "--all", "--json").stdout)) == 2
    assert json.loads(tasks("reopen", done["id"], "--json").stdout)["state"] == "open"
    hits = json.loads(tasks("search", "mlik milk", "--json").stdout)
    assert [hit["title"] for hit in hits] == ["Buy milk"] and hits[0]["why"]["found"] == ["milk"]
    missing = tasks("complete", "nothing like it")
    assert missing.returncode == 1 and "There is no task" in missing.stderr
    assert alcove("tasks", "add", "x" * 301, "--root", root).returncode == 1


def test_knowledge_on_the_terminal(alcove, root):
    def knowledge(*words):
        return alcove("knowledge", *words, "--root", root)

    kept = json.loads(
        knowledge("capture", "We use SQLite\nbecause it is there", "--type", "decision", "--file", "a.md", "--offset", 7,
                  "--json").stdout)
    assert (kept["type"], kept["title"]) == ("decision", "We use SQLite")
    assert (kept["provenance"]["file"], kept["provenance"]["offset"]) == ("a.md", 7)
    knowledge("capture", "磁盘会满", "--type", "risk")
    assert "磁盘会满" in knowledge("search", "磁盘").stdout
    shown = knowledge("inspect", kept["id"][:8]).stdout
    assert "because it is there" in shown and "file a.md, offset 7" in shown
    bad = knowledge("capture", "x", "--type", "gossip")
    assert bad.returncode == 1 and "type" in bad.stderr
    assert len(json.loads(knowledge("list", "--json").stdout)) == 2


def test_handoffs_on_the_terminal(alcove, root):
    def handoff(*words):
        return alcove("handoff", *words, "--root", root)

    alcove("tasks", "add", "Buy milk", "--root", root)
    made = json.loads(handoff("create", "--title", "Before the holidays", "--note", "Begin here.", "--json").stdout)
    assert (made["kind"], made["state"], made["title"]) == ("handoff", "active", "Before the holidays")
    restored = handoff("restore", "holidays").stdout
    assert "Begin here." in restored and "- Buy milk (" in restored and "context only" in restored
    assert json.loads(handoff("deactivate", "holidays", "--json").stdout)["state"] == "inactive"
    refused = handoff("restore", "holidays")
    assert refused.returncode == 1 and "not in use any more" in refused.stderr
    assert json.loads(handoff("list", "--json").stdout) == []
    assert "[handoff, out of use] Before the holidays" in handoff("list", "--all").stdout
    assert "Begin here." in handoff("inspect", made["id"][:8]).stdout
    again = handoff("deactivate", "holidays")
    assert again.returncode == 1 and "is inactive already" in again.stderr


def test_what_is_derived_and_deleted_on_the_terminal(alcove, root):
    def knowledge(*words):
        return alcove("knowledge", *words, "--root", root)

    for number in range(5):
        knowledge("capture", f"thing {number}", "--type", "question" if number == 2 else "note")
    digest = json.loads(knowledge("list", "--type", "digest", "--json").stdout)[0]
    assert digest["title"] == "Digest: 4 notes, 1 question"
    insights = json.loads(knowledge("insights", "--json").stdout)
    assert [(insight["kind"], insight["items"][0]["title"]) for insight in insights] == [("open_question", "thing 2")]
    assert "Notes:" in knowledge("context").stdout and "thing 4" in knowledge("context", "--topic", "thing").stdout
    assert "What stands out" in knowledge("review").stdout
    unasked = knowledge("delete", "thing 3")
    assert unasked.returncode == 64 and digest["title"] in unasked.stderr and "--yes" in unasked.stderr
    assert "and 1 made of it" in knowledge("delete", "thing 3", "--yes").stdout
    assert len(json.loads(knowledge("list", "--json").stdout)) == 4


def test_what_is_kept_over_http(serve):
    host = serve("--port", 0, "--no-model").wait()

    def act(tool, **arguments):
        return host.json("/api/agent/kept", "POST", {"tool": tool, "arguments": arguments})

    assert "Added the task" in act("tasks_add", title="Buy milk")[1]["text"]
    for number in range(5):
        assert act("knowledge_capture", type="decision", text=f"Decision number{number} about bread")[0] == 200
    assert act("handoffs_create", title="Now")[0] == 200
    tasks = host.json("/api/agent/kept?kind=task&state=open")[1]["items"]
    assert [task["title"] for task in tasks] == ["Buy milk"] and tasks[0]["provenance"]["receipt"]
    assert act("tasks_complete", task=tasks[0]["id"])[0] == 200
    hits = host.json("/api/agent/kept?search=number3")[1]["hits"]
    assert hits[0]["title"] == "Decision number3 about bread" and hits[0]["why"]["found"] == ["number3"]
    assert {insight["kind"] for insight in host.json("/api/agent/insights")[1]["insights"]} == {"decision_without_evidence"}
    project = host.json("/api/agent/project")[1]
    assert "Decision number4" in project["context"] and "no evidence is kept" in project["review"]
    one = host.json(f"/api/agent/kept/{hits[0]['id']}")[1]
    cascade = host.json(f"/api/agent/kept/{one['id']}/cascade")[1]
    assert sorted(item.get("type", item["kind"]) for item in cascade["items"]) == ["decision", "digest", "handoff"]
    for query, status, code in [("", 400, "no_token"), ("?token=0", 400, "kept_cascade_changed")]:
        found, refusal = host.json(f"/api/agent/kept/{one['id']}{query}", "DELETE")
        assert (found, refusal["code"]) == (status, code)
    assert host.json(f"/api/agent/kept/{one['id']}?token={cascade['token']}", "DELETE")[1]["deleted"] == 3
    assert host.json(f"/api/agent/kept/{one['id']}")[0] == 404
    for tool, code in [("kept_delete", "not_here"), ("run_shell", "no_such_tool"), ("tasks_add", "bad_arguments")]:
        assert act(tool)[1]["code"] == code
    assert host.json("/api/agent/kept?kind=gossip")[1]["code"] == "bad_kind"
    assert host.json("/api/agent/kept")[1]["code"] == "no_kind"


def test_the_calendar_is_read_once_for_each_yes(serve, tmp_path):
    today = datetime.datetime.now(datetime.timezone.utc)
    event = f"UID:1\r\nSUMMARY:Tea with Ann\r\nDTSTART;VALUE=DATE:{today:%Y%m%d}\r\nLOCATION:a secret place\r\nDESCRIPTION:secret words"
    (tmp_path / "a.ics").write_text(
        f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\n{event}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
    host = serve("--port", 0, "--no-model", env={"TZ": "UTC"}).wait()

    def ask(outcome="allowed"):
        stream = command(host, host.session()["sessionId"], "what's on my calendar for the next seven days")
        seen = []
        for frame in stream:
            seen.append(frame)
            if "approval" in frame and "outcome" not in frame["approval"]:
                assert frame["approval"]["effect"] == "reads your calendar" and not frame["approval"].get("mayBeRemembered")
                decide(host, frame["approval"], outcome)
        return json.dumps(seen, ensure_ascii=False), sum("approval" in frame for frame in seen)

    closed, questions = ask()
    assert "not open to the assistant" in closed and questions == 0
    assert host.json("/api/agent/settings", "PATCH", {"calendarEnabled": True, "calendarPath": "a.ics"})[1]["code"] == "bad_setting"
    assert host.json("/api/agent/settings", "PATCH", {"calendarEnabled": True, "calendarPath": str(tmp_path)})[0] == 200
    for _ in range(2):
        told, questions = ask()
        assert questions > 0 and "all day: Tea with Ann" in told and "secret" not in told
    refused, _ = ask("refused")
    assert "Tea with Ann" not in refused


def test_activity_on_the_terminal(alcove, root):
    assert "Nothing has been done yet." in alcove("activity", "--root", root).stdout
    alcove("run", "--profile", "assistant", "list tasks then what is 2^10", "--root", root)
    runs = json.loads(alcove("activity", "--json", "--root", root).stdout)
    assert [(run["state"], run["profile"]) for run in runs] == [("completed", "assistant")]
    assert [receipt["tool"] for receipt in runs[0]["receipts"]] == ["tasks_list", "calculator"]
    assert 'succeeded calculator {"expression":"2^10"}' in alcove("activity", "--root", root).stdout


def test_clearing_takes_what_was_said_and_done_and_leaves_what_is_kept(serve, root):
    host = serve("--port", 0, "--no-model").wait()
    session = host.session()

    def say(text):
        stored = host.json(f"/api/agent/conversations/{session['conversationId']}")[1]["messages"]
        messages = [*stored, {"role": "user", "content": text}]
        stream = Stream(host, session["sessionId"], messages=messages, profile="assistant")
        question, _ = stream.until("approval")
        decide(host, question["approval"], "allowed")
        stream.until("done")

    say("remember that the zanzibar tea is cold")
    say("create handoff Later")
    handoff = host.json("/api/agent/kept?kind=handoff")[1]["items"][0]
    assert "- user: remember that the zanzibar tea" in handoff["text"] and "create handoff" not in handoff["text"]
    before = host.json("/api/agent/activity")[1]
    assert [before[key] for key in ("chats", "messages", "runs", "receipts", "excerpts")] == [1, 4, 2, 2, 2]
    assert "1 chat with 4 messages, 2 runs with 2 receipts, and 2 messages copied into handoffs" in before["text"]

    assert host.json("/api/agent/activity/clear", "POST", {})[1]["code"] == "not_confirmed"
    assert host.json("/api/agent/activity/clear", "POST", {"confirm": "clear"})[0] == 200

    after = host.json("/api/agent/activity")[1]
    assert [after[key] for key in ("chats", "messages", "runs", "receipts", "excerpts")] == [0] * 5
    assert [item["title"] for item in host.json("/api/agent/kept?kind=handoff")[1]["items"]] == ["Later"]
    assert "zanzibar" not in json.dumps(host.json("/api/agent/kept?kind=handoff")[1])
    assert len(host.json("/api/agent/kept?kind=memory")[1]["items"]) == 1


def test_a_running_host_is_said(alcove, serve, root):
    serve("--port", 0, "--no-model").wait()
    told = alcove("tasks", "list", "--root", root)
    assert told.returncode == 69 and "Another Alcove" in told.stderr


def test_a_plan_runs_with_no_model_loaded(serve):
    host = serve("--port", 0, "--no-model").wait()
    session = host.session()
    stream = command(host, session["sessionId"], "Add task Buy milk, then list tasks, then calculate 6*7")
    question, _ = stream.until("approval")
    assert question["approval"]["tool"] == "tasks_add" and "Buy milk" in question["approval"]["shown"]
    assert decide(host, question["approval"], "allowed", signature="0" * 64)[0] == 400
    assert decide(host, question["approval"], "allowed")[0] == 200
    done, _ = stream.until("done")
    assert done["error"] is None
    assert decide(host, question["approval"], "allowed")[0] == 404

    runs = host.json(f"/api/agent/runs?conversation={session['conversationId']}")[1]["runs"]
    assert [receipt["tool"] for receipt in runs[0]["receipts"]] == ["tasks_add", "tasks_list", "calculator"]
    _, chat = host.json(f"/api/agent/conversations/{session['conversationId']}")
    assert [message["role"] for message in chat["messages"]] == ["user", "assistant"]
    assert "6*7 = 42" in chat["messages"][1]["content"] and "[ ] Buy milk" in chat["messages"][1]["content"]


def test_a_plan_that_is_too_long_is_refused_whole(serve):
    host = serve("--port", 0, "--no-model").wait()
    session = host.session()
    text = "现在几点，然后列出任务，然后添加任务：甲，然后添加任务：乙"
    status, answer = host.chat(session["sessionId"], [{"role": "user", "content": text}], profile="assistant")
    assert status == 400 and answer["code"] == "plan_too_long"
    assert host.json(f"/api/agent/runs?conversation={session['conversationId']}")[1]["runs"] == []


@pytest.mark.parametrize("text", ["Hello there", "Add task x, then tell me a story"])
def test_conversation_needs_a_model(serve, text):
    host = serve("--port", 0, "--no-model").wait()
    session = host.session()
    status, answer = host.chat(session["sessionId"], [{"role": "user", "content": text}], profile="assistant")
    assert status == 400 and answer["code"] == "no_model"
    # A command is one only where the assistant was asked for.
    status, answer = host.chat(session["sessionId"], [{"role": "user", "content": "list tasks"}])
    assert status == 400 and answer["code"] == "no_model"


def test_on_the_terminal_nothing_is_changed_where_nobody_can_be_asked(alcove, root):
    read = alcove("run", "--profile", "assistant", "list tasks then what is 2^10", "--root", root)
    assert read.returncode == 0 and "2^10 = 1024" in read.stdout
    write = alcove("run", "--profile", "assistant", "add task Buy milk", "--root", root)
    assert write.returncode == 1
    assert json.loads(alcove("tasks", "list", "--json", "--root", root).stdout) == []


def test_rank(alcove):
    lines = [
        {"id": 1, "query": "red house", "documents": [
            {"id": "a", "text": "house that is red"}, {"id": "b", "text": "a red house"}, {"id": "c", "text": "blue"}]},
        {"id": 2, "query": "模型", "documents": ["天气", "人工智能模型"]},
        {"id": 3, "query": 5, "documents": []},
        {"id": 4, "query": "x", "documents": [{"id": 1}]},
        {"id": 5, "query": "", "documents": ["x"]},
        {"id": 6, "query": "same", "documents": ["same", "same"], "limit": 1},
    ]
    told = alcove("plumbing", "rank", input="\n".join(map(json.dumps, lines)) + "\nnot json\n")
    answers = [json.loads(line) for line in told.stdout.splitlines()]
    assert [hit["id"] for hit in answers[0]["hits"]] == ["b", "a"]
    assert answers[0]["hits"][0]["why"]["phrase"] == 1 and answers[0]["hits"][0]["why"]["found"] == ["red", "house"]
    assert [hit["id"] for hit in answers[1]["hits"]] == [1]
    assert answers[2]["code"] == "no_query" and answers[3]["code"] == "bad_document"
    assert answers[4]["hits"] == [] and [hit["id"] for hit in answers[5]["hits"]] == [0]
    assert "error" in answers[6] and len(answers) == 7


def test_an_unreadable_store_is_told_on_the_terminal(alcove, root):
    root.mkdir()
    (root / "alcove.db").write_bytes(bytes(range(256)) * 32)
    result = alcove("tasks", "list", "--root", root)
    assert "alcove.db.unreadable-" in result.stderr, result
    assert list(root.glob("alcove.db.unreadable-*"))


def test_nobodys_words_steer_the_terminal(alcove, root):
    alcove("tasks", "add", "a\x1b[31mred \u202eflip", "--root", root)
    listed = alcove("tasks", "list", "--root", root).stdout
    assert "\x1b" not in listed and "\u202e" not in listed
    assert "‹U+001B escape›" in listed and "‹U+202E right-to-left override›" in listed
    asked = alcove("tasks", "delete", "red", "--root", root)
    assert "\x1b" not in asked.stderr + asked.stdout and "U+001B" in asked.stderr


def test_equal_titles_are_told_apart_by_their_ids(alcove, root):
    ids = [json.loads(alcove("tasks", "add", "same", "--json", "--root", root).stdout)["id"] for _ in range(2)]
    refused = alcove("tasks", "complete", "same", "--root", root)
    assert refused.returncode == 1 and all(one in refused.stderr for one in ids), refused.stderr
    done = alcove("tasks", "complete", ids[1], "--json", "--root", root)
    assert json.loads(done.stdout)["id"] == ids[1] and json.loads(done.stdout)["state"] == "done", done
