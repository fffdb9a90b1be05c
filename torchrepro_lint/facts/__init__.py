"""From the text of one file to `ModuleFacts`: one libcst parse, one walk, plain data."""
