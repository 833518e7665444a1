"""Analysis: questions beyond the papers, answered with the reference."""
