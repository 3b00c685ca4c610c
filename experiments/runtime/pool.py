"""The models that this process holds: each loaded once, used by one job at a time."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

from experiments.plan import schema
from stores.roles import ChatModel, ContextOverflowError, Embedder, EngineError

OpenChat = Callable[[schema.Model, int], ChatModel]
OpenEmbedder = Callable[[schema.Embedder], Embedder]

# An endpoint holds its own weights: any number of jobs may talk to it, and it costs no memory here.
REMOTE_ENGINES = frozenset({"openai_api"})


@dataclass(slots=True)
class _Loaded:
    model: ChatModel
    remote: bool
    users: int = 0
    used_at: int = 0


class EnginePool:
    """Opens models and embedders at first use and keeps them.

    Parameters
    ----------
    open_chat, open_embedder
        Make an engine from its part of the plan.
    keep
        At most this many local chat models are loaded at once; the one used longest ago goes first.
    """

    def __init__(self, *, open_chat: OpenChat, open_embedder: OpenEmbedder, keep: int = 1) -> None:
        self._open_chat, self._open_embedder, self._keep = open_chat, open_embedder, max(1, keep)
        self._changed = threading.Condition()
        self._models: dict[str, _Loaded] = {}
        self._embedders: dict[str, Embedder] = {}
        self._clock = 0

    @contextmanager
    def chat_model(self, model: schema.Model, *, context_tokens: int) -> Iterator[ChatModel]:
        """Lend a model. A local one is lent to one job at a time: its cache is its state."""
        key = json.dumps([model.model_dump(mode="json", exclude={"price"}), context_tokens])
        with self._changed:
            loaded = self._borrow(key, model, context_tokens)
        try:
            yield loaded.model
        except ContextOverflowError:
            raise
        except EngineError:
            # A local engine that failed once may be broken for good: the next job opens it anew.
            self._discard(key, loaded)
            raise
        finally:
            with self._changed:
                loaded.users -= 1
                self._changed.notify_all()

    def _discard(self, key: str, loaded: _Loaded) -> None:
        if not loaded.remote:
            with self._changed:
                self._models.pop(key, None)
            loaded.model.close()

    def _borrow(self, key: str, model: schema.Model, context_tokens: int) -> _Loaded:
        # Opening happens under the lock: nobody can load the same weights meanwhile.
        self._clock += 1
        while True:
            found = self._models.get(key)
            if found is None and (model.engine in REMOTE_ENGINES or self._make_room()):
                opened = self._open_chat(model, context_tokens)
                found = _Loaded(opened, remote=model.engine in REMOTE_ENGINES)
                self._models[key] = found
            if found is not None and (found.remote or found.users == 0):
                found.users += 1
                found.used_at = self._clock
                return found
            self._changed.wait()

    def _make_room(self) -> bool:
        """Close idle local models until one more may be loaded; False while all are in use."""
        while True:
            local = {k: m for k, m in self._models.items() if not m.remote}
            if len(local) < self._keep:
                return True
            idle = [k for k, m in local.items() if m.users == 0]
            if not idle:
                return False
            self._models.pop(min(idle, key=lambda k: local[k].used_at)).model.close()

    def embedder(self, embedder: schema.Embedder) -> Embedder:
        """Return an embedder; it has no state that one text could leave for the next."""
        key = json.dumps(embedder.model_dump(mode="json", exclude={"price"}))
        with self._changed:
            if key not in self._embedders:
                self._embedders[key] = self._open_embedder(embedder)
            return self._embedders[key]

    def close_idle(self) -> None:
        """Close every local chat model that no job uses: another process needs the memory."""
        with self._changed:
            for key in [k for k, m in self._models.items() if m.users == 0 and not m.remote]:
                self._models.pop(key).model.close()

    def close(self) -> None:
        """Close everything that is idle, embedders and endpoints too."""
        self.close_idle()
        with self._changed:
            for key in [k for k, m in self._models.items() if m.users == 0]:
                self._models.pop(key).model.close()
            while self._embedders:
                self._embedders.popitem()[1].close()


_pool: tuple[int, EnginePool] | None = None


def engine_pool() -> EnginePool:
    """Return this process's pool; a forked child starts with an empty one."""
    global _pool
    if _pool is None or _pool[0] != os.getpid():
        _pool = (os.getpid(), catalogue_pool())
    return _pool[1]


def use_pool(pool: EnginePool | None) -> None:
    """Put another pool in this process's place; None: make the usual one when next asked."""
    global _pool
    _pool = None if pool is None else (os.getpid(), pool)


def catalogue_pool() -> EnginePool:
    """Make a pool whose models come from the catalogue in the settings."""
    from experiments.engines.catalogue import Catalogue
    from experiments.engines.engines import open_chat_model, open_embedder

    catalogue = Catalogue(settings.CATALOGUE, settings.MODELS_DIR)
    return EnginePool(
        open_chat=lambda model, context_tokens: open_chat_model(
            model, context_tokens=context_tokens, catalogue=catalogue
        ),
        open_embedder=lambda embedder: open_embedder(embedder, catalogue=catalogue),
        keep=settings.LOADED_MODELS,
    )
