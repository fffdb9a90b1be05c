"""What the user reads: findings as text, as one line each, as JSON, and the sentence at the end."""
