"""The presentation of differences: colours, marks and notes."""

from __future__ import annotations

from nigari.cli.views.style import PLAIN, Style
from nigari.plan.differences.difference import Fate


class Presentation:
    """The form in which a difference is displayed.

    Written by hand, like the methods that derive others from it, because a plan may have very many
    parts.
    """

    __slots__ = (
        "_gone",
        "_new",
        "_changed",
        "_same",
        "_variants",
        "all_force",
        "arrow",
        "has_marks",
        "reveals",
        "says_null",
        "shows_same",
        "style",
    )

    def __init__(
        self,
        style: Style = PLAIN,
        has_marks: bool = True,
        says_null: bool = True,
        all_force: bool = False,
        shows_same: bool = False,
        reveals: bool = False,
    ) -> None:
        self.style: Style = style
        self.has_marks: bool = has_marks
        self.says_null: bool = says_null
        """True if removed values are shown as becoming null."""
        self.all_force: bool = all_force
        """True if every part is shown as forcing replacement."""
        self.shows_same: bool = shows_same
        self.reveals: bool = reveals
        """True if sensitive values are shown."""
        self.arrow: str = style.yellow("->")
        self._new = f"  {style.green('+')} " if has_marks else ""
        self._gone = f"  {style.red('-')} " if has_marks else ""
        self._changed = f"  {style.yellow('~')} " if has_marks else ""
        self._same = "    " if has_marks else ""
        self._variants: dict[tuple[bool, bool, bool], Presentation] = {}

    def but(
        self,
        says_null: bool | None = None,
        all_force: bool | None = None,
        shows_same: bool | None = None,
    ) -> Presentation:
        """The same, with other settings for parts."""
        wanted = (
            self.says_null if says_null is None else says_null,
            self.all_force if all_force is None else all_force,
            self.shows_same if shows_same is None else shows_same,
        )
        if wanted == (self.says_null, self.all_force, self.shows_same):
            return self
        found = self._variants.get(wanted)
        if found is None:
            found = Presentation(self.style, self.has_marks, *wanted, self.reveals)
            found._variants = self._variants
            self._variants[wanted] = found
        return found

    def unmarked(self) -> Presentation:
        """The same for what is neither new nor gone nor changed, whatever it looks like."""
        return Presentation(self.style, False, False, reveals=self.reveals)

    def mark(self, fate: Fate) -> str:
        """The mark before a part, four columns wide."""
        if fate is Fate.NEW:
            return self._new
        if fate is Fate.SAME:
            return self._same
        return self._gone if fate is Fate.GONE else self._changed

    def null(self, fate: Fate) -> str:
        """The note that something becomes null."""
        return f" {self.style.grey('-> null')}" if self.says_null and fate is Fate.GONE else ""

    def forced(self, forces: bool) -> str:
        """The note that a change forces another object."""
        return f" {self.style.red('# forces replacement')}" if forces or self.all_force else ""

    def hidden(self, count: int, what: str) -> str:
        """The note that so many parts stay the same."""
        plural = "" if count == 1 else "s"
        return self.style.grey(f"# ({count} unchanged {what}{plural} hidden)")


def pad(depth: int) -> str:
    """The white space before what is so deep."""
    return "    " * depth


def line(depth: int, presentation: Presentation, fate: Fate, text: str) -> str:
    """A line at a depth, with the mark of what becomes of it."""
    return f"{'    ' * depth}{presentation.mark(fate)}{text}"
