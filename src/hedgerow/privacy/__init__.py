"""What we promise: guarantees, the ledger, mechanisms and their exact noise."""

from hedgerow.privacy.criteria import Criterion
from hedgerow.privacy.evidence import Entry, Evidence
from hedgerow.privacy.guarantee import All, Guarantee, PureDP, Verdict
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.mechanisms import Choose, Flip, Laplace, Mechanism
from hedgerow.privacy.paths import Grown, Paths
from hedgerow.privacy.questions import Answers, NoiseOff, Noisy
from hedgerow.privacy.shares import Shares

__all__ = [
    "All",
    "Answers",
    "Choose",
    "Criterion",
    "Entry",
    "Evidence",
    "Flip",
    "Grown",
    "Guarantee",
    "Laplace",
    "Ledger",
    "Mechanism",
    "NoiseOff",
    "Noisy",
    "Paths",
    "PureDP",
    "Shares",
    "Verdict",
]
