"""Services: what all folders but the reference share.

====================  ===============================================================
`summary`, `cards`    Card: one line, a table of text or HTML; what the cards of core's results say
`line`                the line that shows progress
`guards`, `float32`   the guards of a run beside those of rounding; rows kept in single precision
`pool`                several workers
`store`, `identity`   finished runs on disk; what makes two runs the same
`files`               files that are whole or not there
`labels`, `names`     labels of any kind; kernels called by name
`types`               names for what an argument may be, as signatures show them
====================  ===============================================================
"""
