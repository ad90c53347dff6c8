"""The page: a configuration, a plan and an apply to look at in a browser.

Functions here give the data of the page, from which every secret has been taken out, put the page
together, and serve it on this machine. What values are and where they come from is worked out below;
which options the command has is known above.
"""
