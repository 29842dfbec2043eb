"""What each step may take: shares of the work that is left, the work of steps that are counted one by one, and what is near enough to stop.

A share is of what is left when the step begins, so earlier steps decide how much later ones have. What searches do with their share is theirs.
"""

from __future__ import annotations

from typing import NamedTuple


class Share(NamedTuple):
    """A part of the work that is left."""

    part: int
    of: int


WHOLE = Share(1, 1)
"""The last step has all that is left."""

# Which way to go.

MOST_BLOCKS = 40_000
"""With more, even one sweep of windows takes too long."""
SECONDS_PER_BLOCK = 2e-4
"""The most time for each block that writing a program takes; with less time left it is not written."""
MOST_ENTRIES_OF_SMALL = 10_000
"""Programs with no more numbers are small, and mostly answered as a whole."""
LARGE, LARGE_WITH_PEAKS = 4_000, 600
"""Larger programs take too long as a whole and are cut in time; earlier where peaks are weighed against the cost of the choice,"""
LARGE_WITH_MANY_ENTRIES, MANY_ENTRIES, MANY_PER_ENTRY = 400, 8_000, 40
"""and still earlier if there are so many numbers in them, and so much work for each."""
LIVE_WHERE_CUT, LARGE_CROWDED, CROWDED_PER_ENTRY = 32, 600, 100
"""So are those of the choice alone where so many are live at a time, on average, from so many blocks on, with less work for each number in them."""
WITHOUT_LIMIT = 4_000_000
"""What is shared where there is no limit on the work, so that each step ends."""

LEAST_TO_BEGIN_PER_ENTRY, LEAST_TO_WRITE_PER_ENTRY = 20, 4
"""Writing the program and its linear program takes about so much for each number in it, and the program alone; with less work neither is begun."""
DISPLACED_ALONE = Share(1, 2)
"""For blocks that then take the places of others, if the choice alone counts; more, if prices on room need less than the rest."""

WEIGHED, WEIGHED_ALONE = Share(1, 8), Share(1, 2)
"""For filling pools in turn there, first of all; and where nothing else is begun."""
WEIGHED_PER_ENTRY = 120
"""With more work for each number in the program, it does as well without."""
APART, SCARCE_IF_APART = Share(1, 4), 3
"""Where blocks must be in different pools: for a placement at prices, first of all; and pools are filled in turn with so many times as much work.

Prices know nothing of such rules, nor do the heights that they lead to.
"""

# What is near enough: within one part in so many.

CLOSE = 10_000
"""So close to its bound a choice need not be looked for in another way."""
NEARLY = 1_000
"""A term as close as this leaves the work to a next one that is bounded pool by pool."""
NEAR = 200
"""Windows that came so near to a choice go on, and a program whose answer is so near to its bound is worth more work."""
OPEN = 100
"""Boxes also come where the best choice exceeds the bound by more, and a window may take more where more of the whole term is open in it."""
REACHED = 8
"""Heights from the fullest sections are reached where no more than such a part of what was open of the peaks is left."""
FAR = 50
"""Where windows end farther above the bound, all are chosen again below given peaks."""
GAIN_OF_CROWDS = 0.01
"""Where crowds raise the bound by less, boxes bring little, and the program that weighs peaks is worth asking for longer."""

# Any term of a program that is asked about as a whole.

QUESTION = Share(2, 3)
"""Packing, and later questions, need some of it, too."""
WITHOUT_START = Share(1, 3)
"""For such a question without a choice to begin with: what is found with more can mostly not be packed any more, and windows come further."""
AT_FIRST = Share(1, 16)
"""Before anything else, what is easy is done."""
NARROWING, NARROWED, PACKING_NARROWED = Share(1, 4), Share(1, 4), Share(9, 10)
"""First of all, where what ends leaves its room to what begins: for finding that, for a choice that keeps them together, and for packing that;"""
PACKING_ONE = Share(2, 3)
"""of what is left of it, for one pool if others follow, and for that within the capacity before beyond it;"""
AT_FULLEST = Share(1, 16)
"""and for a proof by what is live at the fullest moment."""
WINDOWS = Share(3, 5)
"""The rest is the bound's, and then the windows' again."""
WINDOWS_WHEN_NEAR = Share(1, 16)
"""Where little of a term is open the next one needs the work."""
KEPT_FOR_FLOORS = 3
"""Where a placement is close, too, one part in so many of all work is kept for a next term that is bounded pool by pool."""

# Terms where heights are free.

EASY_PER_ENTRY = 16
"""For each number in the program: enough for a question that needs no covers."""
EASY_WITH_COVERS_PER_ENTRY = 100
"""For each number of a small program: covers are found before anything is asked, and with so much the question as it is asked is mostly answered."""
COVERS = Share(1, 6)
"""They are found soon, and hard questions are answered far sooner with them."""
PIECE_OF_WHOLE, LEAST_PIECES = 160, 2
"""Classes in a piece of such a program at most, and so many times more there must be in all."""
BY_PIECES, CHOICE_BY_PIECES, BY_PIECES_PER_ENTRY = Share(1, 4), Share(1, 16), 16
"""For their bound at first, and for raising it; for a choice of all where pieces differ; and how much there must be for each number in the program."""
CORE = Share(1, 8)
"""For a choice where the program as a whole is too hard, and as much again for making it better."""
WITH_ROOM = Share(4, 5)
"""For choices that leave room for gaps, where pools are crowded;"""
WITH_ROOM_BEFORE_DISPLACING, DISPLACING_BESIDE_ROOM = Share(1, 2), Share(1, 2)
"""less where blocks take the places of others after it, and for that."""
CLASHES = Share(1, 3)
"""Where a choice could not be packed, for one nearby that can."""
IN_STEPS = Share(1, 2)
"""Where sizes are rounded up, for what is best in whole steps before all else;"""
IN_STEPS_PER_ENTRY = 80
"""not with less work for each number in the program;"""
FIRST_AT_ENDS, AT_ENDS, PACKING_AT_ENDS = Share(1, 5), Share(1, 2), Share(1, 8)
"""and from there, for the least peaks of a choice nearby, for the choice itself, and for packing it at once;"""
FAR_AT_ENDS, PEAKS_AT_ENDS = Share(1, 2), Share(9, 10)
"""and for the best choice below the least peaks, wherever it is, where much is open then; and for the least peaks of a choice that comes first."""
DISPLACING_FIRST, DISPLACING_INSTEAD = Share(1, 32), Share(1, 2)
"""Before anything is chosen, blocks take the places of others: choices may all be such that they cannot be packed. And where none came to anything better, again."""
DISPLACING_FIRST_A_BLOCK, LIVE_WHERE_DISPLACED = 250, 20
"""At first only with so much for each block, since with less it hardly gains on greedy; in small programs with much work only where so many are live at a time."""
MENDING = Share(2, 3)
"""If none was found, windows lead from what is placed towards that choice."""
LOWERING = Share(3, 4)
"""Of that, where only peaks count: windows first make pools lower."""

# Terms where heights have a price.

BESIDE_PEAKS = Share(1, 4)
"""Weighing peaks is far harder, so they are searched for after it."""
BEFORE_BOXES, LEAST_BEFORE_BOXES_PER_ENTRY = Share(1, 6), 32
"""For that search where boxes come after it; with less for each number in the program it finds nothing, and there are no boxes."""
BOXES = Share(4, 5)
LEAST_BOXES = 4
"""Boxes come where the relaxation could be solved so many times,"""
LEAST_BOXES_IN_PIECES = 1
"""and with the work that a large program leaves at the end even for one."""
ROUNDS_AT_FIRST = 2
"""Of the linear program: without crowds, and with those of one each. That shows what crowds are worth."""
CROWDS = Share(2, 5)

SOME_POOLS, SOME_POOLS_OF_PEAKS, SOME_POOLS_OF_LATER = Share(2, 5), Share(4, 5), Share(1, 4)
"""Where there are many pools, for choosing again in two or three of them; where only peaks count, which other steps hardly lower, and of a later term;"""
SOME_POOLS_AFTER_WINDOWS = Share(1, 4)
"""After windows, where only some pools are alike;"""
SOME_POOLS_A_CLASS, SOME_POOLS_PER_ENTRY = 1_500, 32
"""and for each class in a question about these, or for each number in its program, if that is more."""
PACKING_SOME, PACKING_SOME_A_BLOCK = 5_000, 100
"""Packing one of them anew, with so much more for each block."""

# Later terms of peaks alone, after one that the choice decides.

AS_CHOSEN = Share(1, 64)
"""First each pool is packed as low as the term would have it, without another choice."""
AS_ASKED = Share(3, 5)
"""For the question as it is asked, which mostly settles the term."""
HARDER, FAR_HARDER, TO_BEGIN_PER_ENTRY = 4, 16, 8
"""It takes so many times the work of searching for the term before, after CP-SAT has begun; with less it is not asked, or only after floors."""
MUCH_PER_ENTRY = 100
"""With so much for each number in the program it does without a limit on the value."""
BEFORE_FLOORS = Share(1, 4)
"""Where pieces bound the term before, they do that better first."""
FLOORS = Share(19, 20)
"""Where the term is bounded pool by pool: little comes after it."""
LIKELY = Share(8, 9)
"""That a pool cannot be any lower is asked where the proof of the term before took no more than that part of the work."""
BOUND_OF_LATER = Share(1, 4)
"""Of the linear program of a later term."""
SECOND, SECOND_PER_ENTRY = Share(1, 16), 4
"""Where pools are crowded, kept of all work for the linear program of such a term at the fullest sections, and how much for each number in the program at most."""

# Later terms of choices, after peaks alone.

LIVE_WHERE_FILLED, SCARCE_PER_ENTRY = 28, 150
"""Pools are first of all filled in turn where so many blocks are live at a time, on average, a program is cut in time, or there is less work for each number in it."""
FILLING, FILLED_IN_VAIN, VAIN_PER_BLOCK = Share(1, 10), Share(1, 3), 100
"""For that; and for all of it where nothing is found, but then no more than so much for each block."""
POORLY = 1
"""What was filled is poor if it costs more than twice what is proven."""
HEIGHTS_FILLED = 3
"""Then pools are filled at prices, below so many heights from the fullest sections at most: where those are not reached, the next ones know who was in the way.
In programs that are soon asked about as a whole only if it is poor."""
HOLDING, HEIGHTS_HELD = Share(1, 3), 3
"""Where it is still poor, heights that hold at all times are looked for, and below so many of them the choice may be packed."""
DISPLACING_FILLED, DISPLACING_BELOW_DIVISION = Share(1, 2), Share(1, 10)
"""Of what is left then, for blocks that take the places of others below the heights that were filled; and where these are a division's."""
WITH_PEAKS_HELD, MOST_ENTRIES_WITH_PEAKS_HELD = Share(4, 5), 25_000
"""There the linear program bounds the term if it has no more numbers, since larger ones would be solved approximately,"""
LEAST_WITH_PEAKS_HELD_PER_ENTRY, WITH_PEAKS_HELD_PER_ENTRY = 24, 36
"""and if there is so much for each of them; it gets so much at most."""
RELAXED_BELOW, ROUNDS_BELOW, RELAXED_BELOW_PER_ENTRY, LEAST_ENTRIES_BELOW = Share(2, 3), 4, 40, 16_000
"""Larger ones are solved below heights, so many times with crowds found in between. Of their rows there are as many as leave so much for each number in them;
with fewer numbers pieces bound the term."""
WITH_SOME_ROWS, ENTRIES_OF_SOME_ROWS = Share(1, 3), 16_000
"""Where pools were not filled, and many blocks are live at a time, they have only some rows, with so many numbers, and levels; they are solved once."""
FROM_FULLEST, FROM_FULLEST_PER_ENTRY, LEAST_FROM_FULLEST_PER_ENTRY = Share(1, 3), 240, 100
"""Small programs are asked about as a whole from the first choice that begins at the fullest sections, with so much for each number in them at most, and only where there is at least so much;"""
AGAIN = Share(9, 10)
"""and again after windows, if that was not enough."""
FULLEST, CHOSEN_AGAIN_PER_ENTRY = Share(3, 5), 50
"""For heights from the fullest sections, and a choice below them; where the program is cut in time, only with so much for each number in it;"""
ANOTHER = Share(1, 4)
"""for another such choice, if that one cannot be packed;"""
TREE, TREE_WHERE_SCARCE, TREE_WITH_MANY, LEAST_OF_TREE_PER_ENTRY = Share(2, 5), Share(1, 2), Share(1, 4), 24
"""For a tree of divisions of the fullest section, also where work is scarce, and with many pools; and how much there must be for each number in the program;"""
DIVIDED_FIRST_PER_ENTRY = 90
"""With so much for each number in the program that comes before pools are filled, with less after it: else too little is left for filling where no choice is found so;"""
BELOW_DIVISION, POOLS_DIVIDED = Share(1, 6), 4
"""and for a choice below the heights of one of these; with more pools only where work is not scarce: little finds no good division of six;"""
TREE_PER_ENTRY = 42
"""for each number in small programs at most, since a question follows about the heights that the tree leaves;"""
HEIGHTS_LEFT, BESIDE_WINDOWS, LEAST_BY_DIVISIONS_PER_ENTRY = Share(1, 64), Share(1, 2), 24
"""for finding these; for that question where windows may come further; and with less for each number in the program it is not asked;"""
NEAR_DIVISION = 1_000
"""what is above its bound by no more than such a part is not sought below other heights;"""
NEAR_BY_HEIGHTS = 300
"""where the tree is not within such a part, the question is asked instead;"""
BESIDE_FULLEST = Share(1, 3)
"""and for windows from there."""

# At the end.

PROOF, PROOF_PER_ENTRY = Share(1, 8), 100
"""For prices of a term that only a search's word proves; but no more than all before has taken, or than so much for each number in the program. What the share
is when the term begins, it gets at least."""

# Programs that are cut in time.

WHERE_NEAR = Share(1, 2)
"""For the whole program again, where its first answer was near the bound."""
HEIGHTS, LEAST_OF_HEIGHTS_PER_ENTRY = Share(2, 5), 16
"""For the linear program, and with how much less for each number in it nothing comes of that."""
ENTRIES_OF_LARGE, ENTRIES_AT_FIRST = 25_000, 8_000
"""Of those with more numbers rows with so many numbers come first, without crowds: they show whether pools can be filled in turn. There
are boxes of such only if they go on from the first linear program, and where work is scarce prices are raised window by window."""
CORE_WITH_HEIGHTS = Share(1, 5)
"""For a choice of the classes that the linear program divides, heights being weighed."""
WEIGHING, WINDOWS_PER_ENTRY, LEAST_WEIGHING_PER_ENTRY = Share(3, 5), 72, 48
"""For boxes of heights, of which the likeliest are where windows begin. So much for each number in the program is left to windows; and with less than so much
for each there are no boxes."""
NEAR_WHERE_FILLED = 20
"""Pools that were filled in turn are where windows begin if that is no farther above the bound than one part in so many."""
LOWERING_IN_PIECES = Share(1, 3)
"""For pools that are too high for the linear program's heights."""
LOWERING_TO_HEIGHTS = Share(1, 4)
"""Where a second term counts the choice alone, to reach heights from the fullest sections;"""
LOWERING_SECOND = Share(1, 3)
"""Where a second term counts peaks alone, for lower pools at no cost in the first;"""
FLOORS_IN_PIECES = Share(5, 6)
"""and for what is proven of it, pool by pool."""
PRICES = Share(1, 8)
"""Where heights have no price, for prices on room,"""
PIECES = Share(2, 3)
"""and for the bound that adds up piece by piece."""
ADOPTING = Share(1, 8)
"""For choosing again where pieces know a cheaper choice."""
IN_TIME_PER_ENTRY = 12
"""Where pools are crowded and there is so much for each number in the program, spans of time are bounded one after the other."""
DISPLACING, DISPLACING_ALONE = Share(1, 4), Share(9, 10)
"""Before that, or with less work instead of it, blocks take the places of others;"""
RELAXED_IN_TIME = Share(9, 10)
"""and of what is left then, for the linear programs of all spans."""
HIGHEST = Share(1, 8)
"""Where earlier terms hold the peaks, for how high each pool can be,"""
HEIGHTS_PER_ENTRY = 16
"""for all choices below some heights, for each number in the program;"""
BELOW_HEIGHTS = Share(1, 3)
"""and for the bound of what then fits. The rest is the windows'."""

# Of their own work: so many parts of it, or what is left of it, may one question take.

PART_OF_PEAKS = 8
"""Searching for peaks."""
PART_OF_SOME_POOLS = 3
"""Choosing again in some of many pools."""
PART_OF_FULLEST = 4
"""Choosing at the fullest sections, and below their heights."""
PART_OF_FLOORS = 6
"""A pool's first floor, unless it is asked for just below where it is: if that is not enough, pools are not what decides the term."""
PART_OF_BOXES, MOST_OF_BOXES, BOX_PER_ENTRY = 30, 10, 32
"""A box; where that is little, so much for each number in the program, but no more than the greater part."""

# Of single steps.

PACKING, PACKING_A_BLOCK = 300_000, 300
"""Packing a pool, with so much more for each block;"""
PACKING_BEFORE_MENDING = Share(1, 3)
"""of that, where windows come near to what cannot be packed: what can be packed takes less;"""
PACKING_AT_ONCE = Share(1, 12)
"""and where large pools are packed slice by slice after it."""
PACKING_CROWDED = 250_000
"""Packing a pool in which so many blocks are live that the choice leaves room for gaps."""
PACKING_BESIDE, PACKING_BESIDE_A_BLOCK = 30_000, 300
"""Packing the blocks of a window beside all others."""
WINDOW_A_CLASS, MOST_TIMES = 400, 8
"""A window's question: more rarely helps, but where much is open in one window it may take so many times as much."""
LONG_FLOOR_PER_ENTRY, SOON_PER_ENTRY = 8, 5
"""A floor's question after a long step; and what one takes that takes hardly more than to begin, for each number in the program."""
PACKING_LAST, FILLED_A_BLOCK, PAIRS_FILLED_PER_UNIT = 60_000, 1, 8
"""Packing the last pool after all others were filled, and filling these; with more pairs that are live together for each unit, one attempt may take a minute."""
LEAST_OF_ATTEMPT = 300
"""What an attempt takes of few blocks, too."""
SLICE_BY_SEARCH, SLICE_IN_ORDER = 10_000, 250_000
"""Settling a slice of a pool by the search, which is mostly done at once, and by CP-SAT where it is not;"""
POOL_BY_SEARCH, POOL_IN_TURN = 70_000, 60_000
"""before CP-SAT is asked about all of a pool whose slices have room, by the search, and slice by slice;"""
FEWEST = 200_000
"""and naming the few blocks to blame where one has no room."""
SLICE_OR_LEAVE, A_SLICE = 150_000, 5_000
"""By CP-SAT where some may leave the pool instead; and what each question about a slice beside others takes besides."""
GAPS, SLICE_OR_GAPS, GAPS_A_CLASS = Share(3, 4), 50_000, 1_000
"""Where pools are stuck with a choice, for one nearby that leaves gaps there; CP-SAT's part of each slice; and the question, for each class that is chosen again."""
LEAVING, COMING_BACK = 120_000, 2_500
"""Finding out who may come back of those that left, and each question about some of them."""
PROOF_OF_CLASH, CLASH_A_CLASS = 30_000, 3_000
"""A proof that some blocks have no room together; and, for each class beside them, the question for a choice without that."""

# What is charged besides what solvers count.

DETERMINISTIC_SECOND, DETERMINISTIC_SECOND_WITH_PEAKS = 5_000_000, 4_500_000
"""One of CP-SAT's: these models are all linear, and it counts more of its work on them than on others, above all where peaks are weighed."""
LATER_SECOND, LATER_SECOND_OF_LARGE = 1_200_000, 3_000_000
"""The same once it searches: it counts little of what it does before, so the first tenth of a second is dear."""
PROGRAM_PER_ENTRY = 3
"""Writing a program, for each number in it."""
MODEL_PER_ENTRY, A_QUESTION, REFUSED = 4, 5_000, 500
"""Making a model, and what CP-SAT does before it counts; and a question for which too little is left, so that who keeps asking comes to an end."""
COMPARED_ALIKE_A_UNIT = 16
"""Numbers in the rows of pools that are like another, which are written once, in being compared and sent."""
RELAXATION_PER_ENTRY, CROWDS_PER_ENTRY = 3, 1
"""Writing a linear program, and looking for crowds in its solution;"""
STEPS_IN_BOX = 3, 2
"""and how many steps two count for in one that goes on within a box of heights: there are more crowds in it than ever."""
STATES_A_UNIT = 40
"""Choices that are followed through time while a class comes;"""
DIVISIONS_A_UNIT, POOLS_AS_FAST = 4, 9
"""and divisions of the fullest section; with more pools than so many, these take work in proportion to them."""
SETTLED_A_UNIT = 16
"""Numbers in a program that are looked through where most of its classes are settled."""
WINDOW_PER_ENTRY = 1
"""Going through the program before windows, and writing a window's."""
ATTEMPT_AT_PROOF = 3_000
"""Each proof that blocks have no room, before it begins."""
MIXED = 300
"""Mixing the known choices of all pieces once."""
PIECE, BLOCKS_PER_UNIT = 1_000, 5
"""Making a piece of an instance, to be packed beside all else, and one unit for so many blocks of the instance."""
LEAST_PER_ENTRY, LEAST_PER_ENTRY_WITH_PEAKS = 2, 16
"""A question with less for each number in the program is not asked: CP-SAT would use more before it begins to search, above all where peaks are weighed."""
