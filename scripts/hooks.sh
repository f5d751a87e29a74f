#!/bin/sh
# Let git run the hooks of .githooks/. Hooks that are there already stay, and this fails.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
wanted=.githooks
present=$(git config core.hooksPath || true)
if [ "$present" = "$wanted" ]; then
    echo "git runs the hooks of $wanted already"
    exit 0
fi
if [ -n "$present" ]; then
    echo "core.hooksPath is $present: add $wanted/commit-msg to the hooks there, or unset it first" >&2
    exit 1
fi
# Hooks in the usual folder would no longer run.
usual=$(git rev-parse --git-common-dir)/hooks
for hook in "$usual"/*; do
    case $hook in
        *.sample | "$usual/*") ;;
        *)
            echo "there is a hook at $hook, which would no longer run: move it to $wanted/ or remove it first" >&2
            exit 1
            ;;
    esac
done
git config core.hooksPath "$wanted"
echo "git runs the hooks of $wanted from now on; \`git config --unset core.hooksPath\` ends it"
