"""All facts linked: what names mean across files, what expressions can be, what runs where."""
