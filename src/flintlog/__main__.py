"""`python -m flintlog` is the command `flintlog`."""

from flintlog.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
