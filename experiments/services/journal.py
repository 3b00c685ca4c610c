"""A writer whose every reply is kept at once, so that a killed build pays for nothing twice."""

from collections import defaultdict, deque
from collections.abc import Sequence
from itertools import count

from experiments.models import Call, StoreBuild
from experiments.plan import schema
from experiments.runtime.processes import this_process
from experiments.services.execution import Work
from experiments.services.inputs import batch_size, new_call, request_sha256
from stores.roles import ChatModel, ChatReply, ChatRequest, FinishReason, ModelIdentity


class JournaledChat:
    """A chat model that commits each reply as a Call of its build before it hands it on.

    A build that is resumed gets the replies that its own earlier tries recorded, where the request
    and the model are the same. Nothing is taken from another build, run or repeat.
    """

    def __init__(
        self,
        inner: ChatModel,
        *,
        model: schema.Model,
        build: StoreBuild,
        work: Work,
        role: Call.Role = Call.Role.WRITER,
    ) -> None:
        self._inner, self._model, self._build, self._work = inner, model, build, work
        self._role = role
        self._recorded: dict[str, deque[Call]] = defaultdict(deque)
        calls = list(build.calls.filter(role=role).order_by("position"))
        for call in calls:
            self._recorded[call.request_sha256].append(call)
        last = build.calls.order_by("-position").values_list("position", flat=True).first()
        self.positions = count(0 if last is None else last + 1)

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model behind the journal."""
        return self._inner.identity

    @property
    def context_tokens(self) -> int:
        """The context of the model behind the journal."""
        return self._inner.context_tokens

    def count_tokens(self, text: str) -> int:
        """Count as the model behind the journal counts."""
        return self._inner.count_tokens(text)

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer from this build's own record, else ask the model and record each reply."""
        hashes = [request_sha256(request, identity=self.identity) for request in requests]
        replies = [self._replay(request_hash) for request_hash in hashes]
        missing = [n for n, reply in enumerate(replies) if reply is None]
        size = batch_size(self._model)
        for start in range(0, len(missing), size):
            batch = missing[start : start + size]
            self._work.check_stop()
            answered = self._inner.chat([requests[n] for n in batch])
            self._record([hashes[n] for n in batch], answered)
            for n, reply in zip(batch, answered, strict=True):
                replies[n] = reply
        return [reply for reply in replies if reply is not None]

    def forget(self) -> None:
        """Drop the cached prefixes of the model behind the journal."""
        self._inner.forget()

    def close(self) -> None:
        """Leave the model open: the pool owns it."""

    def _replay(self, request_hash: str) -> ChatReply | None:
        recorded = self._recorded[request_hash]
        return reply_of(recorded.popleft()) if recorded else None

    def _record(self, hashes: Sequence[str], replies: Sequence[ChatReply]) -> None:
        worker = this_process()
        with self._work.commit():
            for request_hash, reply in zip(hashes, replies, strict=True):
                call = new_call(
                    reply,
                    role=self._role,
                    model=self._model,
                    position=next(self.positions),
                    request_hash=request_hash,
                    worker=worker,
                )
                call.build = self._build
                call.save()


def reply_of(call: Call) -> ChatReply:
    """Return a recorded reply as the engine gave it."""
    reasons: dict[str, FinishReason] = {"stop": "stop", "length": "length", "refused": "refused"}
    return ChatReply(
        text=call.reply_text,
        finish_reason=reasons[call.finish_reason],
        prompt_tokens=call.prompt_tokens,
        cached_tokens=call.cached_tokens,
        primed_tokens=call.primed_tokens,
        output_tokens=call.output_tokens,
        wall_s=call.engine_s,
        served_model=call.served_model,
    )
