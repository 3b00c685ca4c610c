"""How numbers are written: units, signs, and "undefined, because …" in one place."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.template.context import RequestContext
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from analysis.addresses import query_with
from analysis.cell_words import CellLike, extras_of, title_of
from analysis.labels import (
    FORMAT_HELP,
    FORMAT_NAMES,
    KIND_NAMES,
    METHOD_NAMES,
    OUTCOMES,
    REASON_WORDS,
    STATES,
)
from experiments.models import StoreBuild
from stores.counting import count_of

register = template.Library()
register.filter("cell_title", title_of)

MINUS = "−"
# Fields of a cell or a probe whose values are names that nobody changes.
AS_WRITTEN = ("writer", "reader", "embedder", "history", "probe", "index", "rung", "repeat")


def signed(value: float, digits: int = 1) -> str:
    """Write a number with its sign and a true minus: +3.2, −1.0, 0.0."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    return f"{'+' if value > 0 else MINUS}{text}"


@register.filter
def format_name(name: str) -> str:
    """The name of a memory format for people."""
    return FORMAT_NAMES.get(name, name)


@register.filter
def in_sentence(name: str) -> str:
    """A name as it stands within a sentence: its first letter small, RAG as it is."""
    return f"{name[:1].lower()}{name[1:]}"


@register.filter
def value_name(value: str, field: str) -> str:
    """What people call the value of a filter; the names of models and histories stay."""
    if field == "format":
        return format_name(value)
    if field in AS_WRITTEN:
        return FORMAT_NAMES["*"].lower() if value == "*" else value
    return METHOD_NAMES.get(value, value) if field == "repair" else kind_name(value)


@register.filter
def counted(number: int | None, noun: str) -> str:
    """A number with its noun: 1 history, 3 histories."""
    return "–" if number is None else count_of(int(number), noun)


@register.filter
def format_help(name: str) -> str:
    """What a memory format keeps, in a few words."""
    return FORMAT_HELP.get(name, "")


@register.filter
def kind_name(name: str) -> str:
    """The name of a probe kind for people."""
    return KIND_NAMES.get(name, name.replace("_", " "))


@register.filter
def reason_words(reason: str) -> str:
    """Why an answer is wrong, in words."""
    return REASON_WORDS.get(reason, reason.replace("_", " "))


@register.filter
def cell_extras(cell: CellLike) -> str:
    """The condition, index, repair, rung and repeat of a cell, where they are not the usual."""
    return ", ".join(extras_of(cell))


@register.filter
def build_extras(build: StoreBuild) -> str:
    """The index of a store that is built, or how it is derived or repaired from another one."""
    spec = build.spec
    parts = [f"index {spec['index']}"] if spec.get("index") else []
    parts += [str(spec["derived"]).replace("_", " ")] if spec.get("derived") else []
    parts += [f"repair {spec['repair']}, rung {spec['rung']}"] if spec.get("repair") else []
    return ", ".join(parts)


@register.filter
def verdict_css(verdict: Mapping[str, Any]) -> str:
    """The style of a verdict: good, bad, warn or none."""
    return OUTCOMES.get(str(verdict["outcome"]), ("", ""))[0]


@register.filter
def verdict_sign(verdict: Mapping[str, Any]) -> str:
    """The sign of a verdict."""
    return OUTCOMES.get(str(verdict["outcome"]), ("", "•"))[1]


@register.filter
def state_label(state: str) -> SafeString:
    """The state of a run, a job or a gate as a label."""
    css, words = STATES.get(str(state), ("", str(state)))
    return format_html('<span class="label {}">{}</span>', css, words)


@register.simple_tag
def answers_url(key: str, entry: Mapping[str, Any], writer: str, reader: str, **more: str) -> str:
    """The address of the answers behind one cell of a study, with more filters where given."""
    filters = {"format": entry["format"], "reader": reader, "condition": "normal", "repeat": "0"}
    # The indexes of an embedding upgrade are cells of the same format.
    filters |= {"embedder": entry["embedder"]} if entry.get("embedder") else {}
    filters["index"] = "none"
    if entry["written"]:
        filters["writer"] = writer
    return f"{reverse('answers', args=[key])}?{urlencode({**filters, **more})}"


@register.filter
def percent(figure: Any, digits: int = 1) -> SafeString | str:
    """Write a fraction, or a figure holding one, as a percentage."""
    return _figure(figure, lambda value: f"{100 * value:.{digits}f} %")


@register.filter
def pp(figure: Any, digits: int = 1) -> SafeString | str:
    """Write a number of percentage points, or a figure holding one."""
    return _figure(figure, lambda value: f"{signed(value, digits)} pp")


@register.filter
def p_value(figure: Any) -> SafeString | str:
    """Write a p-value; a very small one as its bound."""
    return _figure(figure, lambda value: "< 0.001" if value < 0.001 else f"{value:.3f}")


@register.filter
def ratio(figure: Any, digits: int = 2) -> SafeString | str:
    """Write a ratio such as retained performance: 0.87."""
    return _figure(figure, lambda value: f"{value:.{digits}f}".replace("-", MINUS))


@register.filter
def change(figure: Any, digits: int = 3) -> SafeString | str:
    """Write a difference of two fractions with its sign: −0.359."""
    return _figure(figure, lambda value: signed(value, digits))


def _figure(figure: Any, write: Any) -> SafeString | str:
    if figure is None or figure == "":
        return "–"
    if isinstance(figure, Mapping):
        status = figure.get("status", "ok")
        if status != "ok" or figure.get("value") is None:
            return undefined(figure)
        figure = figure["value"]
    return str(write(float(figure)))


@register.filter
def undefined(figure: Mapping[str, Any]) -> SafeString:
    """Write why a figure has no value."""
    status = "unreachable" if figure.get("status") == "unreachable" else "undefined"
    reason = str(figure.get("reason") or "no reason was kept")
    reason = reason.removeprefix(f"{status}: ").removeprefix(f"{status}, because ")
    return format_html('<span class="undefined">{}: {}</span>', status, reason)


@register.filter
def interval_pp(estimate: Any) -> str:
    """Write a 95 % interval in percentage points: −8.0 to +1.8."""
    if not isinstance(estimate, Mapping) or estimate.get("low") is None:
        return ""
    return f"{signed(estimate['low'])} to {signed(estimate['high'])}"


@register.filter
def duration(seconds: Any) -> str:
    """Write seconds as people say them: 0.4 s, 48 s, 3 min 20 s, 2 h 5 min."""
    if seconds is None or seconds == "":
        return "–"
    total = float(seconds)
    if total < 10:
        return f"{total:.1f} s"
    whole = round(total)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@register.filter
def usd(amount: Any) -> str:
    """Write US dollars; small amounts keep the digits that they have."""
    if amount is None or amount == "":
        return "–"
    value = float(amount)
    if value == 0:
        return "$0"
    if value < 0.0001:
        return "less than $0.0001"
    return f"${value:.2f}" if value >= 1 else f"${value:.4f}"


@register.filter
def bytes_text(size: Any) -> str:
    """Write a size in bytes or KiB (1,024 bytes)."""
    if size is None or size == "":
        return "–"
    return f"{int(size):,} bytes" if int(size) < 4096 else f"{int(size) / 1024:,.1f} KiB"


@register.filter
def short_hash(text: str) -> str:
    """The first twelve digits of a checksum."""
    return str(text)[:12]


@register.filter
def item(mapping: Mapping[Any, Any], key: Any) -> Any:
    """Look a key up; None where it is missing."""
    return mapping.get(key) if mapping else None


@register.simple_tag(takes_context=True)
def query(context: RequestContext, **changes: Any) -> str:
    """The query string of this page with some of its filters changed; None removes one."""
    return _changed(context, changes)


@register.simple_tag(takes_context=True)
def pager(context: RequestContext, name: str, number: int) -> str:
    """The query string of another page of the list that `name` counts."""
    return _changed(context, {name or "page": number, "event": None})


@register.simple_tag(takes_context=True)
def query_without(context: RequestContext, name: str) -> str:
    """The query string of this page without one filter."""
    return _changed(context, {name: None, "page": None})


def _changed(context: RequestContext, changes: Mapping[str, Any]) -> str:
    return query_with(context["request"].GET.dict(), changes)


@register.inclusion_tag("_chart.html")
def chart(figure: Mapping[str, Any], name: str, description: str) -> dict[str, Any]:
    """Place a figure that `analysis.charts` made; without JavaScript a line points to the table."""
    return {"figure": figure, "name": name, "id": f"figure-{name}", "description": description}


@register.filter
def scripted(plan: Mapping[str, Any]) -> bool:
    """Whether any model or embedder of a plan is the scripted engine, which is no model."""
    parts = [*plan.get("models", ()), *plan.get("embedders", ())] if plan else []
    return any(part.get("engine") == "scripted" for part in parts)


@register.filter
def without(text: str, beginning: str) -> str:
    """The text without a beginning that a label beside it says already."""
    return str(text).removeprefix(beginning)


@register.filter
def total(counts: Mapping[str, int]) -> int:
    """The sum of the counts of a mapping."""
    return sum(counts.values())


@register.filter
def thousands(number: Any) -> str:
    """Write a count with thousands separators; a dash where it is not counted."""
    return "–" if number is None else f"{int(number):,}"
