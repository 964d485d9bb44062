"""The rungs of the ladder, one file each: `ladder.find_rungs` finds them here.

To add one, write its file: a function that makes the kernel, a class derived from
`rung.Rung`, and `RUNG`, an object of it. Files that begin with `_` are no rungs.
"""
