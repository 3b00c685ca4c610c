"""The study plan: everything that is decided before results exist. Unknown keys are refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

EngineName = Literal["llama_cpp", "openai_api", "vllm_offline", "scripted"]
EmbedderEngineName = Literal["onnx", "sentence_transformers", "openai_api", "scripted"]
FormatName = Literal["lc_raw", "rag", "notes", "kg_fixed"]
TestName = Literal["writer_swap"]
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]


class PlanPart(BaseModel):
    """Base of every part: frozen, and a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Histories(PlanPart):
    """Which histories: a preset of the generator, a collection, or single keys."""

    preset: Literal["tiny", "small", "paper"] | None = None
    seed: int = 0
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


class Model(PlanPart):
    """A writer and reader. `catalogue` names weights; `base_url` and `model` name an endpoint."""

    key: Key
    engine: EngineName
    catalogue: str | None = None
    base_url: str | None = None
    model: str | None = None
    api_key_env: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    price: Price = Price()


class Embedder(PlanPart):
    """An embedding model; every setting that decides a vector may be given."""

    key: Key
    engine: EmbedderEngineName
    catalogue: str | None = None
    base_url: str | None = None
    model: str | None = None
    api_key_env: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    price: Price = Price()


class Budgets(PlanPart):
    """Allowances, equal for all models."""

    context_tokens: int = Field(default=2048, ge=256)
    unused_tokens: int = Field(default=128, ge=0)
    reader_output_tokens: int = Field(default=32, ge=1)
    writer_output_tokens: int = Field(default=512, ge=1)
    writer_temperature: float = Field(default=0.0, ge=0, le=1)
    notes_kib: int = Field(default=128, ge=1)
    events_per_window: int = Field(default=6, ge=1)
    chunk_chars: int = Field(default=512, ge=64)
    top_k: int = Field(default=8, ge=1)


class WriterSwap(PlanPart):
    """Migration test 1. `noise_repeats` cells are read once more, live."""

    noise_repeats: int = Field(default=0, ge=0)


class Tests(PlanPart):
    """The migration tests of the study, each with its own settings."""

    writer_swap: WriterSwap | None = None


class Contrast(PlanPart):
    """A planned contrast: positive favours the claim."""

    key: Literal["H1", "H2", "H4a", "H7a"]
    margin_pp: float = 5.0
    expected: Literal["greater"] = "greater"


class Analysis(PlanPart):
    """How results will be judged."""

    margin_pp: float = Field(default=5.0, gt=0)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    chance: float = Field(default=0.0, ge=0, lt=1)
    correction: Literal["holm"] = "holm"
    contrasts: tuple[Contrast, ...] = ()
    bootstrap_resamples: int = Field(default=10_000, ge=100)
    gates: Literal["mark", "stop"] = "mark"


class ScoringRule(PlanPart):
    """`code_pattern` finds codes in an answer; names never match it."""

    code_pattern: str = r"[A-Z]{2}-\d{4}"
    token_f1_threshold: float = Field(default=0.5, gt=0, le=1)


class StudyPlan(PlanPart):
    """A study. Locked as canonical JSON with its SHA-256 when it is launched."""

    key: Key
    title: str = Field(min_length=1, max_length=200)
    histories: Histories
    formats: tuple[FormatName, ...] = Field(min_length=1)
    models: tuple[Model, ...] = Field(min_length=1)
    embedders: tuple[Embedder, ...] = ()
    # Old to new; empty: every ordered pair of models.
    directions: tuple[tuple[Key, Key], ...] = ()
    tests: Tests
    budgets: Budgets = Budgets()
    scoring: ScoringRule = ScoringRule()
    analysis: Analysis = Analysis()
    prompts: Key = "v1"
    seed: int = 0
