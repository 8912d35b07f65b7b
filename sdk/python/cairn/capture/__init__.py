"""What is recorded of a run's surroundings by default: each part can be switched off."""
