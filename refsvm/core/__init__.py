"""The reference: what the papers are about, in NumPy alone. It imports nothing outside this folder."""
