"""Answers with and without guessing ahead, in turn, of one host for each number of threads.

    python3 Benchmarks/speculation.py PROGRAM MODEL

Greedy. The quoting prompts are answered by what they contain, the prose ones are not; prompts are new in each round, and
with and without are asked the same words.
"""

import statistics
import sys
import tempfile

from openai import Host

import http.client
import json

ROUNDS, TOKENS = 5, 200
TEXT = (
    "The small red boat number {n} left the old harbour at nine in the morning. It came back in the evening with {m} baskets of fish. "
    "The fishermen carried the baskets up the hill to the market, where the people of the village were waiting for them. "
    "The baker bought two of them, the teacher bought one, and the doctor bought three for the hospital behind the church. "
    "At night everybody sat together at the long table by the water, and the oldest of the fishermen told of the great storm.")
PROMPTS = {
    "quoting": "Repeat the following text word for word:\n\n" + TEXT,
    "prose": "{n} foxes live in the wood. Tell their story at length, and leave nothing out.",
}


def call(host, method, path, body):
    link = http.client.HTTPConnection(host.address)
    link.request(method, path, json.dumps(body), {"Authorization": f"Bearer {host.token}", "Content-Type": "application/json"})
    answer = link.getresponse()
    text = answer.read().decode()
    assert answer.status == 200, text
    return text


def ask(host, words):
    text = call(host, "POST", "/api/chat", {
        "messages": [{"role": "user", "content": words}], "temperature": 0, "maxTokens": TOKENS})
    frames = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    return frames[-1], "".join(frame.get("token") or "" for frame in frames)


def main(program, model):
    print("| threads | prompt | plain tok/s | guessing tok/s | ratio | accepted of drafted |\n|---|---|---|---|---|---|")
    for threads in (1, 2):
        with tempfile.TemporaryDirectory() as root:
            host = Host(program, model, root, threads)
            for name, prompt in PROMPTS.items():
                rates, drafted, accepted, number = {False: [], True: []}, 0, 0, 10
                for turn in range(ROUNDS + 1):
                    number += 1
                    texts = []
                    for speculates in (False, True) if turn % 2 else (True, False):
                        call(host, "PATCH", "/api/agent/settings", {"speculativeDecoding": speculates})
                        done, text = ask(host, prompt.format(n=number, m=number + 30))
                        texts.append(text)
                        if turn:  # the first round warms up
                            rates[speculates].append(done["tokPerSec"])
                            drafted += done["draftedTokens"]
                            accepted += done["acceptedTokens"]
                    assert texts[0] == texts[1], "not the same answer"
                plain, guessing = (statistics.median(rates[key]) for key in (False, True))
                ratio = statistics.median(b / a for a, b in zip(rates[False], rates[True]))
                print(f"| {threads} | {name} | {plain:.1f} | {guessing:.1f} | {ratio:.2f} | {accepted} of {drafted} |", flush=True)
            host.process.terminate()
            host.process.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
