"""Order, splits and generators (TRL2xx)."""
