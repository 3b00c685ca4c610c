"""Open every model and embedder of a plan, and look whether each is what the plan needs."""

from collections.abc import Mapping, Sequence

from experiments.plan.schema import Embedder, Model, StudyPlan
from experiments.preflight_room import check_room
from experiments.preflight_spaces import VECTOR_SIZE
from experiments.surroundings import Check, ModelElsewhere, Surroundings
from stores.errors import InvalidInputError
from stores.formats.base import MemoryFormat
from stores.roles import ChatModel, ChatRequest, EngineError
from stores.workload.types import History

# A text that would not fit even at this many bytes a token is refused without being encoded.
LONGEST_TOKEN_BYTES = 16
FIXED_TEXT = "Anna Berg moved the pump to QX-4821 on 3 May; say it in one word."
# Codes, digits, umlauts, signs and two other scripts: tokenizers differ most on these.
TOKENIZER_TEXT = (
    "QX-4821 → ZZ-0007; Größe 38,5 °C, naïve façade; температура, 温度 0x1F… 1234567890"
)


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
                *_revision(model, identity.revision),
                _tokenizer(chat, model),
                _context(plan, chat, model.key),
                *check_room(plan, chat, model.key, histories, formats),
            ]
            if model.engine == "openai_api":
                checks.append(_endpoint(chat, model))
            return checks
    except (EngineError, InvalidInputError) as error:
        return [Check("model", expected, str(error).rstrip("."), False, model.key)]


def _revision(part: Model | Embedder, found: str) -> list[Check]:
    """The revision, where the plan names the one that it wants."""
    if part.revision is None:
        return []
    said = found or "unknown: it does not say"
    return [Check("revision", part.revision, said, found == part.revision, part.key)]


def _tokenizer(chat: ChatModel, model: Model) -> Check:
    """Encode a fixed text: it must have as many tokens as the plan says, or a sensible number."""
    wanted, least, most = model.fixed_text_tokens, 5, len(TOKENIZER_TEXT.encode())
    expected = f"{wanted} tokens" if wanted else f"{least} to {most} tokens"
    expected += " for a fixed text"
    if isinstance(chat, ModelElsewhere):
        found = "to be counted by the worker, which has it loaded"
        return Check("tokenizer", expected, found, True, model.key)
    tokens = chat.count_tokens(TOKENIZER_TEXT)
    ok = tokens == wanted if wanted else least <= tokens <= most
    return Check("tokenizer", expected, f"{tokens} tokens", ok, model.key)


def _context(plan: StudyPlan, chat: ChatModel, key: str) -> Check:
    wanted = plan.budgets.context_tokens
    return Check(
        "context",
        f"at least {wanted:,} tokens",
        f"{chat.context_tokens:,} tokens",
        chat.context_tokens >= wanted,
        key,
    )


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
        *_revision(embedder, generation.revision),
        Check(VECTOR_SIZE, f"{generation.dimension}", f"{size}", ok, embedder.key),
    ]
