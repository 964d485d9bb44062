"""The steps of a build, which `tools.build` calls."""
