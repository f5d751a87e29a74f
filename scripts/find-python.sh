#!/bin/sh
# Print the path of a Python that is new enough: $PYTHON if set, else the first fit on PATH.
set -eu

probe='import sys; sys.version_info >= (3, 11) or sys.exit(1); print(sys.executable)'

if [ -n "${PYTHON:-}" ]; then
    "$PYTHON" -c "$probe" 2>/dev/null && exit 0
    echo "flintlog needs Python 3.11 or newer, and PYTHON=$PYTHON is not one" >&2
    exit 1
fi
# Asked to run, not only looked up: a version manager's shim stands on PATH for versions that are not active.
for candidate in python3 python3.13 python3.12 python3.11 python3.14 python; do
    "$candidate" -c "$probe" 2>/dev/null && exit 0
done
found=$(python3 -c 'import platform; print("python3 is " + platform.python_version())' 2>/dev/null) || found="no python3 on PATH"
echo "flintlog needs Python 3.11 or newer ($found); install one, or name it: make PYTHON=/path/to/python3.11 ..." >&2
exit 1
