"""Gramian and its peers on the same data in one run: ``make bench``."""
