import sys

from tools.faults.book import main

if __name__ == "__main__":
    sys.exit(main())
