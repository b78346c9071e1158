"""``python -m workers`` is ``skyhouse-worker``."""

from workers.cli import main

main()
