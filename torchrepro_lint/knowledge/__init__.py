"""What PyTorch and its ecosystem do: data files beside typed loaders. Pure data; nothing of those libraries is imported."""
