"""Measures on this machine what the book reports."""
