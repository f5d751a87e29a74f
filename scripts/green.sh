#!/bin/sh
# Print one line, green where a terminal shows it.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
    printf '\033[1;32m%s\033[0m\n' "$1"
else
    printf '%s\n' "$1"
fi
