"""Twin of `refsvm.core.solver`: the loop."""
