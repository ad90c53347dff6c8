"""`textencodebase64` and `textdecodebase64`: text in the encodings of the IANA registry.

Python's codecs do the conversion. Differences between their tables and OpenTofu's are listed here;
for the large East Asian character sets only the common characters.
"""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.json_text import clean_text
from nigari.cty.types import STRING, Type
from nigari.cty.values import Value, string
from nigari.lang.functions.encoding import from_base64, to_base64
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


@record
class _Encoding:
    """An encoding: a codec, and its differences from OpenTofu's table.

    `ours` and `theirs` are characters in the same order: the codec has `theirs` in place of `ours`.
    The `refused` ones exist only in the codec, as may the control characters from 0x80 on. The
    codec may append a final shift sequence that OpenTofu omits.
    """

    codec: str
    ours: str = ""
    theirs: str = ""
    refused: str = ""
    no_controls: bool = False
    final_shift: bytes = b""

    def encode(self, text: str) -> bytes:
        """Encode a text; raise `ValueError` for characters that the encoding lacks."""
        if self.no_controls and any("\x80" <= char <= "\x9f" for char in text):
            raise ValueError(text)
        missing = set(self.theirs + self.refused) - set(self.ours)
        if missing and not missing.isdisjoint(text):
            raise ValueError(text)
        translated = text.translate(str.maketrans(self.ours, self.theirs))
        return translated.encode(self.codec).removesuffix(self.final_shift)

    def decode(self, data: bytes) -> str:
        """Decode bytes; raise `ValueError` for invalid ones."""
        text = data.decode(self.codec)
        if self.no_controls and any("\x80" <= char <= "\x9f" for char in text):
            raise ValueError(text)
        if self.refused and not set(self.refused).isdisjoint(text):
            raise ValueError(text)
        return text.translate(str.maketrans(self.theirs, self.ours))


_JAPANESE_OURS: Final = "～∥－￠￡￢"
_JAPANESE_THEIRS: Final = "〜‖−¢£¬"
_PRIVATE: Final = "\x80\uf8f0\uf8f1\uf8f2\uf8f3"

_ENCODINGS: Final[tuple[tuple[_Encoding, str], ...]] = (
    (_Encoding("ascii"), "us-ascii ansi_x3.4-1968 ansi_x3.4-1986 cp367 csascii ibm367 iso-ir-6"),
    (_Encoding("ascii"), "iso646-us iso_646.irv:1991 us"),
    (_Encoding("utf_8"), "utf-8 csutf8"),
    (_Encoding("utf_16_be"), "utf-16be csutf16be"),
    (_Encoding("utf_16_le"), "utf-16le csutf16le"),
    (_Encoding("latin_1"), "iso-8859-1 iso_8859-1 iso_8859-1:1987 latin1 l1 iso-ir-100"),
    (_Encoding("latin_1"), "cp819 ibm819 csisolatin1"),
    (_Encoding("iso8859_9"), "iso-8859-9 iso_8859-9 iso_8859-9:1989 latin5 l5 iso-ir-148"),
    (_Encoding("iso8859_9"), "csisolatin5"),
    (_Encoding("koi8_r"), "koi8-r cskoi8r"),
    (_Encoding("koi8_u", "ўЎ", "╝╬"), "koi8-u cskoi8u"),
    (_Encoding("mac_roman"), "macintosh mac csmacintosh"),
    (_Encoding("cp874"), "windows-874 cswindows874"),
    (_Encoding("cp037"), "ibm037 cp037 csibm037 ebcdic-cp-ca ebcdic-cp-nl ebcdic-cp-us"),
    (_Encoding("cp037"), "ebcdic-cp-wt"),
    (_Encoding("cp037", "^[¬Ý¨]", "¬Ý^[]¨"), "ibm1047 ibm-1047 csibm1047"),
    (_Encoding("cp858"), "ibm00858 ccsid00858 cp00858 csibm00858 pc-multilingual-850+euro"),
    (_Encoding("cp1140"), "ibm01140 ccsid01140 cp01140 csibm01140 ebcdic-us-37+euro"),
    (_Encoding("cp437"), "ibm437 437 cp437 cspc8codepage437"),
    (_Encoding("cp850"), "ibm850 850 cp850 cspc850multilingual"),
    (_Encoding("cp852"), "ibm852 852 cp852 cspcp852"),
    (_Encoding("cp862"), "ibm862 862 cp862 cspc862latinhebrew"),
    (_Encoding("big5hkscs"), "big5 csbig5"),
    (_Encoding("cp949"), "euc-kr cseuckr"),
    (_Encoding("gb18030"), "gb18030 csgb18030"),
    (_Encoding("gbk"), "gbk cp936 csgbk ms936 windows-936"),
    (_Encoding("hz", final_shift=b"~}"), "hz-gb-2312"),
    (
        _Encoding("euc_jp", _JAPANESE_OURS, _JAPANESE_THEIRS, "¥‾"),
        "euc-jp cseucpkdfmtjapanese extended_unix_code_packed_format_for_japanese",
    ),
    (
        _Encoding("iso2022_jp", _JAPANESE_OURS, _JAPANESE_THEIRS, "¥‾"),
        "iso-2022-jp csiso2022jp",
    ),
    (_Encoding("cp932", refused=_JAPANESE_THEIRS + _PRIVATE), "shift_jis ms_kanji csshiftjis"),
)
_PARTS_OF_ISO_8859: Final = {
    2: "iso_8859-2 iso_8859-2:1987 latin2 l2 iso-ir-101 csisolatin2",
    3: "iso_8859-3 iso_8859-3:1988 latin3 l3 iso-ir-109 csisolatin3",
    4: "iso_8859-4 iso_8859-4:1988 latin4 l4 iso-ir-110 csisolatin4",
    5: "iso_8859-5 iso_8859-5:1988 cyrillic iso-ir-144 csisolatincyrillic",
    6: "iso_8859-6 iso_8859-6:1987 arabic asmo-708 ecma-114 iso-ir-127 csisolatinarabic "
    "iso-8859-6-e iso_8859-6-e csiso88596e iso-8859-6-i iso_8859-6-i csiso88596i",
    7: "iso_8859-7 iso_8859-7:1987 greek greek8 ecma-118 elot_928 iso-ir-126 csisolatingreek",
    8: "iso_8859-8 iso_8859-8:1988 hebrew iso-ir-138 csisolatinhebrew iso-8859-8-e iso_8859-8-e "
    "csiso88598e iso-8859-8-i iso_8859-8-i csiso88598i",
    10: "iso_8859-10:1992 latin6 l6 iso-ir-157 csisolatin6",
    13: "csiso885913",
    14: "iso_8859-14 iso_8859-14:1998 iso-celtic latin8 l8 iso-ir-199 csiso885914",
    15: "iso_8859-15 latin-9 csiso885915",
    16: "iso_8859-16 iso_8859-16:2001 latin10 l10 iso-ir-226 csiso885916",
}


def _by_name() -> dict[str, _Encoding]:
    table = {name: encoding for encoding, names in _ENCODINGS for name in names.split()}
    for part, names in _PARTS_OF_ISO_8859.items():
        encoding = _Encoding(f"iso8859_{part}", no_controls=True)
        table.update(dict.fromkeys([f"iso-8859-{part}", *names.split()], encoding))
    for page in range(1250, 1259):
        encoding = _Encoding(f"cp{page}")
        table.update(dict.fromkeys([f"windows-{page}", f"cswindows{page}"], encoding))
    for page in (855, 860, 863, 865, 866):
        names = f"ibm{page} {page} cp{page} csibm{page}"
        table.update(dict.fromkeys(names.split(), _Encoding(f"cp{page}")))
    return table


_BY_NAME: Final = _by_name()
_WITH_BYTE_ORDER: Final = frozenset({"utf-16", "csutf16"})
_LITTLE_ENDIAN: Final = b"\xff\xfe"
_BIG_ENDIAN: Final = b"\xfe\xff"


def _encode_text(text: str, name: str) -> bytes:
    name = _known_name(name)
    if name in _WITH_BYTE_ORDER:
        # golang.org/x/text: UTF-16 without a byte order is written big-endian with a
        # mark, and read as that without one.
        return _BIG_ENDIAN + text.encode("utf_16_be")
    return _BY_NAME[name].encode(text)


def _decode_text(data: bytes, name: str) -> str:
    name = _known_name(name)
    if name not in _WITH_BYTE_ORDER:
        return _BY_NAME[name].decode(data)
    if data.startswith(_LITTLE_ENDIAN):
        return data[2:].decode("utf_16_le")
    return data.removeprefix(_BIG_ENDIAN).decode("utf_16_be")


def _known_name(given: str) -> str:
    name = given.strip().lower()
    if name not in _BY_NAME and name not in _WITH_BYTE_ORDER:
        raise FunctionError(f'"{given}" is not a supported encoding of the IANA registry', 1)
    return name


def _encode(args: list[Value], _: Type) -> Value:
    name = args[1].as_string()
    try:
        return string(to_base64(_encode_text(clean_text(args[0].as_string()), name)))
    except ValueError:
        raise FunctionError(
            f"the string contains characters that {name} cannot represent", 0
        ) from None


def _decode(args: list[Value], _: Type) -> Value:
    name = args[1].as_string()
    _known_name(name)
    data = from_base64(args[0].as_string())
    if data is None:
        raise FunctionError("the string is not valid Base64", 0)
    try:
        text = _decode_text(data, name)
    except ValueError:
        text = "\ufffd"
    # golang.org/x/text puts U+FFFD in place of invalid bytes; TextDecodeBase64Func takes it
    # for an error.
    if "\ufffd" in text:
        raise FunctionError(f"the bytes are not valid {name}", 0)
    return string(text)


_ENCODING: Final = Parameter("encoding", STRING)
FUNCTIONS: Final = {
    "textdecodebase64": Function(
        (Parameter("source", STRING), _ENCODING), None, STRING, _decode, NOT_NULL_RESULT
    ),
    "textencodebase64": Function(
        (Parameter("string", STRING), _ENCODING), None, STRING, _encode, NOT_NULL_RESULT
    ),
}
