"""Trains the model of the last chapter, in an environment with torch."""
