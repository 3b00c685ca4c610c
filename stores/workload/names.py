"""Random names and value codes, each used once in a history.

Names are pronounceable and made up, so that no model knows anything about them; codes are the
values that probes ask for. A name is letters only and therefore never matches a code.
"""

from stores.workload.stream import Stream

CODE_PATTERN = r"[A-Z]{2}-\d{4}"

# fmt: off
_ONSETS = ("B", "Br", "D", "Dr", "F", "G", "Gr", "H", "J", "K", "Kl", "L", "M", "N", "P", "Pl",
           "R", "S", "Sk", "T", "Tr", "V", "Z")
_VOWELS = ("a", "e", "i", "o", "u")
_MIDDLES = ("b", "d", "f", "g", "k", "l", "lm", "ln", "m", "n", "nd", "nt", "p", "r", "rd", "rk",
            "rv", "s", "sk", "st", "t", "v", "z")
# fmt: on
# The two splits end their names differently: no name of a reported history can occur in a
# calibration history, whatever the seed.
_ENDINGS = {
    "study": ("ilk", "omb", "urd", "ept", "irb", "ulk", "onth", "esp", "arv", "oft", "und"),
    "calibration": ("alt", "elt", "ilt", "olt", "arn", "ern", "irn", "orn", "umb", "ang", "eng"),
}
# Letters that a reader cannot mistake for a digit.
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


class Names:
    """Hands out the names and codes of one history. Nothing is handed out twice."""

    def __init__(self, stream: Stream, *, split: str) -> None:
        self._stream = stream
        self._endings = _ENDINGS[split]
        self._stems: set[str] = set()
        self._codes: set[str] = set()

    def name(self) -> str:
        """Return a new name. No two share their first syllable and the consonant after it."""
        draw = self._stream
        while True:
            stem = draw.choice(_ONSETS) + draw.choice(_VOWELS) + draw.choice(_MIDDLES)
            # Names that begin alike would measure spelling, not memory; and two stems must not
            # be prefixes of each other either ("Bal", "Balm").
            if not any(stem.startswith(other) or other.startswith(stem) for other in self._stems):
                break
            if len(self._stems) > 900:
                stem += draw.choice(_VOWELS) + draw.choice(_MIDDLES)
                if stem not in self._stems:
                    break
        self._stems.add(stem)
        return stem + draw.choice(self._endings)

    def code(self) -> str:
        """Return a new code of the form that `CODE_PATTERN` finds."""
        draw = self._stream
        while True:
            letters = draw.choice(_CODE_LETTERS) + draw.choice(_CODE_LETTERS)
            code = f"{letters}-{draw.below(10_000):04d}"
            if code not in self._codes:
                self._codes.add(code)
                return code
