"""Privacy: guarantees, the ledger, mechanisms and their exact noise."""

from hedgerow.privacy.arrangement import Arrange
from hedgerow.privacy.differential_privacy import CorrelatedDP, DifferentialPrivacy, PureDP
from hedgerow.privacy.evidence import Entry, Evidence
from hedgerow.privacy.guarantee import All, Criterion, Guarantee, Verdict
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.mechanisms import Choose, Flip, Laplace, Mechanism
from hedgerow.privacy.path_budget import ArrangedNodes, PathBudget, SurvivingNodes
from hedgerow.privacy.questions import Answers, ExactAnswers, NoisyAnswers
from hedgerow.privacy.shares import Shares

__all__ = [
    "All",
    "Answers",
    "Arrange",
    "ArrangedNodes",
    "Choose",
    "CorrelatedDP",
    "Criterion",
    "DifferentialPrivacy",
    "Entry",
    "Evidence",
    "ExactAnswers",
    "Flip",
    "Guarantee",
    "Laplace",
    "Ledger",
    "Mechanism",
    "NoisyAnswers",
    "PathBudget",
    "PureDP",
    "Shares",
    "SurvivingNodes",
    "Verdict",
]
