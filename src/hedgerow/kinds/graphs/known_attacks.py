"""What is known of weights that were distorted, for the statement."""

#: what outsiders read, with figures of public networks, as docs/results/weights-leakage.json has it; what they read in
#: the data at hand is for its owner only
ATTACKS = (
    (
        "Any weight: it may be recovered from what is published. There is no model of an attacker and no bound. The "
        "figures below are of public networks: who knows whom (EIES), seats between airports, co-authors."
    ),
    "Which vertices there are, and which of them are joined: all of it is published as it is.",
    (
        "Orders of magnitude: they survive, and so does most of the order. Kendall's tau of original and released "
        "weights is 0.94 for airports with gaussian-weights at sigma .2, and 0.89 with greedy-weights and 998 kept "
        "paths."
    ),
    (
        "The lightest edge: it is the shortest path between its own ends, so that its weight is a distance. A method "
        "that keeps all lengths publishes it, and every other weight that is a distance: 90 % of those of EIES, 22 % "
        "of those of airports and 84 % of those of co-authors."
    ),
    (
        "Whole numbers: they come back by rounding. Of the weights of EIES, which go from 1 to 4, 96 % are exactly "
        "right from one release with gaussian-weights at sigma .1 and 75 % at .2, where the weights of other edges "
        "give 42 % and 37 %, and always saying the commonest one 59 %."
    ),
    (
        "Several releases: with fresh factors they average out. At sigma .2, 52 % of the weights of airports are known "
        "to 10 % from one release, 68 % from two and 99.5 % from 16."
    ),
    (
        "Kept paths: whoever knows between which vertices paths were kept knows that the original weights of each of "
        "them sum to no more than those of any other way. These inequalities are exact; every bound on a weight that "
        "follows from them held."
    ),
    (
        "greedy-weights: an edge on no kept path was only raised, by less than `rise`, and one on all of them only "
        "lowered, so that most weights are bounded on both sides: 67 % in EIES with a quarter of all pairs kept, 82 % "
        "in airports. The middle of these bounds has 64 % of the weights of airports within 25 %, the release itself "
        "27 %."
    ),
    (
        "greedy-weights: weights that cannot move without losing a path stand exactly, 10 % of those of EIES. A second "
        "release of the same data tells them: all of these guesses were right. In one release digits tell them if the "
        "original weights have fewer than the seven of new ones, or more: all whole numbers in the release of EIES "
        "stood. They do not tell large weights: of the whole numbers in the release of airports 1 % stood."
    ),
    (
        "gaussian-weights: sigma and the law of the factors are public. From w* / (1 + 2 sigma) to w* / (1 - 2 sigma) "
        "is a 95 % interval for the weight w behind a published w*, and a narrower one where both ends of an edge "
        "drew. Orders of magnitude, and the order of weights that differ much, survive."
    ),
    (
        "gaussian-weights: the factors have mean 1, so repeated releases of one network average out: 16 of them leave "
        "a quarter of the deviation. A network is to be published once, or with a key."
    ),
    (
        "gaussian-weights: an end of an edge that drew for itself knows its own draw, and then the weight within the "
        "draw of the other end alone. One honest end is needed for secrecy."
    ),
    (
        "gaussian-weights, owner = one: this is the part of one owner, to be merged with those of the others. Two "
        "files of one owner must never both be published: they average out. Whoever has the files of both ends has "
        "the mean."
    ),
    ("With a key: that a weight equals the one of an earlier release, or that it does not, is seen by everybody."),
    (
        "With a key: a weight that becomes known tells the factor of that edge at that weight, and no other factor. A "
        "key that becomes known tells every weight of every release."
    ),
    (
        "With a key: a weight that changes a little in every release is averaged after all. After 16 releases with "
        "steps of 1 % its level is known to 5 % at sigma .2. Weights that drift should not be published often."
    ),
)
