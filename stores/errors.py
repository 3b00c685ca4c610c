"""Errors that speak to the person who gave the input."""


class InvalidInputError(ValueError):
    """Input that cannot be taken: what was wrong, where, what was expected, what to do.

    Parameters
    ----------
    what
        What is wrong, in one sentence without a full stop.
    where
        File and line, JSON path, key or form field.
    expected
        What would have been right.
    hint
        What the person can do now.
    """

    def __init__(self, what: str, *, where: str = "", expected: str = "", hint: str = "") -> None:
        self.what, self.where, self.expected, self.hint = what, where, expected, hint
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """The whole error in one line."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.expected:
            text += f"; expected {self.expected}"
        if self.hint:
            text += f". {self.hint}"
        return text if text.endswith("?") else text.rstrip(".") + "."
