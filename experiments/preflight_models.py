"""Open every model and embedder of a plan, and look whether each is what the plan needs."""

from collections.abc import Mapping, Sequence

from experiments.plan.budgets import write_budget
from experiments.plan.schema import Embedder, Model, StudyPlan
from experiments.surroundings import Check, ModelElsewhere, Surroundings
from stores.errors import InvalidInputError
from stores.formats.base import MemoryFormat
from stores.formats.reading import required_tokens
from stores.roles import ChatModel, ChatRequest, EngineError
from stores.workload.types import History

# Only the longest transcripts are encoded: the order by characters is nearly that by tokens.
ENCODED_HISTORIES = 3
# A text that would not fit even at this many bytes a token is refused without being encoded.
LONGEST_TOKEN_BYTES = 16
FIXED_TEXT = "Anna Berg moved the pump to QX-4821 on 3 May; say it in one word."


def check_model(
    plan: StudyPlan,
    model: Model,
    histories: Sequence[History],
    surroundings: Surroundings,
    formats: Mapping[str, MemoryFormat],
) -> list[Check]:
    """Open a model and look at its identity, tokenizer, context, and whether it answers."""
    expected = model.model or model.catalogue or model.engine
    try:
        with surroundings.chat_model(model) as chat:
            identity = chat.identity
            found = f"revision {identity.revision or 'unknown'}, {identity.fingerprint}"
            checks = [
                Check("model", expected, found, True, model.key),
                *_tokenizer(chat, model.key),
                _context(plan, chat, model.key),
                *_room(plan, chat, model.key, histories, formats),
            ]
            if model.engine == "openai_api":
                checks.append(_endpoint(chat, model))
            return checks
    except (EngineError, InvalidInputError) as error:
        return [Check("model", expected, str(error).rstrip("."), False, model.key)]


def _tokenizer(chat: ChatModel, key: str) -> list[Check]:
    if isinstance(chat, ModelElsewhere):
        return []
    tokens, most = chat.count_tokens(FIXED_TEXT), len(FIXED_TEXT)
    return [Check("tokenizer", "counts a fixed text", f"{tokens} tokens", 5 <= tokens <= most, key)]


def _context(plan: StudyPlan, chat: ChatModel, key: str) -> Check:
    wanted = plan.budgets.context_tokens
    return Check(
        "context",
        f"at least {wanted:,} tokens",
        f"{chat.context_tokens:,} tokens",
        chat.context_tokens >= wanted,
        key,
    )


def _room(
    plan: StudyPlan,
    chat: ChatModel,
    key: str,
    histories: Sequence[History],
    formats: Mapping[str, MemoryFormat],
) -> list[Check]:
    """Whether the longest prompts fit the context, with the output and the unused room kept."""
    budgets, checks = plan.budgets, []
    longest = sorted(histories, key=lambda h: -sum(len(event.text) for event in h.events))
    longest = longest[:ENCODED_HISTORIES]
    if "lc_raw" in plan.formats:
        needs = {h.key: _transcript_tokens(plan, chat, h, formats["lc_raw"]) for h in longest}
        what = f"its transcript with a question and {budgets.reader_output_tokens} tokens of answer"
        checks.append(_fits(plan, chat, key, "longest history", needs, what))
    if any(formats[name].needs_writer for name in plan.formats):
        needs = {h.key: _window_tokens(plan, chat, h) for h in histories}
        what = f"one window of events and {budgets.writer_output_tokens} tokens of writing"
        checks.append(_fits(plan, chat, key, "longest window", needs, what))
    return checks


def _fits(
    plan: StudyPlan, chat: ChatModel, key: str, name: str, needs: Mapping[str, int], what: str
) -> Check:
    """Whether the longest prompt fits; where it cannot be encoded here, whether it could."""
    history = max(needs, key=lambda history: needs[history])
    context, unused, tokens = (
        plan.budgets.context_tokens,
        plan.budgets.unused_tokens,
        needs[history],
    )
    room, found = context - unused, f"{tokens:,} tokens"
    if isinstance(chat, ModelElsewhere):
        fewest = tokens // LONGEST_TOKEN_BYTES
        found = f"at most {tokens:,} tokens" if tokens <= room else f"more than {fewest:,} tokens"
        if fewest <= room < tokens:
            found += ", not encoded here: every prompt is counted before it is asked"
        tokens = fewest
    return Check(
        name,
        f"at most {room:,} tokens (context {context:,}, unused {unused:,})",
        f"{found} in {history!r}: {what}",
        tokens <= room,
        key,
        "" if tokens <= room else "raise budgets.context_tokens",
    )


def _transcript_tokens(
    plan: StudyPlan, chat: ChatModel, history: History, lc_raw: MemoryFormat
) -> int:
    """Tokens of the raw transcript's longest reading, encoded as the reader will get it."""
    budget = write_budget(plan)
    written = lc_raw.write(history, writer=None, embedder=None, budget=budget, prompts=plan.prompts)
    longest = max(history.probes, key=lambda probe: len(probe.question), default=None)
    probes = [longest] if longest is not None else []
    readings = lc_raw.read(
        written.content, probes, embedder=None, budget=budget, prompts=plan.prompts
    )
    output = plan.budgets.reader_output_tokens
    return max((required_tokens(r, chat.count_tokens, output) for r in readings), default=0)


def _window_tokens(plan: StudyPlan, chat: ChatModel, history: History) -> int:
    """Tokens of the longest run of events that a writer sees at once, without its instruction."""
    size = plan.budgets.events_per_window
    windows = [history.events[n : n + size] for n in range(0, len(history.events), size)]
    texts = ["\n".join(event.text for event in window) for window in windows]
    return chat.count_tokens(max(texts, key=len, default="")) + plan.budgets.writer_output_tokens


def _endpoint(chat: ChatModel, model: Model) -> Check:
    """One call of one output token: is the endpoint up, and whose name does it answer under."""
    request = ChatRequest(system="", prefix="", suffix=FIXED_TEXT, max_output_tokens=1)
    expected = f"an answer from {model.model}"
    try:
        reply = chat.chat([request])[0]
    except EngineError as error:
        return Check("endpoint", expected, str(error).rstrip("."), False, model.key)
    # A hosted name may answer under a dated one: `name` → `name-2026-01-31`.
    served = reply.served_model
    ok = served == model.model or served.startswith(f"{model.model}-")
    return Check("endpoint", expected, f"an answer from {served or 'nobody named'}", ok, model.key)


def check_embedder(embedder: Embedder, surroundings: Surroundings) -> list[Check]:
    """Open an embedder and look at its identity and the size of its vectors."""
    expected = embedder.model or embedder.catalogue or embedder.engine
    try:
        opened = surroundings.embedder(embedder)
        if opened is None:
            found = "its files are what they should be; another process loads them"
            return [Check("embedder", expected, found, True, embedder.key)]
        generation = opened.generation
        vectors = opened.embed_passages([FIXED_TEXT])
    except (EngineError, InvalidInputError) as error:
        return [Check("embedder", expected, str(error).rstrip("."), False, embedder.key)]
    found = f"revision {generation.revision or 'unknown'}, {generation.fingerprint}"
    size = vectors.shape[1] if vectors.ndim == 2 else 0
    ok = size == generation.dimension
    return [
        Check("embedder", expected, found, True, embedder.key),
        Check("vector size", f"{generation.dimension}", f"{size}", ok, embedder.key),
    ]
