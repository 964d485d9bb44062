import sys

from tools.model.train import main

if __name__ == "__main__":
    sys.exit(main())
