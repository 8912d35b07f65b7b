"""The checks of `cairn doctor`."""
