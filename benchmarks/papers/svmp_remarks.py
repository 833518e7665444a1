"""What there is to say about the tables of svmp.py."""

REMARKS = {
    "run": "x",
    "gaussian": "x",
    "Table II: linear kernel": "x",
    "Table III: Gaussian kernel": "x",
    "IV": "x",
    "rounds": "x",
}
