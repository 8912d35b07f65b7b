"""Runs as commands name, list and show them."""
