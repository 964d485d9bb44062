"""Support for the tests: the quick run, clocks, copies of the book, rebuilds."""
