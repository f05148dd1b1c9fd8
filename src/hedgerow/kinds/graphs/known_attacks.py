"""What is known of weights that were distorted, for the statement."""

ATTACKS = (
    "Any weight: it may be recovered from what is published. There is no model of an attacker and no bound.",
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
