"""A plan's text → plain values and the line of each, with duplicate keys refused."""

import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import yaml

from experiments.plan.problems import InvalidPlanError, Location, Problem

# A plan is a page of text; anything much larger is another kind of file.
MAX_PLAN_BYTES = 1024 * 1024
MAX_DEPTH = 20


@dataclass(slots=True)
class PlanText:
    """The values of a plan, and on which line of its file each one stands."""

    source: str
    value: Any = None
    lines: dict[Location, int] = field(default_factory=dict)

    def line(self, at: Location) -> int:
        """The line of a place, or of the nearest part above it; 0 where nothing is known."""
        for length in range(len(at), -1, -1):
            if at[:length] in self.lines:
                return self.lines[at[:length]]
        return 0

    def fail(self, what: str, *, line: int, at: Location = (), hint: str = "") -> InvalidPlanError:
        """Return the error of one problem in this text."""
        return InvalidPlanError([Problem(at, what, hint=hint, line=line)], source=self.source)


class _Loader(yaml.SafeLoader):
    """SafeLoader without aliases: a plan of nine lines must not expand to a billion values."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not taken", mark)
        return super().compose_node(parent, index)


def read_plan_text(data: bytes, *, source: str) -> PlanText:
    """Parse YAML or JSON; `source` is the file's name for messages.

    Raises
    ------
    InvalidPlanError
        Not UTF-8, not YAML, a key given twice, an alias, too large or too deep.
    """
    text = PlanText(source)
    if len(data) > MAX_PLAN_BYTES:
        raise text.fail(
            f"the file has {len(data):,} bytes, a plan has at most {MAX_PLAN_BYTES:,}", line=0
        )
    try:
        written = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise text.fail("the file is not UTF-8 text", line=line) from None
    if source.lower().endswith(".json"):
        written = _checked_json(text, written)
    try:
        loader = _Loader(written)
        node = loader.get_single_node()
        if node is not None:
            text.value = _value(text, loader, node, ())
    except yaml.YAMLError as error:
        raise _yaml_problem(text, error) from None
    except RecursionError:
        raise text.fail("the file is nested too deeply", line=0) from None
    if not isinstance(text.value, dict):
        raise text.fail("this is no study plan: its top level is no mapping", line=1)
    return text


def _checked_json(text: PlanText, written: str) -> str:
    """Refuse bad JSON in JSON's own words; tabs, which YAML refuses, become spaces."""
    try:
        json.loads(written)
    except json.JSONDecodeError as error:
        raise text.fail(
            f"not JSON: {error.msg} (column {error.colno})", line=error.lineno
        ) from None
    return written.replace("\t", " ")


def _yaml_problem(text: PlanText, error: yaml.YAMLError) -> InvalidPlanError:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    line = mark.line + 1 if mark is not None else 0
    return text.fail(f"not YAML: {what}", line=line)


def _value(text: PlanText, loader: _Loader, node: yaml.Node, at: Location) -> Any:
    """Build a node's value and note the line of everything in it."""
    if len(at) > MAX_DEPTH:
        raise text.fail("the file is nested too deeply", line=node.start_mark.line + 1)
    text.lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(text, loader, node, at)
    if isinstance(node, yaml.SequenceNode):
        return [_value(text, loader, item, (*at, n)) for n, item in enumerate(node.value)]
    return loader.construct_object(node)


def _mapping(
    text: PlanText, loader: _Loader, node: yaml.MappingNode, at: Location
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key: Hashable = (
            loader.construct_object(key_node) if isinstance(key_node, yaml.ScalarNode) else None
        )
        if not isinstance(key, str):
            raise text.fail(
                "a key must be text", line=line, at=at, hint="Write it in quotes if it is a number"
            )
        if key in result:
            first = text.lines[(*at, key)]
            raise text.fail(
                f"the key {key!r} is given twice, first on line {first}",
                line=line,
                at=(*at, key),
                hint="Keep one of them",
            )
        text.lines[(*at, key)] = line
        result[key] = _value(text, loader, value_node, (*at, key))
    return result
