"""Numbers with their nouns, as people say them."""


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where there is not just one.

    Examples
    --------
    >>> count_of(1, "history"), count_of(3, "history"), count_of(1200, "failed store")
    ('1 history', '3 histories', '1,200 failed stores')
    """
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def was_or_were(number: int) -> str:
    """Return the verb of a counted noun.

    Examples
    --------
    >>> was_or_were(1), was_or_were(2)
    ('was', 'were')
    """
    return "was" if number == 1 else "were"
