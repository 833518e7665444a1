"""Libraries that train support vector machines, side by side; what `benchmarks/peers.py` is made of.

================  ==============================================================================
`tables`          the tables, one file each; how to add one is said there
`libraries`       which libraries: how their estimators are made, and what they have to be handed
`problems`        which problems: the suite of eighteen, the large ones, families that grow
`tasks`           what is measured: fit, predict; another task is another class
`watching`        where the seconds of a fit of refsvm go; a task too
`worker`          a process for each library, with limits on its time and its memory
`memory`          how much memory a process holds
`round_robin`     the libraries take turns on a problem; the fastest turn of each counts
`results`         what is passed around: evidence, answers, outcomes, rows
`agreement`       whether all of them found the same answer
`growth`          seconds against n and d: exponents and the plot
`report`          tables in Markdown, and where they are written
`store`           large problems that are finished, kept on disk
================  ==============================================================================
"""
