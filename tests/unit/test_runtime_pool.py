"""The engine pool: a model is loaded once, lent to one job at a time, and closed in time."""

import threading

import pytest

from experiments.plan.schema import Model
from experiments.runtime.pool import EnginePool
from stores.roles import ContextOverflowError, EngineError
from tests.models import WatchedModel, WatchedPool

OLD = Model(key="old", engine="scripted")
NEW = Model(key="new", engine="scripted")


def keys(pool: WatchedPool) -> list[str]:
    return [model.identity.key for model in pool.opened]


def test_a_model_is_loaded_once_however_many_jobs_want_it() -> None:
    pool = WatchedPool(keep=1)
    inside, most = [], []

    def job() -> None:
        with pool.chat_model(OLD, context_tokens=100):
            inside.append(1)
            most.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=job) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert keys(pool) == ["old"]
    assert max(most) == 1


def test_another_model_takes_the_place_of_an_idle_one() -> None:
    pool = WatchedPool(keep=1)
    for model in (OLD, NEW, OLD):
        with pool.chat_model(model, context_tokens=100):
            assert sum(not opened.closed for opened in pool.opened) == 1
    assert keys(pool) == ["old", "new", "old"]


def test_two_models_stay_where_two_may() -> None:
    pool = WatchedPool(keep=2)
    for model in (OLD, NEW, OLD, NEW):
        with pool.chat_model(model, context_tokens=100):
            pass
    assert keys(pool) == ["old", "new"]


def test_a_model_in_use_is_waited_for_and_never_closed() -> None:
    pool = WatchedPool(keep=1)
    started = threading.Event()

    def other() -> None:
        started.set()
        with pool.chat_model(NEW, context_tokens=100):
            pass

    with pool.chat_model(OLD, context_tokens=100) as lent:
        thread = threading.Thread(target=other)
        thread.start()
        started.wait()
        pool.close()
        assert isinstance(lent, WatchedModel)
        assert not lent.closed
        assert keys(pool) == ["old"]
    thread.join(5)
    assert keys(pool) == ["old", "new"]
    assert pool.opened[0].closed


def test_an_endpoint_is_shared_and_takes_no_place() -> None:
    pool = WatchedPool(keep=1)
    remote = Model(key="remote", engine="openai_api", base_url="http://127.0.0.1:1", model="m")
    with (
        pool.chat_model(OLD, context_tokens=100),
        pool.chat_model(remote, context_tokens=100) as one,
        pool.chat_model(remote, context_tokens=100) as two,
    ):
        assert one is two
    assert keys(pool) == ["old", "remote"]


def test_a_price_does_not_make_another_model_but_a_context_does() -> None:
    pool = WatchedPool(keep=3)
    dear = OLD.model_copy(update={"price": OLD.price.model_copy(update={"output_usd_per_mtok": 1})})
    for model, context in ((OLD, 100), (dear, 100), (OLD, 200)):
        with pool.chat_model(model, context_tokens=context):
            pass
    assert len(pool.opened) == 2


def test_a_model_that_cannot_be_opened_blocks_nobody() -> None:
    def refuse(_model: Model, _context_tokens: int) -> WatchedModel:
        raise EngineError("no such file")

    pool = EnginePool(open_chat=refuse, open_embedder=lambda _: None)  # type: ignore[arg-type, return-value]
    for _ in range(2):
        with pytest.raises(EngineError), pool.chat_model(OLD, context_tokens=100):
            pass


def test_a_local_engine_that_failed_is_opened_anew_and_one_that_overflowed_is_kept() -> None:
    pool = WatchedPool(keep=1)
    for error in (ContextOverflowError("too long"), EngineError("broken pipe")):
        with pytest.raises(EngineError), pool.chat_model(OLD, context_tokens=100):
            raise error
    assert keys(pool) == ["old"]
    assert pool.opened[0].closed
    with pool.chat_model(OLD, context_tokens=100):
        assert keys(pool) == ["old", "old"]
