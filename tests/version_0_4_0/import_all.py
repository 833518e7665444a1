"""Imports each module of 0.4.0 by its old name, and checks what comes of it."""


def main() -> None:
    import sys
    import warnings
    from importlib import import_module
    from importlib.util import find_spec
    from pathlib import Path

    import refsvm
    from refsvm.moved import place

    names = Path(__file__).with_name("modules.txt").read_text(encoding="utf-8").split()
    for name in names if find_spec("refsvm.compiled") else [each for each in names if "compiled" not in each]:
        new = place(name)
        if not new:
            assert find_spec(name), f"{name} is neither there nor in the table"
            continue
        folder = import_module(new.rpartition(".")[0])
        functions = {name: value for name, value in vars(folder).items() if callable(value)}
        for code in (f"import {name}", f"import_module({name!r})"):
            for known in [known for known in sys.modules if place(known)]:
                del sys.modules[known]  # a folder on the way, which is imported again, must not warn
            with warnings.catch_warnings(record=True, action="always") as said:
                exec(
                    compile(code, "caller.py", "exec"), {"__name__": "caller", "import_module": import_module}
                )
            assert [(each.category, each.filename) for each in said] == [(DeprecationWarning, "caller.py")], (
                name
            )
            assert f"{name} is now {new}," in str(said[0].message), name
        assert sys.modules[name] is import_module(new), name
        assert sys.modules[new].__spec__.name == new, name
        assert functions.items() <= vars(folder).items(), f"{name} replaces a function"
        assert getattr(refsvm, name.split(".")[1]), name


if __name__ == "__main__":
    main()
