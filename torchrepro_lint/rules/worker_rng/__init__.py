"""What DataLoader workers draw (TRL1xx)."""
