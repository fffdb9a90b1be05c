"""A program that is kept from one analysis to the next: what its answers rest on, and which of them a change undoes."""
