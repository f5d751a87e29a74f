#!/bin/sh
# Run uv with the given arguments: the machine's own, or one installed into .tools/ the first time.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
python=$("$root/scripts/find-python.sh")
tools=$root/.tools

if uv --version >/dev/null 2>&1; then
    uv=uv
else
    uv=$tools/bin/uv
    if ! "$uv" --version >/dev/null 2>&1; then
        echo "installing uv into .tools/" >&2
        rm -rf "$tools"
        # Some distributions split venv off from Python; pip alone will do there.
        if "$python" -m venv "$tools" >/dev/null 2>&1; then
            "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'uv>=0.8,<1' >&2
        elif "$python" -m pip --version >/dev/null 2>&1; then
            rm -rf "$tools"
            "$python" -m pip install --quiet --disable-pip-version-check --target "$tools" 'uv>=0.8,<1' >&2
        else
            echo "$python has neither venv nor pip: install uv, or your system's package for one of them" >&2
            exit 1
        fi
    fi
fi

# uv brings its own root certificates. Behind a company's proxy only the machine's are right, and on a bare machine there are none.
if [ -z "${UV_SYSTEM_CERTS:-}" ]; then
    UV_SYSTEM_CERTS=$("$python" -c '
import os, ssl
paths = ssl.get_default_verify_paths()
print("true" if paths.cafile or (paths.capath and os.listdir(paths.capath)) else "false")')
    UV_NATIVE_TLS=$UV_SYSTEM_CERTS # the name before uv 0.9
    export UV_SYSTEM_CERTS UV_NATIVE_TLS
fi
export UV_PYTHON_DOWNLOADS=never
exec "$uv" "$@"
