"""Questions about a configuration and their answers: a value, when it is known, and why.

Does not know who asks: a command, a Python program or the page.
"""
