"""What a build does, step by step: `tools.build` calls it."""
