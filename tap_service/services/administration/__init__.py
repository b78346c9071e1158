"""What operators see and stop: all that runs, and the jobs of all users."""
