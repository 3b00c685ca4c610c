"""`memport serve`: the dashboard with a worker inside."""

import signal
from types import FrameType

import click

from memport_site.database import needs_database


@click.command("serve")
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="0: any free one.",
)
@needs_database
def command(port: int) -> None:
    """Serve the dashboard on 127.0.0.1, with a worker inside.

    Only this machine can reach it. Unfinished studies go on from their last committed answer.
    Ctrl-C stops it and loses nothing.

    Example: memport serve --port 8080
    """
    from memport_site.serving import start_server

    def end(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise KeyboardInterrupt

    server = start_server(port=port)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        click.echo(f"memport serves {server.address} (Ctrl-C stops it)")
        if not server.worker.works_here:
            click.echo(f"It does not work itself: jobs are done by {server.worker.who()}.")
        server.wait()
    except KeyboardInterrupt:
        click.echo("Stopping; what was measured is kept.")
    finally:
        server.stop()
