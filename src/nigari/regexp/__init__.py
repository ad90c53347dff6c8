"""Regular expressions with the syntax and the meaning of Go's `regexp`, in time linear in the text.

OpenTofu's `regex`, `regexall` and `replace` are written for that syntax (RE2's): no back references, no
look-around. Python's `re` has another one, and some patterns make it take exponential time.

A pattern becomes a small program (`syntax`, `fragments`). An automaton whose states are made when a text
first leads to them finds where a match begins and ends (`automaton`); groups are looked for between the
two only (`captures`). Values, and the functions of the language, are not known here.
"""
