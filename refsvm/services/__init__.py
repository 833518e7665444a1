"""Services: code that all folders except `core` share.

====================  ===============================================================
`summary`, `cards`    Card: a result as one line, as a table of text or as HTML; the cards of core's results
`line`                the line that shows progress
`guards`, `float32`   checks of a run that core does not contain; kernel rows in single precision
`pool`                threads and processes that share work
`store`, `identity`   finished runs in a file, and the hash that identifies a run
`files`               writes a file completely or not at all
`labels`, `names`     labels of any kind; kernels by name
`types`               names for the types of arguments, as signatures show them
====================  ===============================================================
"""
