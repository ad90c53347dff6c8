"""`python -m nigari` is the `nigari` command."""

import sys

from nigari.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
