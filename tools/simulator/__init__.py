"""Holds the simulator to Numba: what compiles, which types, which races."""
