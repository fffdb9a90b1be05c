"""Loaders, what their workers run, and which generators that draws from and seeds."""
