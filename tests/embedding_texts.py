"""Texts for comparing embedders: short and long, with codes, names, questions and odd letters."""

PLACES = ("the harbour", "the north gate", "the archive", "room 14", "the old mill")
PEOPLE = ("Varda", "Kolm", "Pelle", "Iris", "Tomo", "Wend", "Quill", "Asha")
TEMPLATES = (
    "The access code of {person} is {code}.",
    "What is the access code of {person}?",
    "{person} moved the pump to {place} on 3 May and changed its label to {code}.",
    "At {place}, {person} reported that the order {code} had been cancelled; nobody confirmed it.",
    "Später sagte {person}: «Der Schlüssel {code} liegt in {place}», naïve café, 東京, №5.",
)
LONG = " Then they talked for a while about the weather, the price of rope and the road to the sea."


def comparison_texts() -> list[str]:
    """Return 100 texts of 1 to about 300 tokens, always the same."""
    texts = []
    for number in range(97):
        template = TEMPLATES[number % len(TEMPLATES)]
        text = template.format(
            person=PEOPLE[number % len(PEOPLE)],
            place=PLACES[number % len(PLACES)],
            code=f"{'ABCDEFGHJK'[number % 10]}{'LMNPQRS'[number % 7]}-{1000 + 83 * number % 9000}",
        )
        texts.append(text + LONG * (number % 5 if number % 19 else 14))
    return [*texts, "one", "", "  spaces around, and\nlines\tand tabs  "]
