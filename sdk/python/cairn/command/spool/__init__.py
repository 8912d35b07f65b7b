"""The spool of jobs that have ended."""
