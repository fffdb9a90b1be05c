"""Static analysis for PyTorch reproducibility: a checker, a fixer and a flake8 plugin.

Importing the package imports none of its parts: start-up is on every user's path.
"""

__version__ = "0.1.0"
