"""The command: ``legwork``, ``python -m legwork``."""

import signal
import sys

from . import _legwork


def main() -> int:
    """Run the command with the process's arguments; its exit code."""
    # Ctrl-C is the command's own, which ends a run with its recording whole.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _legwork.command(["legwork", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
