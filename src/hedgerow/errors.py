"""Every error that Hedgerow raises on purpose.

A message says what is wrong, with which value, and what to do. It quotes what the caller typed and never the content of
the data: an error is read by people who may not see the data.
"""

from __future__ import annotations

#: the exit code of the command line when it is interrupted
INTERRUPTED = 130


class HedgerowError(Exception):
    """Base of every error raised on purpose; `exit_code` is what the command line returns."""

    exit_code = 70


class InputError(HedgerowError, ValueError):
    """An argument or a file is wrong."""

    exit_code = 2


class ReadError(InputError):
    """A file or frame could not be read as the declared kind."""


class UnsupportedVersion(ReadError):
    """A release was made by another version of Hedgerow, in a schema that this one cannot read."""


class LimitExceeded(ReadError):
    """A file needs more memory or time than an untrusted file may take."""


class DomainError(InputError):
    """A domain is malformed, or data does not fit it."""


class ParameterError(InputError):
    """A parameter is of the wrong type or out of its range."""


class UnknownMethod(InputError):
    """No method is registered under that name."""


class GuaranteeError(HedgerowError):
    """A promise cannot be made, or was not kept."""

    exit_code = 3


class UnsupportedGuarantee(GuaranteeError):
    """The method does not keep this kind of promise, or not for this unit."""


class UndeclaredDomain(GuaranteeError):
    """Differential privacy was requested, but the domain was inferred from the data."""


class BudgetExceeded(GuaranteeError):
    """A question would spend more than is left; nothing was drawn for it."""


class NotSatisfied(GuaranteeError):
    """The independent check of the output failed."""


class PromiseBroken(GuaranteeError):
    """A check shows that a method does not keep its promise."""


class UselessRelease(GuaranteeError):
    """Under this promise nothing is left to publish, or hardly anything but noise."""


class EngineError(HedgerowError):
    """The environment failed: an extra is missing, a disk is full, an engine is down."""

    exit_code = 4


class MissingExtra(EngineError):
    """An optional dependency is needed and not installed."""


class WriteError(EngineError):
    """The release could not be written."""


class InternalError(HedgerowError, AssertionError):
    """A bug in Hedgerow: an invariant of Hedgerow does not hold."""
