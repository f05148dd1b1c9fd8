r"""The replay law: what a differentially private method must satisfy on every pair of neighbours.

Run a method on $D$ and record its questions and answers; run it on a neighbour $D'$ with the same
noisy answers and coins. It must ask the same questions with the same shares; the losses of all its
questions, $\sum \ln P(answer | D) / P(answer | D')$ bounded exactly by each mechanism, must stay
within $\varepsilon$; and the outputs must be equal byte for byte.

Why this implies the promise: if all three hold for every transcript, the probability of a transcript
differs by at most $e^\varepsilon$ between $D$ and $D'$, and the output is a function of the
transcript alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from hedgerow.data import Dataset
from hedgerow.errors import ParameterError, PromiseBroken
from hedgerow.privacy import Guarantee, NoisyAnswers
from hedgerow.privacy.questions import Answers, Question
from hedgerow.publisher import Publisher, publish_with
from hedgerow.release import Release


@dataclass(frozen=True)
class Replay:
    """The result of a replay: the largest loss, whether an exact answer moved, and the number of questions."""

    loss: Fraction
    moved: bool
    questions: int


class Recorder:
    """Passes questions on, and records them with their answers."""

    def __init__(self, answers: Answers) -> None:
        self.publishable = answers.publishable
        self.transcript: list[tuple[Question, Any]] = []
        self._answers = answers

    def answer(self, question: Question) -> Any:
        """Answer, and record the question."""
        # copies, since a method may change its arrays later
        recorded = deepcopy(question)
        answer = self._answers.answer(question)
        self.transcript.append((recorded, deepcopy(answer)))
        return answer


class Replayer:
    """Returns recorded answers, requires the recorded questions, and sums the losses."""

    def __init__(self, transcript: Sequence[tuple[Question, Any]], *, publishable: bool) -> None:
        self.publishable = publishable
        self.forth = Fraction(0)
        self.back = Fraction(0)
        self.moved = False
        self.asked = 0
        self._transcript = transcript
        self._broken: PromiseBroken | None = None

    def answer(self, question: Question) -> Any:
        """Return the recorded answer if the question is the recorded one."""
        if self.asked == len(self._transcript):
            self._break(f"question {question.label!r} was asked of a neighbour only")
        recorded, answer = self._transcript[self.asked]
        self.asked += 1
        if type(recorded) is not type(question) or recorded.public() != question.public():
            self._break(f"question {recorded.label!r} is asked differently of a neighbour")
        self.forth += recorded.loss(question, answer)
        self.back += question.loss(recorded, answer)
        self.moved |= recorded.moved(question)
        return deepcopy(answer)

    def finish(self) -> None:
        """Require that all recorded questions were asked, and raise a mismatch that the method caught."""
        if self._broken is not None:
            raise self._broken
        if self.asked != len(self._transcript):
            msg = f"question {self._transcript[self.asked][0].label!r} was not asked of a neighbour"
            raise PromiseBroken(msg)

    def _break(self, msg: str) -> NoReturn:
        """Raise a mismatch, and keep it in case the method catches it."""
        self._broken = PromiseBroken(msg)
        raise self._broken


def check_replay(
    method: Publisher[Any],
    data: Dataset,
    neighbour: Dataset,
    guarantee: Guarantee,
    seed: int,
    *,
    within: Fraction | None = None,
) -> Replay:
    """Check the replay law on one pair of data sets, in both directions.

    Parameters
    ----------
    method, data, neighbour, guarantee
        The method, two data sets that differ by one unit, and the promise.
    seed
        For the noise of the recorded runs.
    within
        The limit for the sum of losses: by default the epsilon of the promise (0 for equal data).

    Raises
    ------
    PromiseBroken
        With the first difference.
    """
    limit = epsilon_of(guarantee) if within is None else within
    forth = _replay(method, data, neighbour, guarantee, seed, limit)
    back = _replay(method, neighbour, data, guarantee, seed, limit)
    loss = max(forth.loss, back.loss)
    return Replay(loss, forth.moved or back.moved, forth.questions)


def epsilon_of(guarantee: Guarantee) -> Fraction:
    """Return the epsilon of a differentially private promise."""
    if guarantee.budget is None:
        msg = f"{guarantee.name} has no epsilon; the replay law is for differential privacy"
        raise ParameterError(msg)
    return guarantee.budget


def release_bytes(release: Release[Any]) -> bytes:
    """Everything that a receiver sees, in a fixed order."""
    parts = [release.to_json(), release.statement().encode()]
    parts += [name.encode() + output.to_bytes() for name, output in release.outputs.items()]
    return b"\n".join(parts)


def _replay(
    method: Publisher[Any],
    data: Dataset,
    neighbour: Dataset,
    guarantee: Guarantee,
    seed: int,
    limit: Fraction,
) -> Replay:
    recorder = Recorder(NoisyAnswers(seed))
    recorded, recorded_warnings = _publish(method, data, guarantee, recorder)
    replayer = Replayer(recorder.transcript, publishable=recorder.publishable)
    try:
        replayed, replayed_warnings = _publish(method, neighbour, guarantee, replayer)
    except PromiseBroken:
        raise
    except Exception as error:  # any error that only one of two neighbours causes
        msg = f"{method.name} fails on a neighbour only: {error}"
        raise PromiseBroken(msg) from error
    replayer.finish()
    loss = max(replayer.forth, replayer.back)
    if loss > limit:
        msg = f"{method.name} loses {loss} between neighbours where {limit} was promised"
        raise PromiseBroken(msg)
    if recorded_warnings != replayed_warnings:
        msg = f"{method.name} warns differently on a neighbour"
        raise PromiseBroken(msg)
    if release_bytes(recorded) != release_bytes(replayed):
        msg = f"{method.name} publishes something else of a neighbour, from the same noisy answers"
        raise PromiseBroken(msg)
    return Replay(loss, replayer.moved, replayer.asked)


def _publish(
    method: Publisher[Any], data: Dataset, guarantee: Guarantee, answers: Answers
) -> tuple[Release[Any], list[str]]:
    """Publish, and return the warnings as well, since people read them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        release = publish_with(method, data, guarantee, answers)
    return release, [str(warning.message) for warning in caught]
