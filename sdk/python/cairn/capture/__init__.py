"""What is recorded of a run's surroundings without anybody asking: each part can be switched off."""
