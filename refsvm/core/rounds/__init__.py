"""Rounds: many related solves, and the algorithms of leave-one-out and folds over them.

=================  ===============================================================
`rounds`           Rounds: related solves over one kernel matrix; all others use it
`round`            what one of them is
`runner`           one after another: its box, its seed, its steps
`machine`          the problems of which rounds leave examples out
`leave_one_out`    Algorithm 1 of the leave-one-out paper, for one machine
`sufficiency`      what the full solution tells without training again
`left_out_table`   what leave-one-out knows about each example of one machine
`chain`            the rounds of folds: Algorithms 1 to 3 of the seeding paper
`walked`           rounds that a walk in C solves, where SMO takes many steps
=================  ===============================================================
"""
