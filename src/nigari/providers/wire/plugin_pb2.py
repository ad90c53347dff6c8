# Written by scripts/generate_wire.py from plugin.proto.
"""Services of every plugin beside its provider service: shutdown, and its output."""

from nigari.providers.wire.descriptions import define

define(
    __name__,
    b'\n"nigari/providers/wire/plugin.proto\x12\x12nigari.wire.plugin"\x07\n\x05Empty"\x90\x01\n\tStdioData\x12?\n\x07channel\x18\x01 \x01(\x0e2%.nigari.wire.plugin.StdioData.ChannelR\x07channel\x12\x12\n\x04data\x18\x02 \x01(\x0cR\x04data".\n\x07Channel\x12\x0b\n\x07INVALID\x10\x00\x12\n\n\x06STDOUT\x10\x01\x12\n\n\x06STDERR\x10\x02b\x06proto3',
    globals(),
)
