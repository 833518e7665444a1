"""Twin of `refsvm.solver`: the loop."""
