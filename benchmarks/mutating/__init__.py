"""Mutation testing of the readable half: `places` draws what is broken, `own_tests` runs the tests of its folder."""
