"""The entities of one synthetic history, and which property of whom is already taken."""

from dataclasses import dataclass, field

from stores.workload.names import Names
from stores.workload.stream import Stream
from stores.workload.vocabulary import VALUE_PREDICATES, Predicate, entity


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, team or project with a made-up name."""

    kind: str
    name: str

    def phrase(self) -> str:
        """Return the entity as a sentence names it."""
        return entity(self.kind, self.name)


@dataclass(slots=True)
class Cast:
    """Hands out subjects so that no property of one entity is said twice."""

    stream: Stream
    names: Names
    reuse_percent: int
    entities: list[Entity] = field(default_factory=list)
    taken: set[tuple[str, str]] = field(default_factory=set)

    def new(self, kind: str) -> Entity:
        """Return an entity that nothing has been said about yet."""
        made = Entity(kind, self.names.name())
        self.entities.append(made)
        return made

    def claim(self, subject: Entity, predicate: Predicate) -> None:
        """Mark a property of `subject` as taken."""
        self.taken.add((subject.name, predicate.key))

    def subject(self, predicate: Predicate) -> Entity:
        """Return a new or known entity whose `predicate` is free, and take it."""
        # Only facts are said about projects: a project prefers and decides nothing.
        kinds = ["person", "person", "team"]
        if predicate.memory_class == "fact":
            kinds.append("project")
        kind = self.stream.choice(kinds)
        chosen = None
        if self.stream.percent(self.reuse_percent):
            free = [
                e
                for e in self.entities
                if e.kind == kind and (e.name, predicate.key) not in self.taken
            ]
            chosen = self.stream.choice(free) if free else None
        chosen = chosen or self.new(kind)
        self.claim(chosen, predicate)
        return chosen

    def predicate(self, memory_class: str) -> Predicate:
        """Return a predicate of this class of memory."""
        return self.stream.choice(
            [p for p in VALUE_PREDICATES.values() if p.memory_class == memory_class]
        )
