"""`python -m empathylab` is the command `empathylab`."""

from empathylab.cli import main

main()
