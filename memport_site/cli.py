"""The `memport` console script. Each subcommand group is a module of `memport_site.commands`."""

import importlib
import os
import sys

import click

from stores.errors import InvalidInputError
from stores.roles import EngineError

# name → module in memport_site.commands that defines a click command called `command`
COMMANDS = {
    "analyze": "Compute every number of the method from an answers table.",
    "demo": "Run the demo study on real models and serve the dashboard.",
    "histories": "Generate, validate, show, import, convert and export histories.",
    "models": "List, fetch and check the models of the catalogue.",
    "serve": "Serve the dashboard with a worker inside.",
    "study": "Check, forecast, lock, run, resume, report and export studies.",
    "user": "Make users and one-time sign-in links.",
    "worker": "Run jobs without serving pages.",
}


class LazyGroup(click.Group):
    """A group that imports a subcommand only when it is used: `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of all subcommands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one subcommand, or None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"memport_site.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="memport")
def cli() -> None:
    """Will our agent still remember after we change the model under it?

    Exit codes: 0 done, 1 error, 2 refused or invalid input, 100 checked and the answer is no.
    """


def main(argv: list[str] | None = None) -> None:
    """Run the command line; turn known errors into one clear line and an exit code."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")
    if problem := _set_up():
        click.echo(f"memport: {problem}", err=True)
        sys.exit(1)
    _leave(_run(argv))


def _set_up() -> str:
    """Set Django up; return in one line what is wrong with the environment, or nothing."""
    import django
    from django.core.exceptions import ImproperlyConfigured
    from environs import EnvError

    try:
        django.setup()
    except (EnvError, ImproperlyConfigured) as error:
        return " ".join(str(error).split())
    except OSError as error:
        where = error.filename or "MEMPORT_HOME"
        return f"{where} cannot be used: {error.strerror}. Check MEMPORT_HOME and the free disk."
    return ""


def _run(argv: list[str] | None) -> int:
    from memport_site.database import OUT_OF_REACH, UnusableDatabaseError, unusable

    try:
        # Without click's own handling of errors, `ctx.exit(code)` comes back as a result.
        code = cli.main(args=argv, prog_name="memport", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except SystemExit as error:
        if isinstance(error.code, str):
            click.echo(error.code, err=True)
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except click.ClickException as error:
        error.show()
        return 2
    except InvalidInputError as error:
        click.echo(f"memport: {error}", err=True)
        return 2
    except (EngineError, UnusableDatabaseError) as error:
        click.echo(f"memport: {error}", err=True)
        return 1
    except OUT_OF_REACH as error:
        click.echo(f"memport: {unusable(error)}", err=True)
        return 1
    except (click.Abort, KeyboardInterrupt):
        click.echo(
            "memport: stopped; what was measured is kept, the same command resumes.", err=True
        )
        return 130


def _leave(code: int) -> None:
    """Exit; at once where a model call that nobody waits for still runs in a thread."""
    from experiments.runtime.stopping import call_left

    if call_left():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
