"""Scripts that switch completion on in bash, zsh and fish, and their installation for one user.

Packages install the same scripts for all users (`scripts/shell_files.py`). What they run is
`nigari.cli.completion`.
"""

from __future__ import annotations

import os

from nigari.cli.command import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

# The program prints the space itself: none follows an equals sign or a slash.
BASH: Final = "complete -o nospace -C nigari nigari\n"
ZSH: Final = """\
#compdef nigari
_nigari() {
  local line word
  for line in "${(@f)$(COMP_LINE="${(j: :)${(Q)words[1,CURRENT-1]}} ${(Q)PREFIX}" NIGARI_COMPLETION=described nigari 2>/dev/null)}"; do
    word=${line%%$'\\t'*}
    [[ -n $word ]] || continue
    local -a shown=("$word${${line#*$'\\t'}:+  -- ${line#*$'\\t'}}")
    if [[ $word == *[=/:] ]]; then
      compadd -l -d shown -S '' -- "$word"
    else
      compadd -l -d shown -- "$word"
    fi
  done
}
compdef _nigari nigari
"""
FISH: Final = """\
function __nigari_candidates
    COMP_LINE=(commandline -cp) NIGARI_COMPLETION=described nigari 2>/dev/null
end
complete -c nigari -f -a '(__nigari_candidates)'
"""

_COMPINIT: Final = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
_FIRST: Final = "# >>> completion of nigari >>>"
_LAST: Final = "# <<< completion of nigari <<<"
_START_FILES: Final = {".bashrc": BASH, ".zshrc": _COMPINIT + ZSH}
_FISH_DIRECTORY: Final = os.path.join(".config", "fish")


def install(terminal: Terminal, *, remove: bool) -> int:
    """Add the scripts to the start files of the shells that this user has, or remove them."""
    home = os.path.expanduser("~")
    files = {os.path.join(home, name): script for name, script in _START_FILES.items()}
    files = {path: script for path, script in files.items() if os.path.exists(path)}
    if os.path.isdir(os.path.join(home, _FISH_DIRECTORY)):
        files[os.path.join(home, _FISH_DIRECTORY, "completions", "nigari.fish")] = FISH
    if not files:
        terminal.err(
            f"The home directory has no .bashrc, no .zshrc and no {_FISH_DIRECTORY}: create the one "
            "that your shell reads, and run this again."
        )
        return 1
    changed = False
    for path, script in files.items():
        try:
            is_changed = _edit(path, "" if remove else script)
        except OSError as error:
            terminal.err(f"Cannot change {path}: {error.strerror}.")
            return 1
        if is_changed:
            changed = True
            terminal.out(f"{path} was changed: start a new shell to use completion.")
    if not changed:
        terminal.out("Nothing needed to be changed.")
    return 0


def _edit(path: str, script: str) -> bool:
    """Put the script in place of an earlier one, and tell whether that changed the file."""
    text = _read(path)
    before, first, rest = text.partition(f"{_FIRST}\n")
    after = rest.partition(f"{_LAST}\n")[2] if first else ""
    if script and before and not before.endswith("\n"):
        before += "\n"
    changed = f"{before}{_FIRST}\n{script}{_LAST}\n{after}" if script else before + after
    if changed == text:
        return False
    if not changed and path.endswith(".fish"):
        # Even an empty one would hide the file that a package has installed for all users.
        os.unlink(path)
        return True
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # In place: the file keeps its permissions, and links stay links.
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(changed)
    return True


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except FileNotFoundError:
        return ""
