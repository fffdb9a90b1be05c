"""What the words of the command line do: each reads the engine's answer and prints it."""
