"""Guessing ahead through the whole program: a setting, felt with the next reply and told at its end."""

QUESTION = {
    "messages": [{"role": "user", "content": 'Write the numbers from 1 to 30, each on a line, like "Number 1 is a number".'}],
    "temperature": 0, "maxTokens": 200,
}


def test_guessing_ahead_can_be_switched_off_and_changes_no_answer(serve, model):
    host = serve("--port", 0, "--model", model, "--threads", 1).wait()
    host.wait_for_model()
    answers = {}
    for wanted in (True, False, True):
        host.json("/api/agent/settings", "PATCH", {"speculativeDecoding": wanted})
        _, frames = host.chat(host.session()["sessionId"], QUESTION["messages"], temperature=0, maxTokens=QUESTION["maxTokens"])
        done = frames[-1]
        # Switched on, it still depends on what steps cost at the moment.
        assert wanted or done["draftedTokens"] == 0
        assert 0 <= done["acceptedTokens"] <= done["draftedTokens"]
        answers[wanted] = "".join(frame.get("token", "") for frame in frames), done["tokenCount"]
    assert answers[True] == answers[False]
    assert answers[True][1] > 40
