"""Reserved keys, which are not names of arguments or blocks."""

from typing import Final

IS_BLOCK: Final = "__is_block__"
COMMENTS_KEY: Final = "__comments__"
INLINE_COMMENTS_KEY: Final = "__inline_comments__"
START_LINE: Final = "__start_line__"
END_LINE: Final = "__end_line__"

RESERVED: Final = frozenset({IS_BLOCK, COMMENTS_KEY, INLINE_COMMENTS_KEY, START_LINE, END_LINE})
