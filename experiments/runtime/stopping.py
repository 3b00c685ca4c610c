"""Whether this process is about to end: jobs look between two calls and give their claim back."""

import threading

_stopping = threading.Event()
_call_left = threading.Event()


def request_stop() -> None:
    """Ask every job of this process to stop at its next commit."""
    _stopping.set()


def clear_stop() -> None:
    """Take the request back: a worker starts in this process again."""
    _stopping.clear()


def stop_requested() -> bool:
    """Whether jobs should stop."""
    return _stopping.is_set()


def note_call_left() -> None:
    """Note that a model call could not be waited for and still runs in a thread."""
    _call_left.set()


def call_left() -> bool:
    """Whether the process should end without waiting for its threads: a call still runs in one."""
    return _call_left.is_set()
