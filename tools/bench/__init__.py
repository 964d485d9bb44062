"""Measures on this machine the times that the book reports."""
