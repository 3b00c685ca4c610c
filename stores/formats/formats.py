"""All memory formats, by name."""

from types import MappingProxyType

from stores.formats.base import MemoryFormat
from stores.formats.kg_fixed import KgFixed
from stores.formats.lc_raw import LcRaw
from stores.formats.notes import Notes
from stores.formats.rag import Rag

_ALL: tuple[MemoryFormat, ...] = (LcRaw(), Rag(), Notes(), KgFixed())
FORMATS: MappingProxyType[str, MemoryFormat] = MappingProxyType({f.name: f for f in _ALL})
