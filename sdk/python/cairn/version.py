"""The version of this package, which `pyproject.toml` repeats."""

__version__ = "0.1.0"
