"""Are the subjects of commits that have not landed yet fit to land? `python scripts/check_commits.py [MESSAGE_FILE]`

Checks the commits of `origin/main..HEAD`; what has landed is left alone. Without that ref, as in a clone that has one
history or none, nothing is checked. With a file, as git's hook `commit-msg` gives one, checks the message in it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LONGEST = 72
LANDED = "origin/main"
# `fixup!`, `squash!` and `amend!` are git's marks for commits that a rebase is to melt into others.
_UNFINISHED = re.compile(r"wip\b|(fixup|squash|amend)!", re.IGNORECASE)
_SCISSORS = " ------------------------ >8 ------------------------"


def problem(subject: str) -> str | None:
    """What is wrong with a subject."""
    if not subject:
        return "is empty"
    if len(subject) > LONGEST:
        return f"has {len(subject)} characters, {LONGEST} at most"
    if mark := _UNFINISHED.match(subject):
        return f"begins with `{mark.group()}`"
    return None


def unlanded(root: Path) -> list[tuple[str, str]]:
    """Hashes and subjects of the commits that have not landed, the newest first; none where no history tells."""
    # Sources without a history of their own may lie in a repository of another project.
    if Path(_git(root, "rev-parse", "--show-toplevel").strip()) != root:
        return []
    log = _git(root, "log", "--no-merges", "--format=%h %s", f"{LANDED}..HEAD", "--")
    return [(revision, subject) for revision, _, subject in (line.partition(" ") for line in log.splitlines())]


def _git(folder: Path, *arguments: str) -> str:
    """What git prints, nothing where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:  # a machine without git
        return ""
    return done.stdout if done.returncode == 0 else ""


def subject_of(message: str, comment: str = "#") -> str:
    """The subject as git will store it: the lines of the first paragraph, without comments, joined."""
    kept = [line for line in message.split(f"{comment}{_SCISSORS}")[0].splitlines() if not line.startswith(comment)]
    paragraph = re.split(r"\n\s*\n", "\n".join(kept).strip())[0]
    return " ".join(line.strip() for line in paragraph.splitlines())


def main(arguments: list[str]) -> int:
    if arguments:
        message = Path(arguments[0]).read_text(encoding="utf-8")
        named = [("the message", subject_of(message))]
    else:
        named = unlanded(Path(__file__).resolve().parents[1])
    found = [(name, subject, problem(subject)) for name, subject in named]
    bad = [f"{name}: `{subject}` {what}" for name, subject, what in found if what]
    if bad:
        print(*bad, sep="\n", file=sys.stderr)
        print(f"a subject is an imperative of at most {LONGEST} characters; see CONTRIBUTING.md", file=sys.stderr)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
