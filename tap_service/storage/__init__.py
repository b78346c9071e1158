"""Engine and stores."""
