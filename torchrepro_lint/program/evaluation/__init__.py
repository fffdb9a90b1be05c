"""What expressions can be: values, names, attributes, calls and conditions."""
