"""The parts that all compiled code shares: the state's layout, decorators, calls of rules, and the cache stamp."""
