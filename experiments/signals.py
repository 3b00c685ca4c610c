"""What this app tells those above it, which it does not know."""

from django.dispatch import Signal

# Sent with `study` when the cells of its gates are all answered, or can no longer be.
gates_measured = Signal()
# Sent with `study` when a run of it has ended, complete or not; its answers are committed.
run_ended = Signal()
