"""Histories and their probes read together: what each says must hold in the other."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from stores.errors import InvalidInputError
from stores.formats.codes import compile_code_pattern, find_codes, fold
from stores.formats.spans import normalized_tokens
from stores.workload.jsonl import read_history, read_probe
from stores.workload.names import CODE_PATTERN
from stores.workload.probes_csv import read_rows
from stores.workload.record import Record, nearest, parse_json
from stores.workload.source_file import Limits, SourceFile, lines
from stores.workload.types import History, Probe


@dataclass(slots=True)
class Counts:
    """What was read, and what deserves a second look."""

    histories: int = 0
    events: int = 0
    probes: int = 0
    # Free-text answers that stand in none of their evidence events: paraphrases.
    answers_not_in_evidence: int = 0
    probes_without_evidence: int = 0
    unknown_fields: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bundle:
    """Everything that two files hold; valid only without problems."""

    histories: tuple[History, ...]
    problems: tuple[InvalidInputError, ...]
    counts: Counts
    # File name → SHA-256 of its bytes.
    files: Mapping[str, str] = field(default_factory=dict)

    def source_detail(self) -> dict[str, Any]:
        """Return where these histories come from, ready to be kept with them."""
        return {"files": dict(self.files), "counts": asdict(self.counts)}

    def require_valid(self) -> "Bundle":
        """Return itself, or raise the first problem, saying how many more there are."""
        if self.problems:
            first, more = self.problems[0], len(self.problems) - 1
            hint = f"{first.hint} " if first.hint else ""
            if more:
                hint += f"There is more ({more}); `memport histories validate` lists all"
            raise InvalidInputError(
                first.what, where=first.where, expected=first.expected, hint=hint.strip()
            )
        return self


def read_bundle(
    histories_file: SourceFile,
    probes_file: SourceFile,
    *,
    code_pattern: str = CODE_PATTERN,
    limits: Limits | None = None,
    ignore_unknown: bool = False,
) -> Bundle:
    """Read both files and check them against each other. Bad input ends in `problems`.

    A probe's answer must be in its evidence: for `code` scoring the answer is one code and stands
    in the text of an evidence event; for `exact` its normalized words stand there. With `token_f1`
    the answer may be a paraphrase, and the evidence may be empty; both are counted. Reading stops
    once `limits.problems` faults are found.

    Raises
    ------
    InvalidInputError
        Only for an unsafe `code_pattern`.
    """
    limits, counts = limits or Limits(), Counts()
    compile_code_pattern(code_pattern)
    problems: list[InvalidInputError] = []
    unknown = counts.unknown_fields if ignore_unknown else None
    histories: dict[str, History] = {}
    places: dict[str, str] = {}
    broken: set[str] = set()
    for where, value in _records(histories_file, limits, problems):
        record = Record(value, where=where, problems=problems, limits=limits)
        history = read_history(record, problems=problems, unknown=unknown)
        if history.key in places:
            record.fault(
                "key",
                f"{history.key!r} is the key of {places[history.key]} too",
                expected="each history once",
            )
        places.setdefault(history.key, where)
        histories.setdefault(history.key, history)
        if not record.sound:
            broken.add(history.key)
    checked = _ProbeChecks(histories, broken, bool(problems), code_pattern, counts)
    by_history: dict[str, list[Probe]] = {key: [] for key in histories}
    for where, value in _records(probes_file, limits, problems):
        record = Record(value, where=where, problems=problems, limits=limits)
        probe = read_probe(record, unknown=unknown)
        checked.check(probe, record)
        by_history.get(probe.history, []).append(probe)
    complete = tuple(replace(h, probes=tuple(by_history[h.key])) for h in histories.values())
    counts.histories = len(complete)
    counts.events = sum(len(h.events) for h in complete)
    counts.probes = sum(len(h.probes) for h in complete)
    files = {f.name: hashlib.sha256(f.data).hexdigest() for f in (histories_file, probes_file)}
    return Bundle(complete, tuple(problems[: limits.problems]), counts, files)


def _records(
    source: SourceFile, limits: Limits, problems: list[InvalidInputError]
) -> Iterable[tuple[str, Any]]:
    """Yield the place and the value of every line that can be parsed; note the others."""
    try:
        if source.name.endswith(".csv"):
            for number, row in read_rows(source, limits):
                if len(problems) >= limits.problems:
                    return
                yield f"{source.name} line {number}", row
            return
        numbered = lines(source, limits)
    except InvalidInputError as error:
        problems.append(error)
        return
    for number, line in numbered:
        if len(problems) >= limits.problems:
            return
        where = f"{source.name} line {number}"
        try:
            yield where, parse_json(line, where=where)
        except InvalidInputError as error:
            problems.append(error)


@dataclass(slots=True)
class _ProbeChecks:
    """What a probe says about its history, checked."""

    histories: dict[str, History]
    broken: set[str]
    histories_incomplete: bool
    code_pattern: str
    counts: Counts
    places: dict[tuple[str, str], str] = field(default_factory=dict)

    def check(self, probe: Probe, record: Record) -> None:
        """Note what does not hold. A probe of a history with faults of its own is let pass."""
        place = (probe.history, probe.key)
        if place in self.places:
            record.fault(
                "key",
                f"{probe.key!r} is the key of {self.places[place]} too, in the same history",
                expected="each probe of a history once",
            )
        self.places.setdefault(place, record.where)
        if not record.sound or probe.history in self.broken:
            return
        history = self.histories.get(probe.history)
        if history is None and self.histories_incomplete:
            return  # it may be the one that could not be read
        if history is None:
            hint = nearest(probe.history, list(self.histories))
            record.fault("history", f"there is no history {probe.history!r}", hint=hint)
            return
        known = {event.key: event.text for event in history.events}
        for event in probe.evidence:
            if event not in known:
                record.fault(
                    "evidence",
                    f"history {history.key!r} has no event {event!r}",
                    hint=nearest(event, list(known)),
                )
                return
        self._check_answer(probe, [known[event] for event in probe.evidence], record)

    def _check_answer(self, probe: Probe, texts: list[str], record: Record) -> None:
        method = probe.scoring.method
        if not texts:
            if method != "token_f1":
                record.fault("evidence", "is empty", expected="the events that hold the answer")
            self.counts.probes_without_evidence += 1
            return
        if method == "code":
            codes = find_codes(probe.answer, self.code_pattern)
            if len(codes) != 1 or fold(codes[0]) != fold(probe.answer):
                record.fault(
                    "answer",
                    f"{probe.answer[:60]!r} is not one code of the form {self.code_pattern}",
                    hint='For other answers set "scoring" to "exact" or "token_f1"',
                )
                return
            found = any(codes[0] in find_codes(text, self.code_pattern) for text in texts)
        else:
            found = any(_holds(text, probe.answer) for text in texts)
        if not found and method == "token_f1":
            self.counts.answers_not_in_evidence += 1
        elif not found:
            record.fault(
                "answer",
                f"{probe.answer[:60]!r} is not in its evidence ({', '.join(probe.evidence[:5])})",
                expected="an answer that stands in the text of an evidence event",
            )


def _holds(text: str, answer: str) -> bool:
    """Whether the answer's tokens, as the scorers see them, stand in the text in a row."""
    wanted = normalized_tokens(answer)
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(normalized_tokens(text))} "
