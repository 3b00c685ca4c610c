"""Forecast a study on this machine: models that can be opened here are warmed up and timed."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from experiments.forecast import Forecaster, Measured
from experiments.forecast_values import Forecast
from experiments.plan.expand import expand
from experiments.plan.schema import Embedder as EmbedderPlan
from experiments.plan.schema import Model, StudyPlan
from experiments.services.study_histories import find_histories
from experiments.services.surroundings import surroundings_of
from experiments.surroundings import ModelElsewhere, Surroundings
from experiments.warm_up import TEXTS, texts_per_s, warm_up
from memport_site.accounts.models import Workspace
from stores.errors import InvalidInputError
from stores.formats.formats import FORMATS
from stores.roles import ChatModel, Embedder, EngineError

ELSEWHERE = "not measured: another process has it loaded"
ENDPOINT = "not measured: an endpoint's speed is not this machine's"
# Between the forecast that a person confirms and the launch, the machine stays what it is.
KEPT_S = 900.0
LEAST_CHARS_PER_TOKEN = 1.5

_kept: dict[str, tuple[float, Measured]] = {}
_forecasts: dict[str, tuple[float, Forecast]] = {}
_lock = threading.Lock()


def forecast_study(
    *,
    plan: StudyPlan,
    workspace: Workspace,
    warm_up: bool = True,
    surroundings: Surroundings | None = None,
) -> Forecast:
    """Return the forecast of a plan; writes nothing.

    Parameters
    ----------
    warm_up
        Open every model that can be opened here, count with its tokenizer and time three
        short calls. Without it, tokens are estimated and hours are not measured.

    Raises
    ------
    InvalidInputError
        The plan names histories that do not exist, or has nothing to do.
    """
    found = find_histories(plan=plan, workspace=workspace)
    forecaster = Forecaster(plan, found.values, expand(plan, found.values), FORMATS)
    if warm_up:
        around = nullcontext(surroundings) if surroundings is not None else surroundings_of(plan)
        with around as given:
            _open_all(plan, measuring(given, forecaster, plan), forecaster)
    return forecaster.forecast()


def measuring(surroundings: Surroundings, forecaster: Forecaster, plan: StudyPlan) -> Surroundings:
    """Return surroundings that measure every model that they lend, before it is given back."""

    @contextmanager
    def lend(model: Model) -> Iterator[ChatModel]:
        with surroundings.chat_model(model) as chat:
            yield chat
            try:
                forecaster.count_with(model.key, _measured(model, chat, plan))
            except EngineError as error:
                forecaster.count_with(model.key, _not_opened(error))

    def open_embedder(part: EmbedderPlan) -> Embedder | None:
        embedder = surroundings.embedder(part)
        try:
            measured = _measured_embedder(part, embedder)
        except EngineError as error:
            measured = _not_opened(error)
        forecaster.count_with(part.key, measured)
        return embedder

    return replace(surroundings, chat_model=lend, embedder=open_embedder)


def _open_all(plan: StudyPlan, surroundings: Surroundings, forecaster: Forecaster) -> None:
    """Open each part once; one that cannot be opened is said to be not measured."""
    for model in plan.models:
        try:
            with surroundings.chat_model(model):
                pass
        except (EngineError, InvalidInputError) as error:
            forecaster.count_with(model.key, _not_opened(error))
    for embedder in plan.embedders:
        try:
            surroundings.embedder(embedder)
        except (EngineError, InvalidInputError) as error:
            forecaster.count_with(embedder.key, _not_opened(error))


def _not_opened(error: Exception) -> Measured:
    return Measured(why_not=f"not measured: {str(error).splitlines()[0].rstrip('.')}")


def _measured(model: Model, chat: ChatModel, plan: StudyPlan) -> Measured:
    if isinstance(chat, ModelElsewhere):
        return Measured(why_not=ELSEWHERE)
    if model.engine == "openai_api":
        return _by_sample(chat)
    name = json.dumps([model.model_dump(mode="json"), plan.budgets.context_tokens])
    found = _recent(name)
    if found is None:
        try:
            found = Measured(rate=warm_up(chat), why_not="")
        except EngineError as error:
            found = _not_opened(error)
        _keep(name, found)
    return replace(found, count=chat.count_tokens)


def _by_sample(chat: ChatModel) -> Measured:
    """An endpoint counts one sample, not every prompt: each count is a request over the network.

    One without a tokenizer estimates high, up to a token a byte; that tells nothing.
    """
    sample = "".join(TEXTS)
    chars_per_token = len(sample) / max(1, chat.count_tokens(sample))
    if chars_per_token < LEAST_CHARS_PER_TOKEN:
        return Measured(why_not=ENDPOINT)
    return Measured(
        count=lambda text: round(len(text) / chars_per_token),
        counted_by=f"{chars_per_token:.1f} characters a token, from a sample that it counted",
        why_not=ENDPOINT,
    )


def _measured_embedder(part: EmbedderPlan, embedder: Embedder | None) -> Measured:
    if embedder is None:
        return Measured(why_not=ELSEWHERE)
    if part.engine == "openai_api":
        return Measured(why_not=ENDPOINT)
    name = json.dumps(part.model_dump(mode="json"))
    found = _recent(name)
    if found is None:
        found = Measured(texts_per_s=texts_per_s(embedder, clock=time.monotonic), why_not="")
        _keep(name, found)
    return found


def recent_forecast(name: str, forecaster: Forecaster) -> Forecast:
    """Return the forecast of this name if one was made lately, else make it; one is kept."""
    with _lock:
        at, found = _forecasts.get(name, (0.0, None))
    if found is not None and time.monotonic() - at < KEPT_S:
        return found
    made = forecaster.forecast()
    with _lock:
        _forecasts.clear()
        _forecasts[name] = (time.monotonic(), made)
    return made


def forget() -> None:
    """Forget every measurement: the next forecast measures anew."""
    with _lock:
        _kept.clear()
        _forecasts.clear()


def _recent(name: str) -> Measured | None:
    with _lock:
        at, found = _kept.get(name, (0.0, None))
    return found if found is not None and time.monotonic() - at < KEPT_S else None


def _keep(name: str, found: Measured) -> None:
    with _lock:
        _kept[name] = (time.monotonic(), found)
