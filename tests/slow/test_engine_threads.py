"""The number of threads is no part of a model's identity: it changes no bit of an answer."""

import pytest

from experiments.engines.llama_server import LlamaServer
from tests.model_files import SMALL, the_catalogue

pytestmark = [pytest.mark.slow, pytest.mark.model]

PREFIX = [100 + 7 * i for i in range(120)]
OWN = [500 + 3 * i for i in range(11)]


def log_probabilities(threads: int) -> object:
    """Return the five best tokens' log-probabilities after a primed prefix, as a question has."""
    path = the_catalogue().verified(SMALL) / "model.gguf"
    server = LlamaServer(path, context_tokens=512, threads=threads, alias="small")
    try:
        server.complete(PREFIX, cache_prompt=False, n_predict=1, temperature=0.0)
        server.complete(PREFIX, cache_prompt=True, n_predict=1, temperature=0.0)
        reply = server._server.handle_completions(
            {"prompt": PREFIX + OWN, "n_predict": 3, "temperature": 0.0, "logprobs": 5}
        )
        return reply["choices"][0]["logprobs"]
    finally:
        server.close()


def test_one_two_and_three_threads_compute_the_same_numbers_to_the_last_bit():
    expected = log_probabilities(1)
    assert log_probabilities(2) == expected
    assert log_probabilities(3) == expected
