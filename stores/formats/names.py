"""Names of entities as people and models write them, made comparable."""

import re

from stores.formats.codes import fold

_WORD = re.compile(r"[^\W_]+")
# Words that a sentence may put before a name without making it another one.
_LEADING = frozenset({"a", "an", "the", "team", "project", "person"})

Name = tuple[str, ...]


def words(text: str) -> Name:
    """Return the words of a text, folded. `Mara's` gives two words, a code gives its parts."""
    return tuple(_WORD.findall(fold(text)))


def name_of(text: str) -> Name:
    """Return a name's words without a leading article or kind; () when nothing is left."""
    found = words(text)
    start = 0
    while start < len(found) and found[start] in _LEADING:
        start += 1
    return found[start:]


def mentions(text_words: Name, name: Name) -> bool:
    """Tell whether the name's words stand in the text, next to each other and in order."""
    width = len(name)
    if not width:
        return False
    return any(text_words[at : at + width] == name for at in range(len(text_words) - width + 1))
