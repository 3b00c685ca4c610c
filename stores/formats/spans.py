"""Free text made comparable: tokens without case, punctuation and articles, as SQuAD does it."""

import unicodedata

from stores.formats.codes import fold

ARTICLES = frozenset({"a", "an", "the"})


def normalized_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text: NFKC, case folded, punctuation and articles removed.

    As in SQuAD's scorer punctuation is deleted, not replaced by a space, so that `don't` is one
    token `dont`; dashes alone become spaces, so that `well-known` and `well known` agree.
    """
    folded = fold(text).replace("-", " ")
    kept = "".join(c for c in folded if not unicodedata.category(c).startswith(("P", "S")))
    return tuple(token for token in kept.split() if token not in ARTICLES)
