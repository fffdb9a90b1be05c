"""Seeds of the main process: which, where from, when, and which are missing."""
