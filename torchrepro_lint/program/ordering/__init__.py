"""Orders and splits: samplers, generators, listings, sets, checkpoints."""
