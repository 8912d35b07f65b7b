"""What a job logs, from its values in memory to numbered envelopes."""
