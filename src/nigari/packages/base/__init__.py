"""Files of packages: written whole, unpacked safely, compared, for one platform.

Does not know where packages come from.
"""
