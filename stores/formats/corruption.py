"""Corrupted stores: the evidence codes of some probes replaced by codes that nothing else uses.

They show that a reader answers from its memory: the more of it is wrong, the worse it must do.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stores.errors import InvalidInputError
from stores.formats.base import Written
from stores.formats.codes import compile_code_pattern, find_codes, fold, plain_dashes
from stores.formats.content import canonical_json, parse_content
from stores.workload.types import History, Probe

# Part of a derived store's identity: raise it when the choice of probes or codes changes.
CORRUPTION_VERSION = "corrupt/1"
DOSES = (25, 50, 75)
# Format → the list in its content, and the texts of each entry that may hold a code.
_TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "lc_raw": ("events", ("text",)),
    "rag": ("chunks", ("text",)),
    "notes": ("notes", ("text",)),
    "kg_fixed": ("claims", ("subject", "object", "source")),
}
_LETTERS, _DIGITS = "ABCDEFGHJKLMNPQRSTUVWXYZ", "0123456789"
_TRIES = 10_000


def corrupted_probes(probes: Sequence[Probe], *, percent: int, seed: int) -> tuple[str, ...]:
    """Return the keys of the probes whose evidence is corrupted, in the order of the draw.

    The order is a hash of the seed and the probe, so that a smaller dose is a part of each larger
    one. The number is the nearest to `percent` of all.
    """
    order = sorted(probes, key=lambda p: (_digest(seed, p.history, p.key), p.key))
    return tuple(probe.key for probe in order[: (len(probes) * percent + 50) // 100])


def corrupt(
    format_name: str,
    content: bytes,
    history: History,
    probes: Sequence[Probe],
    *,
    percent: int,
    seed: int,
    code_pattern: str,
) -> Written:
    """Return a store's content with the evidence codes of `percent` % of the probes replaced.

    A code is replaced by the same other one wherever it stands and at every dose. Vectors of
    chunks stay as they are: retrieval is not what this measures.

    Raises
    ------
    InvalidInputError
        The evidence of the probes holds no code, or no unused code of the pattern can be made.
    """
    mapping = replacements(history, probes, seed=seed, code_pattern=code_pattern)
    chosen = set(corrupted_probes(probes, percent=percent, seed=seed))
    codes = {
        code
        for probe in probes
        if probe.key in chosen
        for code in _evidence_codes(history, probe, code_pattern)
    }
    stored = parse_content(content, format_name)
    rows, names = _TEXTS[format_name]
    taken = {code: mapping[code] for code in codes}
    stored[rows] = [
        {
            name: _replaced(value, taken, code_pattern) if name in names else value
            for name, value in row.items()
        }
        for row in stored[rows]
    ]
    notice = (
        f"A derived store: the evidence codes of {len(chosen)} of {len(probes)} probes "
        f"({percent} %) were replaced by unused codes."
    )
    return Written(canonical_json(stored), schema_version=CORRUPTION_VERSION, notices=(notice,))


def _replaced(text: str, taken: Mapping[str, str], code_pattern: str) -> str:
    """Replace codes, also those with another kind of dash; the rest of the text stays as it is."""
    pieces, end = [], 0
    for match in compile_code_pattern(code_pattern).finditer(plain_dashes(text)):
        other = taken.get(fold(match.group()).upper())
        if other is not None:
            pieces += [text[end : match.start()], other]
            end = match.end()
    return "".join([*pieces, text[end:]])


def replacements(
    history: History, probes: Sequence[Probe], *, seed: int, code_pattern: str
) -> dict[str, str]:
    """Return an unused code for every code in the evidence of all probes."""
    used = {code for event in history.events for code in find_codes(event.text, code_pattern)}
    needed = sorted({c for probe in probes for c in _evidence_codes(history, probe, code_pattern)})
    if not needed:
        raise InvalidInputError(
            f"no evidence of history {history.key!r} holds a code, so that none can be corrupted",
            where="tests.gates.doses",
        )
    mapping: dict[str, str] = {}
    for code in needed:
        mapping[code] = _unused(code, used, seed=seed, where=history.key, pattern=code_pattern)
        used.add(mapping[code])
    return mapping


def _evidence_codes(history: History, probe: Probe, pattern: str) -> Iterator[str]:
    for key in probe.evidence:
        yield from find_codes(history.event(key).text, pattern)


def _unused(code: str, used: set[str], *, seed: int, where: str, pattern: str) -> str:
    """Return another code of the same shape; where only digits may vary, only they do."""
    for letters in (_LETTERS, ""):
        for number in range(_TRIES):
            other = _varied(code, _digest(seed, where, code, str(number)), letters)
            if other not in used and find_codes(other, pattern) == (other,):
                return other
    raise InvalidInputError(
        f"no unused code like {code!r} can be made from the pattern", where="scoring.code_pattern"
    )


def _varied(code: str, digest: bytes, letters: str) -> str:
    return "".join(
        _DIGITS[byte % len(_DIGITS)]
        if character.isdigit()
        else letters[byte % len(letters)]
        if character.isalpha() and letters
        else character
        for character, byte in zip(code, _stretch(digest, len(code)), strict=True)
    )


def _stretch(digest: bytes, length: int) -> bytes:
    return (digest * (length // len(digest) + 1))[:length]


def _digest(seed: int, *parts: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *parts)).encode()).digest()


def dose_of(condition: str) -> int | None:
    """Return the percentage of a `corrupt_p` condition; None for any other."""
    doses: Mapping[str, Any] = {f"corrupt_{percent}": percent for percent in DOSES}
    return doses.get(condition)
