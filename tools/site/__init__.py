"""Checks of the built site: its weight and speed, its links, and walks through it."""
