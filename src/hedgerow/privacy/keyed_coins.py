r"""Coins of a key: the same for the same private values in every release, and new ones as soon as the values change.

All other randomness is fresh in every run. Where a data set is published again and again, fresh noise averages out:
the mean of $R$ releases has $1 / \sqrt{R}$ of its deviation. Draws that are a keyed hash of the exact values stay as
they are while the values do.

Privacy
-------
- Draws by a key depend on exact values, and tell which of them are as they were in an earlier release. No differential
  privacy survives that, so only a ledger without a budget hands them out.
- A key is a secret of 256 bits from the operating system that its owner keeps, and no release contains anything of it.
  Unlike a seed, which people choose and write down, it makes no run repeatable for anybody else: a release stays
  publishable. Who gets the key, and a release, has the exact values.
- Two laws with the same draws would give the exact values: $w_1 = w (1 - \sigma_1 z)$ and $w_2 = w (1 - \sigma_2 z)$
  are two equations for $w$ and $z$. A key therefore records its *terms*, all that the draws are used with, and refuses
  others. The coins are also derived from the terms, so that a file that was edited gives other draws, and not these.
- The replay law is about promises with a budget, and a `KeyQuestion` cannot be asked under one. It has no exact answer
  and is the same on all data: what a method draws with the coins is not a question, as with all coins.
- The hash is BLAKE2b with a key, a message authentication code: without the key, its values are not told from
  independent uniform bits, however many of them are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import TypeAlias

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.numerics.arrays import Floats
from hedgerow.privacy.samplers import bits

#: what a term may be
Term: TypeAlias = str | float | bool
#: bytes of a secret, and of a word of the hash
SECRET_BYTES = 32
_WORD = 8
#: words that one hash gives at most
MOST_WORDS = 8
#: bits of a uniform number: with half of the last one added, it is exact, and neither 0 nor 1
_UNIFORM_BITS = 52
_CHUNK = 1 << 16


@dataclass(frozen=True)
class OwnerKey:
    """A secret of the owner of a data set that is published repeatedly, and what it is used with.

    Parameters
    ----------
    secret
        32 bytes that nobody else knows.
    terms
        The method, its data set and all parameters of the draws: none of them may change.

    Examples
    --------
    >>> key = OwnerKey(bytes(32), {"network": "roads", "sigma": 0.1})
    >>> key
    OwnerKey(terms={'network': 'roads', 'sigma': 0.1})
    >>> key.require({"network": "roads", "sigma": 0.2})
    Traceback (most recent call last):
    ...
    hedgerow.errors.ParameterError: the key is for sigma = 0.1; got 0.2; a key has one network and one law: make another
    """

    secret: bytes = field(repr=False)
    terms: Mapping[str, Term]

    def __post_init__(self) -> None:
        if len(self.secret) != SECRET_BYTES:
            msg = f"the secret of a key has {SECRET_BYTES} bytes; got {len(self.secret)}"
            raise ParameterError(msg)

    @classmethod
    def make(cls, terms: Mapping[str, Term]) -> OwnerKey:
        """Make a key from the operating system's entropy."""
        return cls(bits().words(SECRET_BYTES // _WORD).tobytes(), dict(terms))

    def require(self, terms: Mapping[str, Term]) -> None:
        """Refuse every use but the one that the key was made for."""
        for name in dict.fromkeys((*self.terms, *terms)):
            mine, other = self.terms.get(name), terms.get(name)
            if mine != other or type(mine) is not type(other):
                got = f"the key is for {name} = {show_term(mine)}; got {show_term(other)}"
                msg = f"{got}; a key has one network and one law: make another"
                raise ParameterError(msg)

    def derived(self) -> bytes:
        """The secret of its coins, which is another one for other terms."""
        digest = blake2b(digest_size=SECRET_BYTES, key=self.secret, person=b"hedgerow-terms")
        for name, term in sorted(self.terms.items()):
            for text in (name, type(term).__name__, repr(term)):
                digest.update(length_prefixed(text))
        return digest.digest()


class KeyedCoins:
    """Uniform numbers that are a keyed hash of messages.

    Examples
    --------
    >>> coins = KeyedCoins(bytes(32))
    >>> first = coins.uniforms([b"ann", b"bob"], 2)
    >>> first.shape, bool((first[1] == coins.uniforms([b"bob"], 2)[0]).all())
    ((2, 2), True)
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def uniforms(self, messages: Iterable[bytes], each: int) -> Floats:
        """Return so many numbers in (0, 1) per message, one row each; equal messages have equal rows."""
        if not 1 <= each <= MOST_WORDS:
            msg = f"a hash gives 1 to {MOST_WORDS} numbers; got {each}"
            raise ParameterError(msg)
        empty = blake2b(digest_size=each * _WORD, key=self._secret, person=b"hedgerow-coins")
        parts = [np.zeros((0, each), np.uint64)]
        rest = iter(messages)
        while digests := _hash_all(empty, islice(rest, _CHUNK)):
            # little-endian words, on every machine
            parts.append(np.frombuffer(digests, "<u8").astype(np.uint64).reshape(-1, each))
        words = np.concatenate(parts) >> np.uint64(64 - _UNIFORM_BITS)
        return (words.astype(np.float64) + 0.5) * 2.0**-_UNIFORM_BITS


def length_prefixed(text: str) -> bytes:
    """Write a text so that no two lists of texts are one message."""
    content = text.encode()
    return len(content).to_bytes(4, "big") + content


def show_term(term: Term | None) -> str:
    """Write a term as it is typed."""
    if term is None:
        return "none"
    return str(term).lower() if isinstance(term, bool) else repr(term).strip("'")


def _hash_all(empty: blake2b, messages: Iterable[bytes]) -> bytes:
    """Hash every message alone; copies of a hash that has the key already are faster than new ones."""
    digests: list[bytes] = []
    for message in messages:
        digest = empty.copy()
        digest.update(message)
        digests.append(digest.digest())
    return b"".join(digests)
