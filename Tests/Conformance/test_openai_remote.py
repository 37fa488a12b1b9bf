"""OpenAI's own client, asking a host whose engine is a server of OpenAI's API: another Alcove.

The same tests as of a host with a model of its own, but for what cannot be the same: what only the engine itself knows before
it begins (too long a chat, a schema with a reference elsewhere: here the server refuses them), what is asked of hosts without
a model, and the same words for the same seed, which the host that answers has to keep.
"""

import pytest
from clients import MODEL, client
from test_openai_chat import (  # noqa: F401
    test_a_call_is_made,
    test_a_json_object_is_one,
    test_a_question_is_answered,
    test_a_result_goes_back_and_is_answered,
    test_a_stream_says_the_same_as_the_whole,
    test_a_wrong_key_is_an_authentication_error,
    test_an_answer_follows_a_schema,
    test_bad_json_and_other_types_are_refused_in_the_same_form,
    test_content_in_parts_and_system_words,
    test_logprobs_are_probabilities_of_the_tokens_told,
    test_max_tokens_ends_with_length,
    test_penalties_and_sampling_are_taken,
    test_raw_text_is_gone_on_from,
    test_raw_text_is_no_template,
    test_raw_text_tells_chances_in_its_own_form,
    test_stop_texts_end_the_answer_and_are_not_in_it,
    test_the_clients_own_models_are_followed,
    test_the_clients_own_stream_collector_takes_it,
    test_the_clients_own_tools_are_called,
    test_the_loaded_model_is_listed_and_found,
    test_the_second_time_the_prompt_is_reused,
    test_with_none_no_call_is_made,
    test_without_include_usage_no_chunk_tells_it,
)


@pytest.fixture(scope="module")
def host(start, tmp_path_factory):
    near = start("--model", MODEL)
    assert near.wait_for_model()["state"] == "Loaded"
    key = tmp_path_factory.mktemp("key") / "key"
    key.write_text(near.token)
    far = start("--engine", "openai", "--endpoint", near.url + "/v1", "--key-file", key)
    assert far.wait_for_model()["state"] == "Loaded"
    assert far.json("/api/agent/engine")[1]["leavesDevice"] is True
    return far


@pytest.fixture(scope="module")
def api(host):
    return client(host)
