"""Keys and values in fewer bits, through the whole program."""

from urllib.parse import quote


def test_the_storage_of_keys_and_values_is_a_setting_for_the_next_load(serve, model):
    host = serve("--port", 0, "--model", model, "--threads", 1).wait()
    host.wait_for_model()
    status, refusal = host.json("/api/agent/settings", "PATCH", {"kvCacheDtype": "q5_1"})
    assert (status, refusal["code"]) == (400, "bad_setting")
    assert refusal["error"] == '"kvCacheDtype" should be f16, q8_0 or q4_0.'

    def cache_bytes():
        return host.json("/api/models/fit?model=" + quote(model, safe=""))[1]["cacheBytes"]

    before = cache_bytes()
    assert host.json("/api/agent/settings", "PATCH", {"kvCacheDtype": "q4_0"})[0] == 200
    assert abs(cache_bytes() / before - 4.5 / 16) < 0.001
    assert host.json("/api/models/load", "POST", {"model": model})[0] == 200
    host.wait_for_model()
    question = [{"role": "user", "content": "What is the capital of France? Answer in one word."}]
    _, frames = host.chat(host.session()["sessionId"], question, temperature=0, maxTokens=24)
    assert "Paris" in "".join(frame.get("token", "") for frame in frames)
