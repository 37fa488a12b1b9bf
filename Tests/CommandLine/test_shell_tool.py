"""The agent's shell tool with --execution in-process: the scripted model through the real host, no child process."""

import os
import subprocess
import time

from test_agent import Stream, call, decide, script


def host_in_process(serve, tmp_path, *rounds):
    host = serve("--port", 0, "--execution", "in-process", "--script", script(tmp_path, *rounds)).wait()
    host.wait_for_model()
    return host


def children(host):
    """Processes the host has started; the model's and the templates' end before a command runs."""
    found = subprocess.run(["ps", "-o", "args=", "--ppid", str(host.process.pid)], capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if line.strip()]


def threads(host):
    """The names of the host's threads."""
    names = []
    for entry in os.scandir(f"/proc/{host.process.pid}/task"):
        try:
            with open(f"{entry.path}/comm") as file:
                names.append(file.read().strip())
        except OSError:
            pass
    return names


def test_a_command_asks_streams_and_stays_inside(serve, tmp_path):
    command = "echo one; sleep 1.2; echo two; cat /etc/shadow; cat ../../connection.json; seq 3 | awk '{s+=$1} END {print s}' > sum.txt"
    host = host_in_process(serve, tmp_path, [call("shell", command=command)], [{"text": "Done."}])
    session = host.session()
    stream = Stream(host, session["sessionId"])

    question, _ = stream.until("approval")
    assert question["approval"]["tool"] == "shell" and command in question["approval"]["shown"]
    assert not (host.root / "workspaces" / session["conversationId"] / "sum.txt").exists()
    decide(host, question["approval"], "allowed")
    done, seen = stream.until("done")

    outputs = [frame["text"] for frame in seen if frame.get("tool_progress") == "running" and frame.get("text")]
    assert outputs[0] == "one\n" and "two" in "".join(outputs)
    told = host.json("/api/agent/runs")[1]["runs"][0]["receipts"][0]["observation"]
    assert "outside the workspace" in told and "token" not in told and "root:" not in told
    assert (host.root / "workspaces" / session["conversationId"] / "sum.txt").read_text() == "6\n"
    assert any(frame.get("artifact", {}).get("name") == "sum.txt" for frame in seen)
    assert done["error"] is None


def test_a_refused_command_does_not_run(serve, tmp_path):
    host = host_in_process(serve, tmp_path, [call("shell", command="echo made > made.txt")], [{"text": "Done."}])
    session = host.session()
    stream = Stream(host, session["sessionId"])
    question, _ = stream.until("approval")

    decide(host, question["approval"], "refused")
    stream.until("done")

    assert not (host.root / "workspaces" / session["conversationId"] / "made.txt").exists()


def test_stop_ends_a_loop_that_never_would(serve, tmp_path):
    command = "echo begun; (while :; do :; done) | cat & while true; do x=$((x+1)); done"
    host = host_in_process(serve, tmp_path, [call("shell", command=command)], [{"text": "never"}])
    stream = Stream(host, host.session()["sessionId"])
    question, _ = stream.until("approval")
    decide(host, question["approval"], "allowed")
    for frame in stream:
        if frame.get("tool_progress") == "running" and frame.get("text"):
            break
    assert children(host) == []

    host.json(f"/api/agent/turns/{stream.turn}/stop", "POST")
    done, _ = stream.until("done")

    assert done["aborted"] is True
    assert host.json("/api/agent/runs")[1]["runs"][0]["receipts"][0]["outcome"] == "stopped"
    deadline = time.monotonic() + 20
    while "alcove.shell" in threads(host):
        assert time.monotonic() < deadline, "a thread of the run is left after the stop"
        time.sleep(0.02)


def test_a_missing_command_tells_the_model_what_works(serve, tmp_path):
    host = host_in_process(serve, tmp_path, [call("shell", command="apt install cowsay; gerp x")], [{"text": "Done."}])
    stream = Stream(host, host.session()["sessionId"])
    question, _ = stream.until("approval")
    decide(host, question["approval"], "allowed")
    stream.until("done")

    told = host.json("/api/agent/runs")[1]["runs"][0]["receipts"][0]["observation"]
    assert "Nothing can be installed" in told and "Did you mean grep?" in told and "Exit status 127" in told


def test_python_and_node_run_in_the_shell_once_allowed(serve, tmp_path, sandbox):
    command = (
        "printf 'import sys\\nprint(sum(int(line) for line in sys.stdin))\\n' > add.py; "
        "printf 'console.log(require(\"fs\").readFileSync(0, \"utf8\").trim() + \" from node\")\\n' > say.js; "
        "seq 4 | python3 add.py | node say.js > said.txt; cat said.txt; python3 -c \"open('/etc/shadow')\""
    )
    host = host_in_process(serve, tmp_path, [call("shell", command=command)], [{"text": "Done."}])
    session = host.session()
    stream = Stream(host, session["sessionId"])
    workspace = host.root / "workspaces" / session["conversationId"]

    question, _ = stream.until("approval")
    assert not (workspace / "said.txt").exists()
    decide(host, question["approval"], "allowed")
    done, seen = stream.until("done")

    assert (workspace / "said.txt").read_text() == "10 from node\n"
    told = host.json("/api/agent/runs")[1]["runs"][0]["receipts"][0]["observation"]
    assert "10 from node" in told and "outside the workspace" in told
    assert {frame["artifact"]["name"] for frame in seen if "artifact" in frame} >= {"said.txt", "add.py", "say.js"}
    assert done["error"] is None


def test_stop_ends_a_python_program(serve, tmp_path, sandbox):
    host = host_in_process(serve, tmp_path, [call("shell", command="python3 <<'E'\nprint('begun')\nwhile True: pass\nE\n")], [{"text": "never"}])
    stream = Stream(host, host.session()["sessionId"])
    question, _ = stream.until("approval")
    decide(host, question["approval"], "allowed")
    for frame in stream:
        if frame.get("tool_progress") == "running" and frame.get("text"):
            break

    started = time.monotonic()
    host.json(f"/api/agent/turns/{stream.turn}/stop", "POST")
    stream.until("done")

    assert time.monotonic() - started < 5
