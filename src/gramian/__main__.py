"""Run the command line as ``python -m gramian``."""

from gramian.cli import main

if __name__ == "__main__":
    main()
