"""Edits that repair findings: range edits over the original text, computed on one libcst parse of it."""
