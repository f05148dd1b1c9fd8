"""Run the command line: `python -m hedgerow`."""

from hedgerow.cli.app import main

if __name__ == "__main__":
    main()
