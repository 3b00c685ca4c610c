"""Cutting a rendered chat template at the places where a request's own text goes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stores.roles import EngineError

# Private-use characters: no template writes them, and no tokenizer is asked about them.
SYSTEM_MARK = "\ue0a0\ue0a1"
USER_MARK = "\ue0b0\ue0b1"

Messages = Sequence[dict[str, str]]
Render = Callable[[Messages], str]


@dataclass(frozen=True, slots=True)
class TemplateParts:
    """The prompt is `head + system + middle + user + tail`; `middle` is '' without a system."""

    head: str
    middle: str
    tail: str


def split_template(render: Render, *, with_system: bool) -> TemplateParts:
    """Render a chat of marks and cut it there.

    Raises `EngineError` where the template does not write each text once, in order, as it is.
    """
    user = {"role": "user", "content": USER_MARK}
    if not with_system:
        return _cut(render([user]), (USER_MARK,))
    return _cut(
        render([{"role": "system", "content": SYSTEM_MARK}, user]), (SYSTEM_MARK, USER_MARK)
    )


def _cut(text: str, marks: tuple[str, ...]) -> TemplateParts:
    if any(text.count(mark) != 1 for mark in marks):
        raise EngineError(
            "the model's chat template does not write the system and the user's text exactly once "
            "each; memport cannot tell where a shared prefix would end."
        )
    head, rest = text.split(marks[0])
    if len(marks) == 1:
        return TemplateParts(head, "", rest)
    if marks[1] not in rest:
        raise EngineError("the model's chat template puts the user's text before the system's.")
    middle, tail = rest.split(marks[1])
    return TemplateParts(head, middle, tail)
