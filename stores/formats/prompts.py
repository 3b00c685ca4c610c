"""Prompts are files, versioned and hashed: `prompts/<version>/<name>.txt`.

A file has the sections `[[system]]`, `[[prefix]]` and `[[suffix]]`. The hash is over the file's
bytes, so that a changed comma is another prompt. Names in braces are filled in by `filled`, once
and in one pass: what is filled in is never searched for braces itself.
"""

import functools
import hashlib
import re
from dataclasses import dataclass
from importlib import resources

from stores.errors import InvalidInputError

DEFAULT_VERSION = "v2"
_SECTION = re.compile(r"^\[\[(system|prefix|suffix)\]\]\n", re.MULTILINE)
_SLOT = re.compile(r"\{(events|memory|notes|predicates|question|records)\}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file: its three parts, and what identifies it."""

    name: str
    version: str
    sha256: str
    system: str
    prefix: str
    suffix: str


def prompt_versions() -> tuple[str, ...]:
    """Return the versions that this memport carries."""
    folder = resources.files("stores.formats") / "prompts"
    return tuple(sorted(entry.name for entry in folder.iterdir() if entry.is_dir()))


@functools.cache
def load_prompt(name: str, version: str = DEFAULT_VERSION) -> Prompt:
    """Load one prompt; raise InvalidInputError for a version or a name that is not there."""
    if not _VERSION.fullmatch(version) or version not in prompt_versions():
        raise InvalidInputError(
            f"there is no prompt version {version!r}",
            where="prompts", expected=f"one of {', '.join(prompt_versions())}",
        )  # fmt: skip
    file = resources.files("stores.formats") / "prompts" / version / f"{name}.txt"
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise InvalidInputError(
            f"prompt version {version!r} has no prompt {name!r}", where="prompts"
        ) from None
    pieces = _SECTION.split(data.decode())
    parts = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return Prompt(
        name=name,
        version=version,
        sha256=hashlib.sha256(data).hexdigest(),
        system=parts["system"].strip(),
        prefix=parts["prefix"].lstrip("\n"),
        suffix=parts["suffix"].rstrip("\n"),
    )


def filled(template: str, **values: str) -> str:
    """Fill the slots of a template. A slot without a value is a mistake of ours: KeyError."""
    return _SLOT.sub(lambda match: values[match.group(1)], template)
