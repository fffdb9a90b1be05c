"""Operations of torch, the tensors that they work on, and where they run."""
