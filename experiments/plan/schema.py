"""The study plan: everything that is decided before results exist. Unknown keys are refused."""

from itertools import permutations
from typing import Annotated, Any, Literal

from pydantic import Field

from experiments.plan.judging import Analysis
from experiments.plan.judging import Contrast as Contrast
from experiments.plan.part import Key, PlanPart

EngineName = Literal["llama_cpp", "openai_api", "vllm_offline", "scripted"]
EmbedderEngineName = Literal["onnx", "sentence_transformers", "openai_api", "scripted"]
FormatName = Literal["lc_raw", "rag", "notes", "kg_fixed"]
RepairMethod = Literal["notes_raw", "notes_store", "rag_reembed", "kg_rebuild"]
IndexName = Literal["old", "full", "mixed", "router", "dual_query", "version_filter"]
# A study's key stands in addresses and file names, so it has no dots.
StudyKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$")]
# What every engine and NumPy take as a seed.
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]


class Histories(PlanPart):
    """Which histories: a preset of the generator, a collection, or single keys."""

    preset: Literal["tiny", "small", "paper"] | None = None
    seed: Seed = 0
    # Calibration histories are never reported with those of a study.
    split: Literal["study", "calibration"] = "study"
    collection: str | None = None
    keys: tuple[str, ...] = ()
    # At most this many probes per history, in their order; None: all.
    max_probes: int | None = Field(default=None, ge=1)


class Price(PlanPart):
    """What a model costs, in US dollars per million tokens and per hour of its engine."""

    prompt_usd_per_mtok: float = Field(default=0, ge=0)
    cached_usd_per_mtok: float = Field(default=0, ge=0)
    output_usd_per_mtok: float = Field(default=0, ge=0)
    engine_usd_per_hour: float = Field(default=0, ge=0)


class Served(PlanPart):
    """What is loaded or called: `catalogue` names weights, `base_url` and `model` an endpoint.

    `revision` is what preflight must find; None: whatever is there.
    """

    key: Key
    catalogue: str | None = None
    base_url: str | None = None
    model: str | None = None
    revision: str | None = None
    api_key_env: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    price: Price = Price()


class Model(Served):
    """A writer and reader.

    `fixed_text_tokens` (the tokens of preflight's fixed text, which tell one tokenizer from
    another) is what preflight must find; None: whatever is there.
    """

    engine: EngineName
    fixed_text_tokens: int | None = Field(default=None, ge=1)


class Embedder(Served):
    """An embedding model; every setting that decides a vector may be given."""

    engine: EmbedderEngineName


class Budgets(PlanPart):
    """Allowances, equal for all models."""

    context_tokens: int = Field(default=2048, ge=256)
    unused_tokens: int = Field(default=128, ge=0)
    reader_output_tokens: int = Field(default=32, ge=1)
    writer_output_tokens: int = Field(default=512, ge=1)
    writer_temperature: float = Field(default=0.0, ge=0, le=1)
    notes_kib: int = Field(default=128, ge=1)
    events_per_window: int = Field(default=6, ge=1)
    events_per_claim_window: int = Field(default=4, ge=1)
    chunk_chars: int = Field(default=512, ge=64)
    top_k: int = Field(default=8, ge=1)


class WriterSwap(PlanPart):
    """Migration test 1. `noise_repeats` cells are read once more, live.

    `embedders` name the generations under which `rag` is read as the writer-free control; empty
    means the plan's first one. Two of them, where reader and embedder change in one upgrade, give
    the joint cell beside the two single ones.
    """

    noise_repeats: int = Field(default=0, ge=0)
    embedders: tuple[Key, ...] = ()


class EmbeddingUpgrade(PlanPart):
    """Migration test 2: `rag` under the old embedder, the new one, and what lies between.

    `dial` adds mixed indexes by their share of migrated chunks in percent (50 is `mixed`, 100 is
    `full`). `retrieval_only` ranks the evidence and asks no model for an answer.
    """

    old: Key
    new: Key
    indexes: tuple[IndexName, ...] = ("old", "full", "mixed", "router")
    dial: tuple[Annotated[int, Field(ge=0, le=100)], ...] = ()
    retrieval_only: bool = False
    noise_repeats: int = Field(default=0, ge=0)


class Repair(PlanPart):
    """Migration test 3: what brings an inherited store back, at which budget.

    `rungs` are allowances, equal for all methods: the output tokens of one whole repair. `repairer`
    is the new model of each direction where none is named. The embedders are those of the embedding
    upgrade where none are named; a method whose format the plan does not name is left out.
    """

    methods: tuple[RepairMethod, ...] = ("notes_raw", "notes_store", "rag_reembed", "kg_rebuild")
    rungs: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=(256, 512, 1024), min_length=1, max_length=3
    )
    repairer: Key | None = None
    old_embedder: Key | None = None
    new_embedder: Key | None = None


class ControlledEvidence(PlanPart):
    """Migration test 4: stored and raw evidence supplied, for `notes` and `rag`.

    `style_rewrite`: the new model of each direction rewrites the old one's notes. `kg_items`: are
    isolated items of a graph a replacement for reading it?
    """

    style_rewrite: bool = True
    kg_items: bool = True


class Gates(PlanPart):
    """The cells that the gates need, run before the tests; `analysis.gates` says what follows.

    `doses`: in how many percent of the probes the evidence codes are corrupted.
    """

    doses: tuple[Literal[25, 50, 75], ...] = (25, 50, 75)


class Tests(PlanPart):
    """The gates and the migration tests of the study, each with its own settings."""

    gates: Gates | None = None
    writer_swap: WriterSwap | None = None
    embedding_upgrade: EmbeddingUpgrade | None = None
    repair: Repair | None = None
    controlled_evidence: ControlledEvidence | None = None


class ScoringRule(PlanPart):
    """`code_pattern` finds codes in an answer; names never match it."""

    code_pattern: str = r"[A-Z]{2}-\d{2,4}"
    token_f1_threshold: float = Field(default=0.5, gt=0, le=1)


class StudyPlan(PlanPart):
    """A study. Locked as canonical JSON with its SHA-256 when it is launched."""

    key: StudyKey
    title: str = Field(min_length=1, max_length=200)
    histories: Histories
    formats: tuple[FormatName, ...] = Field(min_length=1)
    # Empty only where no test asks for an answer.
    models: tuple[Model, ...] = ()
    embedders: tuple[Embedder, ...] = ()
    # Old to new; empty: every ordered pair of models.
    directions: tuple[tuple[Key, Key], ...] = ()
    tests: Tests
    budgets: Budgets = Budgets()
    scoring: ScoringRule = ScoringRule()
    analysis: Analysis = Analysis()
    prompts: Key = "v2"
    seed: Seed = 0

    def model(self, key: str) -> Model:
        """Return the model with this key; raise KeyError where the plan has none."""
        for model in self.models:
            if model.key == key:
                return model
        raise KeyError(f"plan {self.key!r} has no model {key!r}")

    def embedder(self, key: str) -> Embedder:
        """Return the embedder with this key; raise KeyError where the plan has none."""
        for embedder in self.embedders:
            if embedder.key == key:
                return embedder
        raise KeyError(f"plan {self.key!r} has no embedder {key!r}")

    @property
    def planned_directions(self) -> tuple[tuple[str, str], ...]:
        """The directions, old to new: those that the plan names, or every ordered pair."""
        keys = [model.key for model in self.models]
        return self.directions or tuple(permutations(keys, 2))
