"""Sets that come with refsvm."""

from benchopt import BaseDataset

from refsvm.datasets import load, make_banana

GAMMAS = {"heart": 0.005, "thyroid": 1 / 18, "banana": 0.5}


class Dataset(BaseDataset):
    """One of them, with a γ that suits it."""

    name = "bundled"
    parameters = {"set": list(GAMMAS)}

    def get_data(self):
        """Examples, labels and γ."""
        data = make_banana(500, rng=0) if self.set == "banana" else load(self.set)
        return {"X": data.X, "y": data.y, "gamma": GAMMAS[self.set]}
