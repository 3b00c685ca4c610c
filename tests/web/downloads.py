"""What a person gets who downloads a table of a page."""

import csv
import io

from django.test import Client


def table_of(client: Client, path: str, name: str, *, sort: str = "") -> list[dict[str, str]]:
    """Return the rows of the table `name` of a page as its download holds them."""
    mark = "&" if "?" in path else "?"
    query = f"{mark}csv={name}" + (f"&sort={sort}" if sort else "")
    response = client.get(path + query)
    assert response.status_code == 200, path
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"].endswith('.csv"')
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))


def column(client: Client, path: str, name: str, key: str, *, sort: str = "") -> list[str]:
    """Return one column of such a table."""
    return [row[key] for row in table_of(client, path, name, sort=sort)]
