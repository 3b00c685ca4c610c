"""Random names and value codes, each used once in a history.

Names are pronounceable and made up, so that no model knows anything about them; codes are the
values that probes ask for. A name is letters only and therefore never matches a code.
"""

from stores.workload.stream import Stream

CODE_PATTERN = r"[A-Z]{2}-\d{2,4}"

# fmt: off
_ONSETS = ("B", "Br", "D", "Dr", "F", "G", "Gr", "H", "J", "K", "Kl", "L", "M", "N", "P", "Pl",
           "R", "S", "Sk", "T", "Tr", "V", "Z")
_VOWELS = ("a", "e", "i", "o", "u")
_MIDDLES = ("b", "d", "f", "g", "k", "l", "lm", "ln", "m", "n", "nd", "nt", "p", "r", "rd", "rk",
            "rv", "s", "sk", "st", "t", "v", "z")
# fmt: on
# The two splits end their names differently: no name of a reported history can occur in a
# calibration history, whatever the seed. A name of one open syllable more is two tokens for most
# models; one that ends in consonants would be three or four, in every event and every answer.
_ENDINGS = {"study": ("a", "o"), "calibration": ("i", "u")}
# Words of the language: a memory with a person called Data would measure reading, not memory.
_WORDS = frozenset(
    {"Banda", "Bravo", "Data", "Demo", "Dodo", "Drama", "Gala", "Gusto", "Hero", "Java", "Judo",
     "Kilo", "Lava", "Limo", "Logo", "Mama", "Memo", "Meta", "Nota", "Nova", "Panda", "Papa",
     "Pasta", "Pesto", "Pinto", "Plaza", "Polo", "Rondo", "Saga", "Santa", "Silo", "Soda",
     "Sofa", "Solo", "Tuna", "Tutu", "Veto", "Visa", "Vista", "Zero"}
)  # fmt: skip
# Letters that a reader cannot mistake for a digit.
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


class Names:
    """Hands out the names and codes of one history. Nothing is handed out twice."""

    def __init__(self, stream: Stream, *, split: str, code_digits: int) -> None:
        self._stream = stream
        self._endings = _ENDINGS[split]
        self._code_digits = code_digits
        self._stems: set[str] = set()
        self._names: set[str] = set()
        self._codes: set[str] = set()

    def name(self) -> str:
        """Return a new name. No two share their first syllable and the consonant after it."""
        draw = self._stream
        while (name := self._new_stem() + draw.choice(self._endings)) in _WORDS:
            pass
        self._names.add(name)
        return name

    def _new_stem(self) -> str:
        draw = self._stream
        while True:
            stem = draw.choice(_ONSETS) + draw.choice(_VOWELS) + draw.choice(_MIDDLES)
            # Names that begin alike would measure spelling, not memory; and two stems must not
            # be prefixes of each other either ("Bal", "Balm").
            if not any(stem.startswith(other) or other.startswith(stem) for other in self._stems):
                break
            if len(self._stems) > 900:
                name = stem + draw.choice(_VOWELS)
                stem = name + draw.choice(_MIDDLES)
                if stem not in self._stems and name not in self._names:
                    break
        self._stems.add(stem)
        return stem

    def code(self) -> str:
        """Return a new code of the form that `CODE_PATTERN` finds."""
        draw = self._stream
        while True:
            letters = draw.choice(_CODE_LETTERS) + draw.choice(_CODE_LETTERS)
            number = draw.below(10**self._code_digits)
            code = f"{letters}-{number:0{self._code_digits}d}"
            if code not in self._codes:
                self._codes.add(code)
                return code
