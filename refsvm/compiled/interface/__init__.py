"""The common parts of all compiled code: the layout of the state, the decorators, the calls, the cache stamp."""
