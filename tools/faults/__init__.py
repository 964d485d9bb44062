"""Plants faults, one by one; each has to be noticed."""
