"""Operations (TRL4xx)."""
