"""What is promised of anatomised records, and what is not, in words that are true of exact labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hedgerow.kinds.records.anatomy import QUASI, SENSITIVE, TREES
from hedgerow.kinds.records.rules import Rule
from hedgerow.kinds.records.schema import RecordSchema, VertexType


def diversity_sentence(l: int, form: str) -> str:  # noqa: E741 - the letter of the paper
    """State l-diversity of anatomised records.

    Examples
    --------
    >>> diversity_sentence(2, TREES)[-62:]
    '(l-diversity of anatomised records, tree by tree, with l = 2).'
    """
    if form == TREES:
        apart = "their sensitive values are published apart, as trees of the same shape, and nothing says whose each is"
        how = "tree by tree"
    else:
        apart = (
            "their sensitive values are published apart, for each position of the group those of all its records, and "
            "nothing says whose each is"
        )
        how = "vertex by vertex"
    return (
        f"Every published record is in a group of at least {l:,} records of one shape, with its labels as they were; "
        f"{apart}. At no position of a group does a sensitive value make up more than 1 in {l:,} of the values: anyone "
        "who knows any of the shape and the labels of a person's record, and no sensitive value, and to whom all ways "
        f"to link the two parts are equally likely, is at most 1/{l:,} sure of a sensitive value at a position "
        f"(l-diversity of anatomised records, {how}, with l = {l:,})."
    )


def diversity_limits(form: str) -> tuple[str, ...]:
    """List what l-diversity of anatomised records does not cover."""
    return (_PRESENT, _DEPENDENT[form == TREES], _KNOWN[form == TREES], _SOMEWHERE, _COLLUSION, _ABSENT, _AGAIN)


def rules_sentence(rules: Sequence[Rule]) -> str:
    """State the rules.

    Examples
    --------
    >>> from fractions import Fraction
    >>> rules_sentence([Rule("visit.diagnosis", ("AIDS",), 2, Fraction(1, 3))])[-64:]
    'visit.diagnosis = AIDS: 2 or more, at most 1/3 ((p, m)-privacy).'
    """
    return (
        "Anyone who knows any of the shape and the labels of a person's record, and no sensitive value, and to whom "
        "all ways to link labels and sensitive values are equally likely, is no more sure than this that the published "
        f"record has such a value so often: {'; '.join(map(_describe, rules))} ((p, m)-privacy)."
    )


def _describe(rule: Rule) -> str:
    which = f"= {rule.values[0]}" if len(rule.values) == 1 else f"in ({', '.join(rule.values)})"
    which = which if rule.values else "= any one value"
    return f"{rule.attribute} {which}: {rule.m:,} or more, at most {rule.p}"


def rules_limits(form: str) -> tuple[str, ...]:
    """List what rules do not cover."""
    joint = () if form == TREES else (_JOINT,)
    return (_TOGETHER, _UNRULED, *joint, _RULED_ABSENT)


class PartNote(NamedTuple):
    """What a reader must know of one of the two files, and how many numbers a root and other vertices have in it."""

    note: str
    of_root: int
    of_others: int

    def numbers(self, kind: VertexType) -> int:
        """How many of the last labels of a type are numbers that were added."""
        return self.of_others if kind.parent else self.of_root


def describe_part(name: str, schema: RecordSchema) -> PartNote | None:
    """Say how the file of a part is read together with the other one; None if it is no part."""
    root = schema.types[0].quasi
    if name == QUASI and len(root) > 1:
        group, position = root[-2:]
        note = (
            f"These are the labels of anatomised records: `{group}` is the number of the group of a record, and "
            f"`{position}` that of a vertex among the vertices of its type in its group. All records of a group have "
            f"the same positions. Numbers say nothing else. {_APART}"
        )
        return PartNote(note, 2, 1)
    if name == SENSITIVE and len(root) > 1:
        note = (
            "These are the sensitive values of anatomised records, as trees: each tree belongs to one record of its "
            f"group, a vertex of it to the vertex at its position there, and nothing says to which record. {_APART}"
        )
        return PartNote(note, 2, 1)
    if name == SENSITIVE and len(root) == 1 and len(schema.types) > 1:
        position, count = (schema.types[1].quasi * 2)[:2]
        note = (
            "These are the sensitive values of anatomised records. Here each record is a group: for each "
            f"`{position}` of it the values that its members have there, each with their number, `{count}`, and "
            f"nothing says which member has which. At a position that is not listed no value is given. {_APART}"
        )
        return PartNote(note, 1, 2)
    return None


_APART = (
    "What is at one place of the two files, or in one order, does not belong together: only groups and positions do."
)
_PRESENT = (
    "That a person is in the data, and the labels and the shape of their record: they are published as they were, as "
    "far as they are published. There is no k-anonymity: anyone who knows some labels of a person may recognise the "
    "record, be certain that it is theirs, and read all its other labels."
)
#: by whether the form is tree by tree
_DEPENDENT = {
    True: (
        "Anyone to whom some links are likelier than others, since labels and sensitive values go together, such as a "
        "title and its price: how they do can be learnt from the release itself, and a tree adds up what all of its "
        "vertices tell, so that links can be guessed far more often than 1 in l. Where that matters, publish vertex by "
        "vertex."
    ),
    False: (
        "Anyone to whom some links are likelier than others, since labels and sensitive values go together, such as a "
        "title and its price: how they do can be learnt from the release itself."
    ),
}
_KNOWN = {
    True: (
        "Anyone who knows a sensitive value of a person: one value may tell their tree of values from all others of "
        "the group, and then all of its values can be read."
    ),
    False: (
        "Values that depend on each other, at different positions of one record: a lasting illness, or a mean and what "
        "it is the mean of. The values of positions are published apart, but what cannot be together rules out links."
    ),
}
_SOMEWHERE = (
    "What a person has somewhere: the limit is for each position by itself, and of many positions one may have a value "
    "almost surely. Only rules, (p, m)-privacy, limit that, for the values that they name."
)
_COLLUSION = (
    "People of one group who put together what they know, and anyone who knows that a person does not have a value: in "
    "a group of l records the values of all others leave one for the last, and each value ruled out makes the rest "
    "likelier. Which records are in one group is published."
)
_ABSENT = (
    "What is missing: labels are exact, so anyone who knows a person's record sees which of its vertices are not "
    "published, or that it is missing as a whole. Vertices are left out where sensitive values are alike or frequent, "
    "so what is missing is likelier to have a frequent one; anyone who knows the method may conclude that two people's "
    "values are equal."
)
_AGAIN = (
    "Another release about the same people, also one by the same command: exact labels show which records are the same "
    "person's, and the sensitive values of two groups may have one in common."
)
_TOGETHER = (
    "Several rules together: each holds by itself, and yet it may be certain that a person has a value of the one or "
    "of the other. A rule over the set of these values limits that."
)
_UNRULED = "Sensitive values that no rule names, and fewer occurrences than a rule names."
_JOINT = "That a person has several values at once, if those at different positions depend on each other."
_RULED_ABSENT = (
    "What is missing: rules are kept by leaving vertices out, so a vertex that is not published is likelier to have a "
    "value that a rule names, several times as likely where the rule is strict. The limit is about what is published."
)
