"""Resampling: rounds over one data set that share kernel rows and start from each other."""

from refsvm.resampling.cross_validation import CrossValidation, cross_validate

__all__ = ["CrossValidation", "cross_validate"]
