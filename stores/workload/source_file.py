"""A file that somebody brought: its bytes, checked and cut into lines."""

from dataclasses import dataclass
from pathlib import Path

from stores.errors import InvalidInputError

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that is read of one file, so that a mistake cannot fill memory or a page."""

    file_bytes: int = 64 * MEBIBYTE
    line_bytes: int = 8 * MEBIBYTE
    text_chars: int = 100_000
    problems: int = 50


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A name to speak of, and the bytes."""

    name: str
    data: bytes


def read_source(path: Path, *, limits: Limits | None = None) -> SourceFile:
    """Read a file for import.

    Raises
    ------
    InvalidInputError
        When it is missing, no file, not readable or too large.
    """
    most = (limits or Limits()).file_bytes
    try:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "there is no such file"
            raise InvalidInputError(what, where=str(path), expected="a file")
        size = path.stat().st_size
        if size > most:
            raise InvalidInputError(
                f"the file has {size:,} bytes",
                where=str(path),
                expected=f"at most {most:,} bytes",
                hint="Split it, or raise MEMPORT_MAX_UPLOAD_MIB",
            )
        return SourceFile(path.name, path.read_bytes())
    except OSError as error:
        raise InvalidInputError(
            f"cannot be read ({error.strerror})", where=str(path), expected="a readable file"
        ) from error


def decode(source: SourceFile) -> str:
    """Return the text of a UTF-8 file without a byte order mark, or say what is in the way."""
    data = source.data
    if not data.strip():
        raise InvalidInputError("the file is empty", where=source.name)
    hint = "Save it as UTF-8 without a byte order mark"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInputError("is UTF-16", where=source.name, expected="UTF-8", hint=hint)
    if data.startswith(b"\xef\xbb\xbf"):
        raise InvalidInputError(
            "starts with a byte order mark", where=source.name, expected="plain UTF-8", hint=hint
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            where=f"{source.name} line {line}",
            expected="UTF-8",
            hint=hint,
        ) from error


def lines(source: SourceFile, limits: Limits) -> list[tuple[int, str]]:
    """Return the lines that hold something, each with its number.

    Only a line feed ends a line: other separators of Unicode may stand inside of a JSON string.
    """
    result = []
    for number, line in enumerate(decode(source).split("\n"), start=1):
        if len(line) > limits.line_bytes or len(line.encode()) > limits.line_bytes:
            raise InvalidInputError(
                f"the line has {len(line.encode()):,} bytes",
                where=f"{source.name} line {number}",
                expected=f"at most {limits.line_bytes:,} bytes",
                hint="One history or probe a line",
            )
        # JSON's own white space alone: other separators are no blank line but a fault to name.
        if line.strip(" \t\r"):
            result.append((number, line))
    return result
