"""What PyTorch and its ecosystem do: data files beside typed loaders. No library of them is imported."""
