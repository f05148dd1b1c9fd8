"""Run the command line: `python -m hedgerow`."""

from hedgerow.cli.app import main

main()
