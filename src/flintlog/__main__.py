"""`python -m flintlog` is the command `flintlog`."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs a command; returns the exit code."""
    try:
        from flintlog.cli.main import main as run

        return run()
    except KeyboardInterrupt:  # while modules are imported
        sys.stderr.write("interrupted\n")
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and done; Python has only to end


if __name__ == "__main__":
    raise SystemExit(main())
