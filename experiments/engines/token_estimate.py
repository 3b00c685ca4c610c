"""How many tokens a text has at most, about, where no tokenizer can be asked."""

import math
import re

# Tokenizers join lower-case letters to pieces of three or more and take white space in front of a
# word along; digits, capitals and marks may each be a token of their own, and so may each byte of
# a letter beyond ASCII.
PIECES = re.compile(r"[a-z]+|[^\x00-\x7f]+|[^\sa-z]|\n")
LETTERS_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Return a high estimate: more than any common tokenizer makes, less than one per byte."""
    total = 0
    for piece in PIECES.findall(text):
        if piece[0] > "\x7f":
            total += len(piece.encode())
        else:
            total += math.ceil(len(piece) / LETTERS_PER_TOKEN)
    return total
