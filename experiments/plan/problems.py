"""What is wrong with a plan: every problem at once, each with its place."""

from collections.abc import Sequence
from dataclasses import dataclass

from stores.errors import InvalidInputError

Location = tuple[str | int, ...]
SHOWN_PROBLEMS = 10


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong; `line` counts from 1 and is 0 where there is no file."""

    at: Location
    what: str
    expected: str = ""
    hint: str = ""
    line: int = 0

    @property
    def field(self) -> str:
        """The place as the name of a form field: `models.0.key`."""
        return ".".join(str(part) for part in self.at)

    def where(self, source: str) -> str:
        """The place for people: `study.yaml, line 12, models[0].key`."""
        parts = [source, f"line {self.line}" if self.line else "", path_text(self.at)]
        return ", ".join(part for part in parts if part)


class InvalidPlanError(InvalidInputError):
    """A plan that cannot be taken. `problems` holds all of them; the message names each."""

    def __init__(self, problems: Sequence[Problem], *, source: str) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line))
        self.source = source
        first = self.problems[0]
        super().__init__(
            first.what, where=first.where(source), expected=first.expected, hint=first.hint
        )

    def sentence(self) -> str:
        """One line for each problem, the first ten of them."""
        lines = [
            InvalidInputError(
                problem.what,
                where=problem.where(self.source),
                expected=problem.expected,
                hint=problem.hint,
            ).sentence()
            for problem in self.problems[:SHOWN_PROBLEMS]
        ]
        if len(self.problems) > SHOWN_PROBLEMS:
            lines.append(f"… and {len(self.problems) - SHOWN_PROBLEMS} more.")
        return "\n".join(lines)

    def by_field(self) -> dict[str, list[str]]:
        """The problems of each form field; `""` holds those of the whole plan."""
        fields: dict[str, list[str]] = {}
        for problem in self.problems:
            error = InvalidInputError(problem.what, expected=problem.expected, hint=problem.hint)
            fields.setdefault(problem.field, []).append(error.sentence())
        return fields


def path_text(at: Location) -> str:
    """Write a place as people do: `models[0].key`."""
    text = ""
    for part in at:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
