import sys

from tools.bench.measure import main

if __name__ == "__main__":
    sys.exit(main())
