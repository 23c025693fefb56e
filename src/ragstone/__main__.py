"""`python -m ragstone`."""

import sys

from ragstone.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
