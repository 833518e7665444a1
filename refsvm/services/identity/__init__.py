"""The identity of rules, kernels and data by value: their code, and all that their code and their fields hold."""

from refsvm.core.rule import export
from refsvm.services.identity.package import hash_of_folders as hash_of_folders
from refsvm.services.identity.package import package_code as package_code
from refsvm.services.identity.text import described as described
from refsvm.services.identity.values import NoIdentityError as NoIdentityError
from refsvm.services.identity.values import digest_of as digest_of
from refsvm.services.identity.values import opaque_parts as opaque_parts

IDENTITY = 2
"""Number of the way in which runs are identified, in the description of each. Runs up to 0.3.0 have none."""

export(vars(), "IDENTITY")
