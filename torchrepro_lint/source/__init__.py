"""Files: where they are, what they say, and which comments in them silence a finding."""
