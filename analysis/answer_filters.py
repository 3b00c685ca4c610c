"""What an address of answers means: the same for a study that was run and for one from a table."""

from collections.abc import Mapping

# In an address: the cells that have no index, no repair, no rung; and those with any or none.
NONE, ANY = "none", "any"
EMPTY = {"index": "", "repair": "", "rung": "0"}


def meant(filters: Mapping[str, str]) -> dict[str, str]:
    """Return the filters that an address means; what may be anything is left out.

    An address that names a format and no repair means what was not repaired.

    Examples
    --------
    >>> meant({"format": "notes"}), meant({"format": "notes", "repair": "any"}), meant({})
    ({'format': 'notes', 'repair': 'none'}, {'format': 'notes'}, {})
    """
    wanted = {"repair": NONE, **filters} if "format" in filters else dict(filters)
    anything = [name for name, value in wanted.items() if name in EMPTY and value == ANY]
    return {name: value for name, value in wanted.items() if value and name not in anything}
