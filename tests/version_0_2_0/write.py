"""Wrote the files beside it, run with refsvm 0.2.0: write.py FOLDER."""


def main() -> None:
    import pickle
    import subprocess
    import sys
    from pathlib import Path

    import numpy as np
    from refsvm.paths import save_path

    import refsvm
    from refsvm import (
        RBF,
        SVC,
        SVCCV,
        SVR,
        DualProblem,
        OneClassSVM,
        PlanningAheadStep,
        parametric_path,
        regularization_path,
        write_model,
    )
    from refsvm.datasets import Dataset, open_data
    from refsvm.experiment import Experiment, Problem, Solve

    assert refsvm.__version__ == "0.2.0"
    out, rng, numpy = Path(sys.argv[1]), np.random.default_rng(0), {"engine": "numpy"}
    X = rng.normal(size=(24, 3)) + np.array([0.0, 2.0, -1.0])
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=24) > 0, "oak", "elm")
    three, t = np.where(X[:, 1] > 2.5, "ash", y), X[:, 0] + 0.3 * X[:, 1] ** 2
    grid = {"Cs": [0.5, 5.0], "gammas": [0.1, 1.0], "cv": 3}
    models = {
        "svc": SVC(C=2.0, gamma=0.4, step=PlanningAheadStep(), **numpy).fit(X, y),
        "svc_linear": SVC(kernel="linear", **numpy).fit(X, y),
        "svc_of_three": SVC(C=5.0, kernel="poly", degree=2, coef0=1.0, gamma=0.2, **numpy).fit(X, three),
        "svr": SVR(C=3.0, gamma=0.3, **numpy).fit(X, t),
        "one_class": OneClassSVM(nu=0.3, gamma=0.4, **numpy).fit(X),
        "svccv": SVCCV(**grid, **numpy).fit(X, y),
        "svc_partial": SVC(C=2.0, gamma=0.4, **numpy).partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]),
    }
    values = {}
    for name, model in models.items():
        (out / f"{name}.pickle").write_bytes(pickle.dumps(model, protocol=4))
        values[name] = model.predict(X) if name == "svr" else model.decision_function(X)
        if name not in ("svccv", "svc_partial"):
            write_model(model, out / f"{name}.model", columns=["a", "b", "c"])
    signs = np.where(y == "oak", 1.0, -1.0)
    path = regularization_path(X, signs, kernel=RBF(0.4), C_min=0.1, C_max=5.0, engine="numpy")
    line = parametric_path(
        *(DualProblem.classification(X, signs, kernel=RBF(0.4), C=C) for C in (1.0, 2.0)), engine="numpy"
    )
    for name, each, at in (("regularization", path, 1.0), ("parametric", line, 0.5)):
        save_path(each, out / f"{name}.npz")
        values[name] = each.alpha(at)
    SVCCV(store=out / "search.sqlite", **grid, **numpy).fit(X, y)
    Experiment(
        [Solve("SMO", engine="numpy")],
        [Problem("wood", lambda: Dataset("wood", X, signs), RBF(0.4), 2.0)],
        out / "runs.sqlite",
    ).run()
    table = "a,b,c,kind\n" + "".join(
        ",".join(map(repr, row)) + f",{label}\n" for row, label in zip(X.tolist(), y, strict=True)
    )
    (out / "wood.csv").write_text(table)
    sparse = "".join(f"{i % 2} 1:{i + 1} {4 + i % 3}:{i % 5 + 1}\n" for i in range(12))
    (out / "sparse.libsvm").write_text(sparse)
    for name, options in (("wood.csv", ["--label", "kind"]), ("sparse.libsvm", [])):
        model = str(out / f"scaled_{Path(name).stem}.model")
        command = [
            sys.executable,
            "-m",
            "refsvm",
            "fit",
            str(out / name),
            *options,
            "--scale",
            "--model",
            model,
        ]
        subprocess.run(command, check=True)
        data = open_data(out / name, *options[1:])
        values[f"scaled_{Path(name).stem}"] = refsvm.read_model(model).decision_function(data.X)
    np.savez_compressed(out / "values.npz", X=X, y=y, three=three, t=t, **values)


if __name__ == "__main__":
    main()
