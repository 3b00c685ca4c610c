"""`lc_raw`: the whole transcript, all of it in the prompt, the question last."""

from collections.abc import Mapping, Sequence
from typing import Any

from stores.formats.base import ProbeCoverage, Reading, WriteBudget, Written
from stores.formats.codes import DEFAULT_CODE_PATTERN
from stores.formats.content import canonical_json, event_from_json, event_to_json, parse_content
from stores.formats.coverage import Item, cover
from stores.formats.fence import event_line, event_lines
from stores.formats.prompts import DEFAULT_VERSION
from stores.formats.reading import shared_reading
from stores.roles import ChatModel, Embedder
from stores.workload.types import Event, History, Probe


class LcRaw:
    """The transcript, verbatim. Nobody writes it, so a model swap can only change its reading."""

    name = "lc_raw"
    needs_writer = False
    needs_embedder = False
    schema_version = ""

    def why_not_applicable(self, history: History) -> str:  # noqa: ARG002
        """Every history has a transcript."""
        return ""

    def write(
        self,
        history: History,
        *,
        writer: ChatModel | None,  # noqa: ARG002
        embedder: Embedder | None,  # noqa: ARG002
        budget: WriteBudget,  # noqa: ARG002
        prompts: str = DEFAULT_VERSION,  # noqa: ARG002
    ) -> Written:
        """Keep every event as it is."""
        rows = [event_to_json(event) for event in history.events]
        return Written(canonical_json({"format": self.name, "events": rows}))

    def read(
        self,
        content: bytes,
        probes: Sequence[Probe],
        *,
        embedder: Embedder | None,  # noqa: ARG002
        budget: WriteBudget,  # noqa: ARG002
        prompts: str = DEFAULT_VERSION,
    ) -> list[Reading]:
        """Show the whole transcript to every probe."""
        transcript = event_lines(_events(content))
        return [shared_reading(transcript, probe.question, prompts=prompts) for probe in probes]

    def describe(self, content: bytes) -> list[Mapping[str, Any]]:
        """One item per event."""
        return [
            {"item": event.key, "text": event_line(event), "events": [event.key]}
            for event in _events(content)
        ]

    def coverage(
        self,
        content: bytes,
        history: History,
        probes: Sequence[Probe],
        *,
        code_pattern: str = DEFAULT_CODE_PATTERN,
    ) -> list[ProbeCoverage]:
        """Everything is kept, unless the stored transcript is not this history's."""
        items = [Item(event.key, event.text) for event in _events(content)]
        return cover(items, history, probes, code_pattern=code_pattern)


def _events(content: bytes) -> list[Event]:
    return [event_from_json(row) for row in parse_content(content, "lc_raw")["events"]]
