"""Kernels that the authors of ptxsim did not design, written for Numba.

Each is an algorithm that somebody else published or that CUDA programmers use every day,
typed anew. `catalogue.py` says what a kernel comes with; the other modules hold the
kernels by theme.
"""
