"""Language analysis of configurations that are being edited: symbols, references, values, edits.

Every function here takes and returns data; editors and commands show it. What is analysed may be
incomplete, and is read with its unsaved changes. Owns nothing that is evaluated or validated: that is
done by the packages below, as for any command. The protocol of editors is unknown here.
"""
