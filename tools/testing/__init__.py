"""What the tests run by: the quick ones, clocks, copies of the book, rebuilds."""
