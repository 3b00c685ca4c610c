"""The exact prompt of an answer, rebuilt from its store and checked against the kept hashes."""

from dataclasses import dataclass

from experiments.models import Answer
from experiments.plan.budgets import write_budget
from experiments.plan.schema import StudyPlan
from experiments.services.conditions import WITHOUT_STORE
from experiments.services.inputs import prefix_sha256, request_sha256
from stores.errors import InvalidInputError
from stores.formats.base import Reading
from stores.formats.conditions import no_memory
from stores.formats.fence import joined_days
from stores.formats.formats import FORMATS
from stores.formats.reading import reader_prompt, reader_request, shared_reading
from stores.roles import ModelIdentity
from stores.workload.types import Probe, Scoring


@dataclass(frozen=True, slots=True)
class RebuiltPrompt:
    """A prompt as it was sent. `problem` says why it could not be rebuilt, or not be confirmed."""

    reading: Reading | None
    prefix_matches: bool | None = None
    request_matches: bool | None = None
    problem: str = ""

    @property
    def exact(self) -> bool:
        """Whether the rebuilt text is proven to be what the model was sent."""
        return bool(self.prefix_matches) and self.request_matches is not False


def rebuild(answer: Answer) -> RebuiltPrompt:
    """Rebuild the prompt of one answer.

    The suffix is kept with the answer. The prefix, which neighbouring answers share, is made again
    from the store; its hash, and the hash of the whole request, tell whether it is the same.
    """
    condition = answer.attempt.evaluation.condition
    if answer.attempt.store is None and condition not in WITHOUT_STORE:
        return RebuiltPrompt(None, problem="This answer read no store.")
    plan = StudyPlan.model_validate(answer.attempt.evaluation.run.study.plan)
    try:
        reading = _reading(answer, plan)
    except (InvalidInputError, ValueError, KeyError, TypeError) as error:
        return RebuiltPrompt(None, problem=f"The store can no longer be read: {error}")
    same_prefix = prefix_sha256(reading) == answer.prefix_sha256
    same_request = _request_matches(answer, reading, plan)
    problem = "" if same_prefix else (
        "The rebuilt prefix has another hash than the one that was sent: the store, the prompt "
        "files or the code changed since."
    )  # fmt: skip
    return RebuiltPrompt(reading, same_prefix, same_request, problem)


def _reading(answer: Answer, plan: StudyPlan) -> Reading:
    """The reading of the answer's probe, its suffix as it was sent."""
    condition, probe = answer.attempt.evaluation.condition, _probe_value(answer)
    if condition == "no_memory":
        return no_memory([probe], prompts=plan.prompts)[0]
    if condition in ("raw_evidence", "stored_evidence"):
        # What was shown was selected for this probe, so that all of it is kept with the answer.
        return Reading(reader_prompt(plan.prompts).system, "", answer.suffix)
    return _store_reading(answer, plan, probe)


def _store_reading(answer: Answer, plan: StudyPlan, probe: Probe) -> Reading:
    """The reading of a store as its format reads it."""
    store = answer.attempt.store
    assert store is not None
    memory_format = FORMATS[store.format]
    content = bytes(store.content.data)
    if memory_format.needs_embedder:
        # What was retrieved is kept: no embedder has to be loaded to show it again.
        texts = {entry["item"]: entry["text"] for entry in memory_format.describe(content)}
        shown = sorted(item["item"] for item in answer.retrieved)
        memory = joined_days(texts[item] for item in shown)
        whole = shared_reading(memory, probe.question, prompts=plan.prompts)
        selected = Reading(whole.system, "", whole.prefix + whole.suffix)
        rebuilt = selected if prefix_sha256(selected) == answer.prefix_sha256 else whole
    else:
        budget = write_budget(plan)
        (rebuilt,) = memory_format.read(
            content, [probe], embedder=None, budget=budget, prompts=plan.prompts
        )
    return Reading(rebuilt.system, rebuilt.prefix, answer.suffix or rebuilt.suffix)


def _probe_value(answer: Answer) -> Probe:
    """The probe as a value; what decides a prompt is its question alone."""
    probe = answer.probe
    return Probe(
        key=probe.key, history=probe.history.key, kind=probe.kind, question=probe.question,
        answer=probe.answer, evidence=tuple(probe.evidence), scoring=Scoring(),
    )  # fmt: skip


def _request_matches(answer: Answer, reading: Reading, plan: StudyPlan) -> bool | None:
    """Whether the whole request has the hash that was kept; None where none was kept."""
    identity = answer.attempt.reader_identity
    if answer.call is None or not answer.call.request_sha256 or not identity:
        return None
    request = reader_request(
        reading, max_output_tokens=plan.budgets.reader_output_tokens, seed=plan.seed
    )
    try:
        kept = ModelIdentity(**identity)
    except TypeError:
        return None
    return request_sha256(request, identity=kept) == answer.call.request_sha256
