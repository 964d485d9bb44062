import sys

from tools.kernels.gate import main

if __name__ == "__main__":
    sys.exit(main())
