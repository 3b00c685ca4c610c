"""Tables that are sorted in the database sort on a real PostgreSQL as well."""

import csv
import io
from collections.abc import Sequence

from analysis import history_tables, run_tables, selectors, store_tables
from analysis.long_tables import LongTable
from stores.models import History
from tests.answered import answered_study


def rows_of(table: LongTable, order: str) -> list[dict[str, str]]:
    """The rows of a table in an order, as its download holds them."""
    text = "".join(table.in_order(order).csv_lines())
    return list(csv.DictReader(io.StringIO(text)))


def in_order(values: Sequence[str], *, down: bool) -> bool:
    """Whether numbers stand in order and blanks at the end."""
    known = [float(value) for value in values if value]
    return known == sorted(known, reverse=down) and not any(values[len(known) :])


def test_every_column_of_a_long_table_can_be_sorted_by(postgres_database: str) -> None:
    study = answered_study(n_histories=2)
    run, history = study.runs.first(), History.objects.first()
    assert run is not None
    assert history is not None
    cells = selectors.cells_of(history, study, filters={})
    tables = (
        run_tables.evaluations(run),
        run_tables.builds(run),
        history_tables.histories(selectors.histories(study.workspace)),
        history_tables.probes(history, study, {}),
        history_tables.heat(history, study, cells, {}),
        store_tables.stores(selectors.stores(study.workspace)),
    )
    for table in tables:
        plain = rows_of(table, "")
        assert plain, table.key
        for column in table.columns:
            for sign in ("", "-"):
                rows = rows_of(table, f"{sign}{table.key}.{column.key}")
                assert len(rows) == len(plain)
                if column.number:
                    values = [row[column.key] for row in rows]
                    assert in_order(values, down=bool(sign)), (table.key, column.key)
