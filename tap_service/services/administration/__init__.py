"""Running work and the jobs of all users, which operators can see and stop."""
