"""Distractors: everyday events that hold no code and that no probe asks for."""

from stores.workload.cast import Cast
from stores.workload.drafts import DraftEvent
from stores.workload.vocabulary import NOTE, sentence

_ACTIONS = (
    "met a visitor",
    "watered the plants",
    "moved some chairs",
    "wrote a short summary",
    "took a long break",
    "cleaned the whiteboard",
    "read the newsletter",
    "waited for a delivery",
    "opened the windows",
    "sorted old magazines",
    "made a pot of tea",
    "talked about the weather",
    "listened to a talk",
    "found a lost umbrella",
    "drew a small map",
    "counted the empty boxes",
    "tested the new clock",
    "looked at some photos",
    "packed a bag",
    "thanked everybody",
)
_PLACES_AND_TIMES = (
    "in the hall",
    "in the kitchen",
    "in the garden",
    "near the entrance",
    "on the second floor",
    "at the library",
    "next to the lift",
    "in the workshop",
    "by the river",
    "in the courtyard",
    "in the morning",
    "before lunch",
    "after lunch",
    "in the afternoon",
    "in the evening",
    "while it was raining",
    "as every week",
    "without any hurry",
    "for about an hour",
    "with a guest",
)


def note(cast: Cast) -> DraftEvent:
    """Return an everyday event of a person or team of the cast."""
    actors = [e for e in cast.entities if e.kind != "project"]
    subject = cast.stream.choice(actors) if actors else cast.new("person")
    draw = cast.stream
    what = f"{draw.choice(_ACTIONS)} {draw.choice(_PLACES_AND_TIMES)}"
    fields = {"op": "note", "subject": subject.name, "predicate": NOTE, "object": what}
    return DraftEvent(sentence(f"{subject.phrase()} {what}"), fields)
