"""Computes digests that identify rules, kernels and data by their values and their code."""

from refsvm.core.rule import export
from refsvm.services.identity.package import hash_of_folders as hash_of_folders
from refsvm.services.identity.package import package_code as package_code
from refsvm.services.identity.text import described as described
from refsvm.services.identity.values import NoIdentityError as NoIdentityError
from refsvm.services.identity.values import digest_of as digest_of
from refsvm.services.identity.values import opaque_parts as opaque_parts

IDENTITY = 2
"""Version of the method that identifies runs, stored in each run's description. Runs up to 0.3.0 lack it."""

export(vars(), "IDENTITY")
