"""``python -m workers`` is ``skyhouse-worker``."""

from workers.worker_command import main

main()
