r"""The replay law: one inequality that a differentially private method must keep on every pair.

Run a method on $D$ and record its questions and answers; run it on a neighbour $D'$ with the same
noisy answers and coins. It must ask the same questions with the same shares; the losses of all its
questions, $\sum \ln P(answer | D) / P(answer | D')$ bounded exactly by each mechanism, must stay
within $\varepsilon$; and the outputs must be equal byte for byte.

Why this is the promise: if all three hold for every transcript, the probability of a transcript
differs by at most $e^\varepsilon$ between $D$ and $D'$, and the output is a function of the
transcript alone.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from hedgerow.data import Dataset
from hedgerow.errors import ParameterError, PromiseBroken
from hedgerow.privacy import Guarantee, NoisyAnswers
from hedgerow.privacy.questions import Answers, Question
from hedgerow.publishers.base import Publisher, publish_with
from hedgerow.release import Release

__all__ = ["Recorder", "Replay", "Replayer", "check_replay", "release_bytes"]


@dataclass(frozen=True)
class Replay:
    """What a replay found: the largest loss, and whether an exact answer moved at all."""

    loss: Fraction
    moved: bool
    questions: int


class Recorder:
    """Answers as another does, and remembers questions and answers."""

    def __init__(self, answers: Answers) -> None:
        self.publishable = answers.publishable
        self.transcript: list[tuple[Question, Any]] = []
        self._answers = answers

    def answer(self, question: Question) -> Any:
        """Answer and remember."""
        # copies: a method may go on to change its arrays, which must not change the record
        asked = deepcopy(question)
        answer = self._answers.answer(question)
        self.transcript.append((asked, deepcopy(answer)))
        return answer


class Replayer:
    """Gives recorded answers again, insists on the recorded questions, and sums the losses."""

    def __init__(self, recorder: Recorder) -> None:
        self.publishable = recorder.publishable
        self.forth = Fraction(0)
        self.back = Fraction(0)
        self.moved = False
        self.asked = 0
        self._transcript = recorder.transcript
        self._broken: PromiseBroken | None = None

    def answer(self, question: Question) -> Any:
        """Return the recorded answer if the question is the recorded one."""
        if self.asked == len(self._transcript):
            self._break(f"question {question.label!r} was asked of a neighbour only")
        recorded, answer = self._transcript[self.asked]
        self.asked += 1
        if recorded.public() != question.public():
            self._break(f"question {recorded.label!r} is asked differently of a neighbour")
        self.forth += recorded.loss(question, answer)
        self.back += question.loss(recorded, answer)
        self.moved |= recorded.moved(question)
        return deepcopy(answer)

    def finish(self) -> None:
        """Insist that nothing recorded was left out, and that no mismatch was swallowed."""
        if self._broken is not None:
            raise self._broken
        if self.asked != len(self._transcript):
            msg = f"question {self._transcript[self.asked][0].label!r} was not asked of a neighbour"
            raise PromiseBroken(msg)

    def _break(self, msg: str) -> NoReturn:
        """Remember what broke, should the method swallow it, and say so."""
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
        What the losses may sum to; the epsilon of the promise unless given (0 for equal data).

    Raises
    ------
    PromiseBroken
        With the first thing that differs.
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
    """Everything a receiver sees, in the order they see it."""
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
    recorded, told = _publish(method, data, guarantee, recorder)
    replayer = Replayer(recorder)
    try:
        replayed, told_again = _publish(method, neighbour, guarantee, replayer)
    except PromiseBroken:
        raise
    except Exception as error:  # whatever it is, only one of two neighbours causes it
        msg = f"{method.name} fails on a neighbour only: {error}"
        raise PromiseBroken(msg) from error
    replayer.finish()
    loss = max(replayer.forth, replayer.back)
    if loss > limit:
        msg = f"{method.name} loses {loss} between neighbours where {limit} was promised"
        raise PromiseBroken(msg)
    if told != told_again:
        msg = f"{method.name} warns differently of a neighbour"
        raise PromiseBroken(msg)
    if release_bytes(recorded) != release_bytes(replayed):
        msg = f"{method.name} publishes something else of a neighbour, from the same noisy answers"
        raise PromiseBroken(msg)
    return Replay(loss, replayer.moved, replayer.asked)


def _publish(
    method: Publisher[Any], data: Dataset, guarantee: Guarantee, answers: Answers
) -> tuple[Release[Any], list[str]]:
    """Publish, and return what was warned of: a warning is read by people too."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        release = publish_with(method, data, guarantee, answers)
    return release, [str(warning.message) for warning in told]
