"""Seeds (TRL5xx)."""
