"""Determinism switches, the intent that they show, and the environment that they need."""
