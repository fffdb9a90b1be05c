"""Backends and switches (TRL3xx)."""
