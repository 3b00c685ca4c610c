"""Tables of calls, tokens, time and dollars: what was spent, and what was forecast."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis import page_tables as pt
from analysis import words
from analysis.page_tables import Column, PageTable, Row, Value
from analysis.templatetags.memport import duration, kind_name, usd
from experiments.run_costs import Cost

NO_COUNT = Value(None, "–")
TOKENS = (
    ("prompt_tokens", "Prompt tokens"), ("cached_tokens", "Cached"),
    ("computed_tokens", "Computed"), ("output_tokens", "Output"),
)  # fmt: skip
COST_COLUMNS = (
    Column("role", "Role"), Column("model", "Model"), Column("calls", "Calls", True),
    *(Column(key, title, True) for key, title in TOKENS),
    Column("engine_s", "Engine time", True), Column("cost_usd", "Cost, US dollars", True),
)  # fmt: skip
FORECAST_TOKENS = (
    ("prompt_tokens", "Prompt tokens"), ("computed_tokens", "Computed, prefixes reused"),
    ("output_tokens", "Output tokens"), ("output_limit_tokens", "At most"),
)  # fmt: skip
FORECAST_COLUMNS = (
    Column("role", "Role"), Column("model", "Model"), Column("calls", "Calls", True),
    *(Column(key, title, True) for key, title in FORECAST_TOKENS),
    Column("engine_s", "Engine time here", True), Column("gpu_hours", "GPU-hours", True),
    Column("cost_usd", "Cost, US dollars", True),
)  # fmt: skip
TAKEN = {
    "calls": "Calls", "prompt_tokens": "Prompt tokens",
    "computed_tokens": "Prompt tokens computed", "output_tokens": "Output tokens",
    "engine_s": "Engine time", "cost_usd": "Cost", "store_bytes": "Stores on disk",
    "answers": "Answers",
}  # fmt: skip
# In which unit the download of such a row is.
UNITS = {"engine_s": "s", "cost_usd": "US dollars", "store_bytes": "bytes"}


def cost_row(cost: Cost) -> dict[str, Value]:
    """The calls of one role and model."""
    return {
        "role": pt.text(cost.role),
        "model": pt.text(cost.model),
        "calls": pt.count(cost.calls),
        **{key: _count(getattr(cost, key)) for key, _ in TOKENS},
        "engine_s": pt.number(cost.engine_s, duration),
        "cost_usd": pt.number(cost.cost_usd, usd),
    }


def costs(spent: Sequence[Cost], *, labels: str = "") -> PageTable:
    """What one run cost, by role and model."""
    rows = tuple(cost_row(cost) for cost in spent)
    return PageTable("costs", "What it cost", COST_COLUMNS, rows, labels=labels)


def forecast_tables(forecast: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], PageTable]]:
    """What each migration test will take, by role and model; each table beside its test."""
    return [
        (
            test,
            PageTable(
                f"forecast-{test['test']}",
                f"Forecast of {kind_name(test['test'])}",
                FORECAST_COLUMNS,
                tuple(map(_forecast_row, test["lines"])),
            ),
        )
        for test in forecast.get("tests", ())
    ]


def _forecast_row(line: Mapping[str, Any]) -> Row:
    return {
        "role": pt.text(line["role"]),
        "model": pt.text(line["model"]),
        "calls": pt.count(line["calls"]),
        **{key: _count(line[key]) for key, _ in FORECAST_TOKENS},
        "engine_s": _amount(line["engine_s"], words.duration_words),
        "gpu_hours": _amount(line["gpu_hours"], "{:,.2f}".format),
        "cost_usd": _amount(line["cost_usd"], dollars),
    }


def beside_forecast(compared: Mapping[str, Any], *, labels: str = "") -> PageTable:
    """A run's forecast, what it really took, and the ratio of the two."""
    columns = (
        Column("what", "What"), Column("forecast", "Forecast", True),
        Column("actual", "Actual" if compared["finished"] else "Actual, so far", True),
        Column("ratio", "Actual / forecast", True),
    )  # fmt: skip
    rows = tuple(_beside(row) for row in compared["rows"])
    return PageTable("forecast", "Forecast and actual", columns, rows, labels=labels)


def _beside(row: Mapping[str, Any]) -> Row:
    what, expected, ratio = row["what"], row["forecast"], row["ratio"]
    title = TAKEN.get(what, what)
    return {
        "what": Value(title, title, more={"unit": UNITS.get(what, "")}),
        "forecast": Value(None, "not known", row["why_not"]) if expected is None
        else Value(expected, taken(expected, what)),
        "actual": Value(row["actual"], taken(row["actual"], what)),
        "ratio": NO_COUNT if ratio is None else pt.number(ratio, pt.ratio),
    }  # fmt: skip


def taken(value: float, what: str) -> str:
    """A value of forecast and actual in its unit."""
    if what == "engine_s":
        return words.duration_words(value)
    if what == "cost_usd":
        return dollars(value)
    return words.bytes_words(value) if what == "store_bytes" else f"{value:,.0f}"


def dollars(value: float) -> str:
    """US dollars; of small amounts two digits that count."""
    return f"${value:,.2f}" if value == 0 or value >= 1 else f"${value:.2g}"


def _count(number: int | None) -> Value:
    return NO_COUNT if number is None else pt.count(number)


def _amount(figure: Mapping[str, Any], write: pt.Write) -> Value:
    """An amount of a forecast, or why there is none."""
    if figure["value"] is None:
        return Value(None, "not known", words.reasons_by_word(figure["reason"]))
    return Value(figure["value"], write(figure["value"]))
