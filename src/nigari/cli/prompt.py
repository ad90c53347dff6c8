"""Asking the person at the terminal: for values of variables, for other values, for a yes.

There is one way to ask, whatever it is about. Answers may come through a pipe, too. Where
`-input=false` or `TF_INPUT` forbid it, or after the end of the input, prompting is not possible, and
the caller says what that means.
"""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, Flag, Terminal

TYPE_CHECKING = False
# Who never asks needs neither.
if TYPE_CHECKING:
    from typing import TextIO

    from nigari.config.blocks.variable import Variable
    from nigari.eval.core.inputs import InputValue

INPUT_FLAG = Flag("input", FLAG_SWITCH, "Never ask for input", default="true")
_ATTEMPTS = 2
"""The most prompts for an answer that is neither yes nor no."""
_REFUSALS = frozenset(("0", "f", "false"))


class Person:
    """The user at the terminal. Each question is asked once."""

    def __init__(self, terminal: Terminal, may_ask: bool) -> None:
        self._terminal = terminal
        self._given: dict[str, InputValue | None] = {}
        self.can_prompt: bool = (
            may_ask and terminal.environ.get("TF_INPUT", "").lower() not in _REFUSALS
        )
        self.is_at_terminal: bool = (
            self.can_prompt and terminal.stdin.isatty() and terminal.stdout.isatty()
        )
        """True if other programs may prompt, which they do on the terminal."""

    def value_of(self, variable: Variable) -> InputValue | None:
        """The value of an input variable; None where no answer was given."""
        from nigari.eval.core.inputs import InputKind, InputValue

        name = variable.name
        if name not in self._given:
            is_secret = bool(variable.sensitive or variable.ephemeral)
            answer = self.text(f"var.{name}", variable.description or "", is_secret)
            self._given[name] = (
                None if answer is None else InputValue(InputKind.ANSWER, "your answer", answer)
            )
        return self._given[name]

    def text(self, name: str, description: str, is_secret: bool) -> str | None:
        """A text for something with a name; None where no answer was given."""
        if not self.can_prompt:
            return None
        lines = [name, *(f"  {line}" for line in description.splitlines()), ""]
        return self._answer("\n".join(lines), is_secret)

    def approves(self, question: str) -> bool | None:
        """Prompt for yes or no; None without an answer."""
        for _ in range(_ATTEMPTS):
            if not self.can_prompt:
                return None
            answer = self._answer(f'{question}\n  Answer "yes" or "no".\n', False)
            if answer is not None and answer.strip() in ("yes", "no"):
                return answer.strip() == "yes"
        return None

    def _answer(self, text: str, is_secret: bool) -> str | None:
        from nigari.diagnostics.layout import Layout, wrap

        terminal = self._terminal
        width = Layout.for_stream(terminal.stdout, terminal.environ).width
        text = "\n".join(wrap(text, width))
        text = f"\n{text}\n"
        if is_secret and terminal.stdin.isatty():
            import getpass

            terminal.stdout.write(text)
            terminal.stdout.flush()

            from nigari.workspace.context.interruptions import interruptible

            try:
                with interruptible():
                    return getpass.getpass("  Enter a value (input is hidden): ")
            except EOFError:
                return None
        answer = read_answer(terminal, f"{text}  Enter a value: ")
        self.can_prompt = bool(answer)
        return answer.rstrip("\r\n") if answer else None


def read_answer(terminal: Terminal, prompt: str) -> str:
    """The line that is typed after a prompt, with its end; nothing after the end of the input.

    Without a terminal there may be nothing to read: then there is no prompt either.
    """
    # Who asks has imported most of it already.
    from nigari.workspace.context.interruptions import interruptible

    # The prompt can be interrupted.
    with interruptible():
        answer = terminal.stdin.readline() if _is_ready(terminal.stdin) else None
        if answer != "":
            terminal.stdout.write(prompt)
            terminal.stdout.flush()
        if answer is None:
            answer = terminal.stdin.readline()
        if answer:
            terminal.stdout.write("\n")
    return answer


def _is_ready(stdin: TextIO) -> bool:
    """Return whether reading will not block: input or its end is available.

    On a terminal, and where another program may still write, the prompt must be visible while
    waiting.
    """
    import select

    if stdin.isatty():
        return False
    try:
        return bool(select.select([stdin], [], [], 0)[0])
    except (OSError, ValueError):
        # It is no file of the system, so that everything is there.
        return True
