"""What varies in a perturbed run, in the watched process. The module `perturbations` lists what can be varied.

apply.py      puts a perturbation in place
listing.py    another order of directory listings
clock.py      another time
loaders.py    another number of workers, an extra draw between two passes
"""
