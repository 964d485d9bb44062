"""Compares the simulator with Numba: verdicts of the compiler, types, races."""
