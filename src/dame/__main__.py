"""`python -m dame`: the command line."""

from dame.cli import main

main()
