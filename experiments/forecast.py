"""What a study will take: calls, tokens, hours, dollars, disk; by test, role and model.

Pure. Prompt tokens follow from the plan; output tokens, and with them what writers will have
written, are expectations, and the most that the budgets allow stands beside them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cache

from experiments.forecast_prompts import DryRun, PromptText, Tokens, count_calls
from experiments.forecast_values import Amount, Forecast, Line, TestForecast
from experiments.plan.schema import Embedder, Model, StudyPlan
from experiments.plan.specs import EvaluationSpec, Expansion, StoreSpec
from experiments.warm_up import Rate
from stores.formats.base import MemoryFormat
from stores.vectors.arms import arm_of
from stores.workload.types import History

# Larger studies are counted on some of their histories, evenly spaced, and scaled.
COUNTED_EVENTS = 6_000
# Of texts full of codes, times and names; a model that is here counts with its own tokenizer.
CHARS_PER_TOKEN = 2.8
TEMPLATE_TOKENS = 20
# Engines whose hours are hours of a GPU.
GPU_ENGINES = frozenset({"vllm_offline"})
# Rows of an answer with its call and their indexes, beside the texts; measured on a database.
BYTES_OF_AN_ANSWER = 2_000
NOT_OPENED = "not measured: the model was not opened"


@dataclass(frozen=True, slots=True)
class Measured:
    """What opening a model told: how it counts, how fast it is, or why that is not known."""

    count: Callable[[str], int] | None = None
    counted_by: str = "its own tokenizer"
    rate: Rate | None = None
    texts_per_s: float | None = None
    why_not: str = NOT_OPENED


@dataclass(frozen=True, slots=True)
class _Job:
    """What one store or cell asks of one model: tokens, or texts to embed."""

    role: str
    model: str
    tokens: Tokens
    texts: int = 0

    def times(self, factor: float) -> "_Job":
        """Scale what was counted on some histories to all of them."""
        return replace(self, tokens=self.tokens.times(factor), texts=round(self.texts * factor))


def _summed(jobs: Sequence[_Job]) -> list[_Job]:
    """One job for each role and model, sorted."""
    found: dict[tuple[str, str], _Job] = {}
    for job in jobs:
        key = (job.role, job.model)
        sofar = found.get(key, _Job(*key, Tokens()))
        found[key] = _Job(*key, sofar.tokens.plus(job.tokens), sofar.texts + job.texts)
    return [found[key] for key in sorted(found)]


@dataclass(slots=True)
class Forecaster:
    """Composes a study's prompts once, and counts them as models are opened.

    Call `count_with` while a model is open, then `forecast`.
    """

    plan: StudyPlan
    histories: Sequence[History]
    expansions: Mapping[str, Expansion]
    formats: Mapping[str, MemoryFormat]
    _measured: dict[str, Measured] = field(default_factory=dict)
    _dry: DryRun | None = None
    _counts: dict[tuple[str, ...], Tokens] = field(default_factory=dict)
    _embedded: set[tuple[str, ...]] = field(default_factory=set)

    def count_with(self, key: str, measured: Measured) -> None:
        """Keep what was measured of a model, and count its prompts while its tokenizer is there."""
        self._measured[key] = measured
        counted = self._counted()
        for expansion in self.expansions.values():
            jobs: list[StoreSpec | EvaluationSpec] = [*expansion.stores, *expansion.evaluations]
            for job in jobs:
                model = job.writer if isinstance(job, StoreSpec) else job.reader
                if model == key and job.history in counted:
                    self._tokens(job, counted[job.history])

    def forecast(self) -> Forecast:
        """Return the forecast from what has been measured so far."""
        built: set[tuple[object, ...]] = set()
        self._embedded.clear()
        tests = [self._test(name, one, built) for name, one in self.expansions.items()]
        return Forecast(tuple(tests), tuple(self._basis()))

    def _counted(self) -> dict[str, History]:
        """The histories that are counted: all of a small study, some of a large one."""
        events = sum(len(history.events) for history in self.histories)
        n = len(self.histories)
        kept = n if events <= COUNTED_EVENTS else max(1, n * COUNTED_EVENTS // events)
        chosen = [self.histories[place * n // kept] for place in range(kept)]
        return {history.key: history for history in chosen}

    def _test(
        self, name: str, expansion: Expansion, built: set[tuple[object, ...]]
    ) -> TestForecast:
        stores = [store for store in expansion.stores if _identity(store) not in built]
        built |= {_identity(store) for store in stores}
        counted, probes = self._counted(), {h.key: len(h.probes) for h in self.histories}
        jobs, sizes = list[_Job](), [0.0, 0.0]
        groups: tuple[Sequence[StoreSpec | EvaluationSpec], ...] = (stores, expansion.evaluations)
        for place, group in enumerate(groups):
            here = [job for job in group if job.history in counted]
            scale = len(group) / len(here) if here else 0.0
            found: list[_Job] = []
            for job in here:
                work, size = self._work(job, counted[job.history])
                found += work
                sizes[place] += size * scale
            jobs += [one.times(scale) for one in _summed(found)]
        return TestForecast(
            test=name,
            stores=len(stores),
            evaluations=len(expansion.evaluations),
            answers=sum(probes[cell.history] for cell in expansion.evaluations),
            lines=tuple(self._lines(jobs)),
            store_bytes=round(sizes[0]),
            disk_bytes=round(sum(sizes)),
        )

    def _work(self, job: StoreSpec | EvaluationSpec, history: History) -> tuple[list[_Job], int]:
        """What a store or a cell asks for, and the bytes that it leaves behind."""
        found = []
        tokens = self._tokens(job, history)
        if isinstance(job, StoreSpec):
            store = self._dry_run().store(history, job.format)
            if job.is_copied:
                return [], len(store.content)
            if job.writer:
                role = "repairer" if job.repair else "writer"
                found.append(_Job(role, job.writer, tokens))
            texts, size = store.passages, len(store.content)
        else:
            if job.reader:
                found.append(_Job("reader", job.reader, tokens))
            texts = len(history.probes)
            size = BYTES_OF_AN_ANSWER * len(history.probes)
        return [*found, *self._embedding(job, texts)], size

    def _embedding(self, job: StoreSpec | EvaluationSpec, texts: int) -> Iterator[_Job]:
        """What embedders do for a job; the indexes that a reader reads share their vectors."""
        for key in self._embedders(job):
            reader = "" if isinstance(job, StoreSpec) else job.reader
            shared = (type(job).__name__, key, job.history, reader)
            known = bool(job.index) and shared in self._embedded
            self._embedded.add(shared)
            yield _Job("embedder", key, Tokens(calls=1), 0 if known else texts)

    def _embedders(self, job: StoreSpec | EvaluationSpec) -> tuple[str, ...]:
        """Whose vectors a job needs: those of the parts of an upgrade's index, or its own."""
        upgrade = self.plan.tests.embedding_upgrade
        if job.index and upgrade is not None:
            keys = {"old": upgrade.old, "new": upgrade.new}
            arm = arm_of(job.index)
            parts = arm.built_from if isinstance(job, StoreSpec) else arm.asks
            return tuple(keys[part] for part in parts)
        return (job.embedder,) if job.embedder else ()

    def _tokens(self, job: StoreSpec | EvaluationSpec, history: History) -> Tokens:
        model = job.writer if isinstance(job, StoreSpec) else job.reader
        if not model or (isinstance(job, StoreSpec) and job.is_copied):
            return Tokens()
        what = (job.repair or "write") if isinstance(job, StoreSpec) else job.condition
        rung = str(job.rung) if isinstance(job, StoreSpec) else ""
        key = (what, model, history.key, job.format, rung)
        if key not in self._counts:
            found = self._measured.get(model, Measured())
            calls = self._calls(job, history)
            # Jobs of one kind follow each other, history by history: the first one computes the
            # instruction that all of them share.
            goes_on = bool(calls) and history.key != self._first()
            self._counts[key] = count_calls(
                calls,
                cache(found.count or _by_characters),
                template_tokens=found.rate.template_tokens if found.rate else TEMPLATE_TOKENS,
                computed=calls[0].instruction if goes_on else None,
            )
        return self._counts[key]

    def _calls(self, job: StoreSpec | EvaluationSpec, history: History) -> tuple[PromptText, ...]:
        dry = self._dry_run()
        if isinstance(job, EvaluationSpec):
            return dry.readings(history, job.format, job.condition)
        if job.repair:
            return dry.repair(history, job.repair, job.rung)
        return dry.store(history, job.format).calls

    def _first(self) -> str:
        """The key of the first history that is counted."""
        return next(iter(self._counted()))

    def _dry_run(self) -> DryRun:
        if self._dry is None:
            self._dry = DryRun(self.plan, self.formats)
        return self._dry

    def _lines(self, jobs: Sequence[_Job]) -> Iterator[Line]:
        for job in _summed(jobs):
            role, model = job.role, job.model
            part = self.plan.embedder(model) if role == "embedder" else self.plan.model(model)
            yield _line(job, part, self._measured.get(model, Measured()))

    def _basis(self) -> Iterator[str]:
        counted, all_of_them = len(self._counted()), len(self.histories)
        if counted < all_of_them:
            yield f"counted on {counted} of {all_of_them} histories, evenly spaced, and scaled"
        yield (
            "prompt tokens are those of the study's own prompts; what writers will write is not"
            " known: a note of every event and a claim of every fact stand in for it"
        )
        used = defaultdict[str, list[str]](list)
        parts: list[Model | Embedder] = [*self.plan.models, *self.plan.embedders]
        for part in parts:
            found = self._measured.get(part.key, Measured())
            if isinstance(part, Model):
                how = found.counted_by if found.count else f"{CHARS_PER_TOKEN} characters a token"
                used[f"tokens by {how}"].append(part.key)
            if found.rate is not None:
                yield f"{part.key}: {found.rate.measured_on}"
            elif found.texts_per_s is not None:
                yield f"{part.key}: {found.texts_per_s:,.0f} texts a second"
            else:
                yield f"{part.key}: {found.why_not}"
        for how, keys in used.items():
            yield f"{how}: {', '.join(keys)}"


def _identity(store: StoreSpec) -> tuple[object, ...]:
    """A store that an earlier test of the study builds is reused: all but its key decides."""
    return astuple(replace(store, key=""))


def _by_characters(text: str) -> int:
    return round(len(text) / CHARS_PER_TOKEN)


def _line(job: _Job, part: Model | Embedder, measured: Measured) -> Line:
    engine_s = _engine_s(job, part, measured)
    return Line(
        role=job.role,
        model=job.model,
        tokens=job.tokens,
        engine_s=engine_s,
        gpu_hours=gpu_hours(part, engine_s),
        cost_usd=_cost(job.tokens, part, engine_s),
        texts=job.texts,
    )


def _engine_s(job: _Job, part: Model | Embedder, measured: Measured) -> Amount:
    if isinstance(part, Model) and measured.rate is not None:
        tokens = job.tokens
        seconds = measured.rate.engine_s(
            calls=tokens.calls, computed_tokens=tokens.computed, output_tokens=tokens.output
        )
        return Amount(seconds)
    if isinstance(part, Embedder) and measured.texts_per_s:
        return Amount(job.texts / measured.texts_per_s)
    return Amount(None, f"{part.key}: {measured.why_not}")


def gpu_hours(part: Model | Embedder, engine_s: Amount) -> Amount:
    """Return the GPU-hours of some engine seconds: 0 on CPUs, unknown behind an endpoint."""
    if part.engine == "openai_api":
        return Amount(None, f"{part.key}: an endpoint does not say what it runs on")
    if part.engine not in GPU_ENGINES:
        return Amount(0.0)
    if engine_s.value is None:
        return engine_s
    gpus = int(part.options.get("tensor_parallel_size", 1))
    return Amount(engine_s.value / 3600 * gpus)


def _cost(tokens: Tokens, part: Model | Embedder, engine_s: Amount) -> Amount:
    price = part.price
    by_token = (
        tokens.computed * price.prompt_usd_per_mtok
        + (tokens.prompt - tokens.computed) * price.cached_usd_per_mtok
        + tokens.output * price.output_usd_per_mtok
    ) / 1e6
    if not price.engine_usd_per_hour:
        return Amount(by_token)
    if engine_s.value is None:
        return Amount(None, engine_s.reason)
    return Amount(by_token + engine_s.value / 3600 * price.engine_usd_per_hour)
