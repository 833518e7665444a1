"""Rounds: many related solves, and the algorithms that leave out examples and folds.

=================  ===============================================================
`rounds`           Rounds: related solves that share one kernel matrix; the other files use it
`round`            Round: the description of one solve
`runner`           runs rounds one after another: sets the box, seeds, takes the steps
`machine`          Machine: a problem from which rounds leave examples out
`leave_one_out`    Algorithm 1 of the leave-one-out paper, for one machine
`sufficiency`      checks that decide examples from the full solution, without a round
`left_out_table`   the results of leave-one-out for each example of one machine
`chain`            the rounds of folds: Algorithms 1 to 3 of the seeding paper
`walked`           solves that follow a path in C, for problems on which SMO takes many steps
=================  ===============================================================
"""
