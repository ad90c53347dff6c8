"""The language server: editors ask over JSON-RPC, `nigari.language` answers with data.

Owns the wire, the protocol's words and positions, and when what is worked out. What an answer is
made of is worked out in `nigari.language`; commands and pages are unknown here.
"""
