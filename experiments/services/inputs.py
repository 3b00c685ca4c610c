"""What a job works with: batches, hashes of requests, costs of calls."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from experiments.models import Call, StoreBuild, WorkerProcess
from experiments.plan import schema
from experiments.runtime.processes import this_process
from stores.formats.base import Reading
from stores.roles import ChatReply, ChatRequest, ModelIdentity

# Requests of an endpoint that are under way at once, where the plan does not say.
ENDPOINT_CONCURRENCY = 8
# In-process vLLM schedules a batch by itself: it only has to be long enough.
VLLM_BATCH = 64


def batch_size(model: schema.Model) -> int:
    """How many requests are handed to the engine at once, and committed at once.

    Local engines answer one request at a time: a batch would change what an answer meets in the
    cache, and gains nothing on a CPU. An endpoint gets twice what it answers at once, so that a
    slow answer keeps only few others waiting and a kill costs few.
    """
    if model.engine == "openai_api":
        return 2 * int(model.options.get("concurrency", ENDPOINT_CONCURRENCY))
    return VLLM_BATCH if model.engine == "vllm_offline" else 1


def request_sha256(request: ChatRequest, *, identity: ModelIdentity) -> str:
    """SHA-256 (hex) of a request and of the model that it goes to."""
    schema_ = dict(request.json_schema) if request.json_schema is not None else None
    parts: Mapping[str, Any] = {
        "model": asdict(identity),
        "system": request.system,
        "prompt": request.prefix + request.suffix,
        "max_output_tokens": request.max_output_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "stop": request.stop,
        "json_schema": schema_,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def prefix_sha256(reading: Reading) -> str:
    """SHA-256 (hex) of what a prompt shares with its neighbours: system text, NUL, prefix."""
    return hashlib.sha256(f"{reading.system}\0{reading.prefix}".encode()).hexdigest()


def cost_usd(reply: ChatReply, *, price: schema.Price) -> float:
    """US dollars of one call at the plan's prices."""
    computed = reply.prompt_tokens - reply.cached_tokens + reply.primed_tokens
    per_token = (
        computed * price.prompt_usd_per_mtok
        + reply.cached_tokens * price.cached_usd_per_mtok
        + reply.output_tokens * price.output_usd_per_mtok
    )
    return per_token / 1e6 + reply.wall_s / 3600 * price.engine_usd_per_hour


def new_call(
    reply: ChatReply,
    *,
    role: Call.Role,
    model: schema.Model,
    position: int,
    request_hash: str,
    worker: WorkerProcess,
) -> Call:
    """Return the unsaved record of one call; the caller names its owner and saves it."""
    return Call(
        role=role,
        model=model.key,
        served_model=reply.served_model,
        position=position,
        worker=worker,
        request_sha256=request_hash,
        reply_text=reply.text,
        finish_reason=reply.finish_reason,
        prompt_tokens=reply.prompt_tokens,
        cached_tokens=reply.cached_tokens,
        primed_tokens=reply.primed_tokens,
        output_tokens=reply.output_tokens,
        engine_s=reply.wall_s,
        cost_usd=cost_usd(reply, price=model.price),
    )


def embedder_call(
    *, embedder: schema.Embedder, position: int, wall_s: float, worker: WorkerProcess
) -> Call:
    """Return the unsaved record of the embedding of one job; embedders count no tokens."""
    return Call(
        role=Call.Role.EMBEDDER,
        model=embedder.key,
        position=position,
        worker=worker,
        request_sha256="",
        finish_reason="stop",
        engine_s=wall_s,
        cost_usd=wall_s / 3600 * embedder.price.engine_usd_per_hour,
    )


def keep_embedder_call(
    build: StoreBuild, *, plan: schema.StudyPlan, position: int, wall_s: float
) -> None:
    """Keep the record of what this process embedded for one store."""
    call = embedder_call(
        embedder=plan.embedder(build.embedder),
        position=position,
        wall_s=wall_s,
        worker=this_process(),
    )
    call.build = build
    call.save()
