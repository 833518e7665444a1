"""Wrote the files beside it, run with refsvm 0.4.0: write.py FOLDER."""


def main() -> None:
    import pickle
    import sys
    from pathlib import Path
    from zipfile import ZIP_LZMA, ZipFile, ZipInfo

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
        cross_validate,
        leave_one_out,
        parametric_path,
        regularization_path,
        solve,
        write_model,
    )

    assert refsvm.__version__ == "0.4.0"
    out, rng, numpy = Path(sys.argv[1]), np.random.default_rng(0), {"engine": "numpy"}
    X = rng.normal(size=(12, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=12) > 0, "oak", "elm")
    three, t, signs = (
        np.where(X[:, 1] > 0.5, "ash", y),
        X[:, 0] + 0.3 * X[:, 1] ** 2,
        np.where(y == "oak", 1.0, -1.0),
    )
    C1, C2 = (DualProblem.classification(X, signs, kernel=RBF(0.4), C=C) for C in (1.0, 2.0))
    rbf = {"kernel": RBF(0.4), **numpy}
    estimators = {
        "svc": SVC(C=2.0, gamma=0.4, step=PlanningAheadStep(), **numpy).fit(X, y),
        "svc_of_three": SVC(C=5.0, gamma=0.2, **numpy).fit(X, three),
        "svr": SVR(C=3.0, gamma=0.3, **numpy).fit(X, t),
        "one_class": OneClassSVM(nu=0.3, gamma=0.4, **numpy).fit(X),
        "svccv": SVCCV(Cs=[0.5, 5.0], gammas=[0.1], cv=2, **numpy).fit(X, y),
        "svc_partial": SVC(C=2.0, gamma=0.4, **numpy).partial_fit(X[:9], y[:9]).partial_fit(X[9:], y[9:]),
    }
    results = {
        "regularization": regularization_path(X, signs, kernel=RBF(0.4), C_min=0.5, C_max=2.0, **numpy),
        "parametric": parametric_path(C1, C2, **numpy),
        "solution": solve(C1, **numpy),
        "left_out": leave_one_out(X, y, C=1.0, **rbf),
        "folds": cross_validate(X, y, C=1.0, folds=3, rng=0, **rbf),
    }
    values = {
        name: model.predict(X) if name == "svr" else model.decision_function(X)
        for name, model in estimators.items()
    }
    for name, at in (("regularization", 1.0), ("parametric", 0.5)):
        save_path(results[name], out / f"{name}.npz")
        values[name] = results[name].alpha(at)
    values |= {"solution": results["solution"].alpha}
    values |= {name: results[name].decision_values for name in ("left_out", "folds")}
    for name in ("svc", "svc_of_three", "svr", "one_class"):
        write_model(estimators[name], out / f"{name}.model", columns=["a", "b"])
    with ZipFile(out / "pickles.zip", "w", ZIP_LZMA) as file:
        for name, each in {**estimators, **results}.items():
            file.writestr(ZipInfo(name), pickle.dumps(each, protocol=4), ZIP_LZMA)
    np.savez_compressed(out / "values.npz", X=X, y=y, t=t, **values)


if __name__ == "__main__":
    main()
