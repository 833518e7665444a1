"""The parts that all compiled code shares: the layout of the state, the decorators, the calls, the cache stamp."""
