"""What the fuzzer knows of the functions: their results and how to call them.

A parameter is a type of `fuzz.grammar`, or `=` with texts to choose from with `¦` between them, or
`result` for the type that is wanted of the call; `?` at its end means that it may be left out.
Functions that read the world, the clock or chance are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Signature:
    """How a function may be called."""

    result: str
    name: str
    parameters: tuple[str, ...]
    variadic: str = ""


def _signatures(table: str) -> list[Signature]:
    """One function a line: result, name, parameters; the last with `*` before it repeats."""
    found = []
    for line in table.strip().splitlines():
        result, name, *parameters = line.split(" ~ ")
        variadic = parameters.pop()[1:] if parameters and parameters[-1].startswith("*") else ""
        found.append(Signature(result, name, tuple(parameters), variadic))
    return found


_DATE: Final = '="2024-02-29T12:30:00Z"¦"1999-12-31T23:59:59-08:00"¦"2024-02-30T00:00:00Z"¦"x"'
_DURATION: Final = '="10m"¦"-1h30s"¦"1.5h"¦"x"¦"1ns"'
_DATE_FORMAT: Final = (
    '="DD MMM YYYY hh:mm ZZZ"¦"EEEE, D-MMM-YY hh:mm:ss Z"¦"h \'o\'\'clock\' AA"¦"x"¦"\'"¦"aaa"'
)
_CIDR: Final = '="10.0.0.0/16"¦"192.168.1.7/24"¦"fd00:1:2::/48"¦"10.0.0.0/33"¦"0.0.0.0/0"¦"x"'
_ADDRESS: Final = '="10.0.3.4"¦"10.0.128.0/17"¦"fd00:1:2::5"¦"::ffff:10.0.0.1"¦"x"'
_PATTERN: Final = (
    '="a"¦"[a-z]+"¦"(a)(b)?"¦"(?P<x>.)(?P<y>.)?"¦"^$"¦"("¦"(?i)H"¦"\\\\d+"¦"\\\\pL"¦"a*?"¦"."'
)
_FORMAT: Final = (
    '="%s"¦"%d"¦"%v-%v"¦"%q"¦"%05.2f"¦"%#v"¦"%x"¦"%t"¦"%-5s|"¦"%[2]v %[1]v"¦"%%"¦"%5d"¦"%+d"¦"%e"'
    '¦"%g"¦"%b"¦"%o"¦"%X"¦"%z"¦"%*d"¦"%.3s"¦"% d"¦"plain"'
)
_JSON: Final = '="1"¦"null"¦"[1, \\"a\\", null]"¦"{\\"a\\": [true], \\"b\\": 1e3}"¦"{"¦""¦"1e999"¦"\\"\\\\ud83d\\""'
_YAML: Final = (
    '="a: 1"¦"- 1\\n- b: [x, ~]"¦"{a: yes, b: 0x1F, c: 1_000}"¦"a: &x 1\\nb: *x"¦"a: |\\n  t\\n"¦": :"'
    '¦"2024-01-01"¦"!!str 1"¦".inf"¦"a: 1\\na: 2"¦"\'\'"¦"~"'
)
_ENCODING: Final = '="UTF-16LE"¦"UTF-16"¦"windows-1252"¦"UTF-8"¦"nope"¦"Shift_JIS"'
_BASE64: Final = '="aGVsbG8="¦"4pyTIMOg"¦"gA=="¦"x"¦""'
_FLAG: Final = "=0¦1¦2¦-1¦1.5¦3"

FUNCTIONS: Final = _signatures(
    f"""
number ~ abs ~ number
number ~ ceil ~ number
number ~ floor ~ number
number ~ log ~ number ~ number
number ~ max ~ *number
number ~ min ~ *number
number ~ parseint ~ ="ff"¦"-12"¦"z"¦"10"¦""¦"1_0" ~ =2¦8¦10¦16¦36¦62¦63¦1
number ~ pow ~ number ~ ={_FLAG[1:]}¦0.5¦-3¦10
number ~ signum ~ number
number ~ length ~ collection
number ~ length ~ string
number ~ sum ~ list(number)
number ~ sum ~ set(number)
number ~ tonumber ~ any
number ~ timecmp ~ {_DATE} ~ {_DATE}
number ~ index ~ list ~ any
number ~ index ~ list(string) ~ string
string ~ chomp ~ string
string ~ indent ~ ={_FLAG[1:]} ~ string
string ~ join ~ string ~ *list(string)
string ~ lower ~ string
string ~ upper ~ string
string ~ title ~ string
string ~ strrev ~ string
string ~ substr ~ string ~ {_FLAG} ~ {_FLAG}
string ~ trim ~ string ~ string
string ~ trimprefix ~ string ~ string
string ~ trimsuffix ~ string ~ string
string ~ trimspace ~ string
string ~ replace ~ string ~ string ~ string
string ~ replace ~ string ~ ="/a/"¦"/(.)b/"¦"/"¦"//"¦"/(?P<n>.)/" ~ ="$1"¦"${{1}}x"¦"$$"¦"-"¦"$n"
string ~ format ~ {_FORMAT} ~ *any
string ~ tostring ~ any
string ~ base64encode ~ string
string ~ base64decode ~ {_BASE64}
string ~ base64sha256 ~ string
string ~ base64sha512 ~ string
string ~ md5 ~ string
string ~ sha1 ~ string
string ~ sha256 ~ string
string ~ sha512 ~ string
string ~ urlencode ~ string
string ~ urldecode ~ ="a%20b"¦"a+b"¦"%zz"¦"%e9"¦"é"
string ~ uuidv5 ~ ="dns"¦"url"¦"oid"¦"x500"¦"6ba7b810-9dad-11d1-80b4-00c04fd430c8"¦"x" ~ string
string ~ jsonencode ~ any
string ~ yamlencode ~ any
string ~ basename ~ string
string ~ dirname ~ string
string ~ cidrhost ~ {_CIDR} ~ ={_FLAG[1:]}¦255¦65536¦-2
string ~ cidrnetmask ~ {_CIDR}
string ~ cidrsubnet ~ {_CIDR} ~ =0¦4¦8¦20¦-1 ~ ={_FLAG[1:]}¦15¦16
string ~ formatdate ~ {_DATE_FORMAT} ~ {_DATE}
string ~ timeadd ~ {_DATE} ~ {_DURATION}
string ~ textencodebase64 ~ string ~ {_ENCODING}
string ~ textdecodebase64 ~ {_BASE64} ~ {_ENCODING}
string ~ regex ~ ="."¦"[a-z]+"¦"x" ~ string
bool ~ alltrue ~ list(bool)
bool ~ anytrue ~ list(bool)
bool ~ can ~ any
bool ~ contains ~ list ~ any
bool ~ contains ~ list(string) ~ string
bool ~ contains ~ set(number) ~ number
bool ~ startswith ~ string ~ string
bool ~ endswith ~ string ~ string
bool ~ strcontains ~ string ~ string
bool ~ issensitive ~ any
bool ~ tobool ~ any
bool ~ cidrcontains ~ {_CIDR} ~ {_ADDRESS}
list ~ chunklist ~ list ~ ={_FLAG[1:]}
list ~ coalescelist ~ result ~ *result
list ~ compact ~ list(string)
list ~ concat ~ result ~ *result
list ~ concat ~ tuple ~ *list
list ~ distinct ~ list
list ~ keys ~ map
list ~ keys ~ object
list ~ values ~ map
list ~ sort ~ list(string)
list ~ split ~ string ~ string
list ~ formatlist ~ {_FORMAT} ~ *list(string)
list ~ formatlist ~ {_FORMAT} ~ list(number) ~ string
list ~ matchkeys ~ list ~ list(string) ~ list(string)
list ~ range ~ ={_FLAG[1:]}¦5¦0.5 ~ ={_FLAG[1:]}¦10? ~ =1¦2¦-1¦0¦0.5?
list ~ reverse ~ list
list ~ slice ~ list ~ ={_FLAG[1:]} ~ ={_FLAG[1:]}
list ~ tolist ~ any
list ~ regexall ~ {_PATTERN} ~ string
list ~ cidrsubnets ~ {_CIDR} ~ =4¦8¦1¦0 ~ *=4¦8¦12¦20
list ~ flatten ~ list
list ~ csvdecode ~ ="a,b\\n1,2\\n"¦"a\\n"¦"a,a\\n1,2"¦"a,b\\n1"¦""¦"\\"a\\"\\n\\"x\\ny\\""
tuple ~ flatten ~ tuple
tuple ~ concat ~ tuple ~ *tuple
tuple ~ reverse ~ tuple
tuple ~ slice ~ tuple ~ ={_FLAG[1:]} ~ ={_FLAG[1:]}
tuple ~ distinct ~ list
tuple ~ values ~ object
tuple ~ setproduct ~ list ~ *tuple
set ~ setintersection ~ result ~ *result
set ~ setproduct ~ set ~ *list
set ~ setsubtract ~ set(string) ~ set(string)
set ~ setsubtract ~ result ~ result
set ~ setunion ~ result ~ *result
set ~ toset ~ any
map ~ merge ~ map ~ *map
map ~ tomap ~ any
map ~ transpose ~ map(list(string))
map ~ zipmap ~ list(string) ~ list
object ~ merge ~ object ~ *object
object ~ merge ~ object ~ *map
object ~ zipmap ~ list(string) ~ tuple
object ~ regex ~ ="(?P<x>.)(?P<y>.)?" ~ string
any ~ coalesce ~ result ~ *result
any ~ element ~ list ~ {_FLAG}
any ~ element ~ tuple ~ {_FLAG}
any ~ jsondecode ~ {_JSON}
any ~ jsondecode ~ string
any ~ yamldecode ~ {_YAML}
any ~ lookup ~ map ~ string ~ result?
any ~ lookup ~ object ~ ="a"¦"b"¦"k" ~ result
any ~ nonsensitive ~ result
any ~ sensitive ~ result
any ~ ephemeralasnull ~ result
any ~ one ~ list
any ~ one ~ set
any ~ one ~ tuple
any ~ regex ~ {_PATTERN} ~ string
any ~ try ~ result ~ *result
any ~ try ~ any ~ result
"""
)
