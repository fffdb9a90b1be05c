"""What runs, from where, how often and under which conditions."""
