"""Events in files and pipes, read forward in parts: a stream may be longer than memory, and may not have ended yet."""

from __future__ import annotations

import os
import sys
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.event_sources import REFUSE, Events, Positions
from hedgerow.data.lattice import CellRule
from hedgerow.errors import ReadError
from hedgerow.io.files import explained, read_as_it_comes, read_chunks

__all__ = ["BitEvents", "ByteParts", "EventBlock", "ForwardEvents", "SeekableBits", "open_parts"]

Integers: TypeAlias = NDArray[np.int64]

#: the path that means standard input
_STANDARD_INPUT = "-"
_ZERO, _NEWLINE = b"0\n"
#: one call of the system reads so many bytes in the time that it takes to read one
_FAR = 2**12


@dataclass(frozen=True)
class ByteParts:
    """The bytes of a file or pipe, in parts; those of a pipe come once."""

    where: str
    open: Callable[[], Iterator[bytes]]
    once: bool


def open_parts(name: str, most: int | None = None) -> ByteParts:
    """Open a file, a pipe, or standard input by the name `-`, to be read in parts."""
    if name == _STANDARD_INPUT:
        return ByteParts("standard input", _read_standard_input, once=True)
    path = Path(name)
    return ByteParts(name, lambda: read_chunks(path, most=most, pipes=True), once=path.is_fifo())


def _read_standard_input() -> Iterator[bytes]:
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - it was closed
        msg = "standard input is closed; name a file"
        raise ReadError(msg)
    yield from read_as_it_comes(sys.stdin.fileno())


class EventBlock(Protocol):
    """Some events in a row, as they are in the file."""

    def __len__(self) -> int:
        """Count the events."""
        ...

    def decode(self, at: slice | Integers) -> Integers:
        """Decode some of them."""
        ...


class ForwardEvents(Events, ABC):
    """Events that come block by block; a block is dropped when later events are asked for."""

    def __init__(self, parts: ByteParts) -> None:
        self._parts = parts
        self._start()

    @abstractmethod
    def _split(self, parts: Iterator[bytes]) -> Iterator[EventBlock]:
        """Split the bytes into blocks."""

    def read(self, start: int, stop: int) -> Integers:
        """Return these events, and forget those before them."""
        pieces: list[Integers] = []
        while start < stop and (block := self._find_block(start)) is not None:
            piece = block.decode(slice(start - self._first, stop - self._first))
            pieces.append(piece)
            start += len(piece)
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)

    def take(self, positions: Integers) -> Integers:
        """Return the events at these positions; blocks without any are not decoded."""
        pieces: list[Integers] = []
        while len(positions) and (block := self._find_block(int(positions[0]))) is not None:
            inside = int(np.searchsorted(positions, self._first + len(block)))
            pieces.append(block.decode(positions[:inside] - self._first))
            positions = positions[inside:]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)

    def reach(self, position: int) -> int:
        """Go on to the block before this position."""
        return position if position == 0 or self._find_block(position - 1) is not None else self._first

    def count(self) -> int | None:
        """Count the events of a file, without decoding them."""
        if self._parts.once:
            return None
        return sum(len(block) for block in self._split(self._parts.open()))

    def reopened(self) -> Events | None:
        """Open a file once more, to be read from its start."""
        if self._parts.once:
            return None
        events = copy(self)
        events._start()  # noqa: SLF001 - it is one of these
        return events

    def ready(self) -> int | None:
        """The events of a pipe up to the end of the block that has come."""
        if not self._parts.once:
            return None
        return self._first + (0 if self._block is None else len(self._block))

    def _start(self) -> None:
        self._blocks = self._split(self._parts.open())
        self._first = 0
        self._block: EventBlock | None = None

    def _find_block(self, position: int) -> EventBlock | None:
        """Go on to the block with this event; None if the stream ends before."""
        if position < self._first:
            if self._parts.once:
                msg = f"{self._parts.where} can be read once; write the events to a file to read them again"
                raise ReadError(msg)
            self._start()
        while self._block is None or position >= self._first + len(self._block):
            self._first += 0 if self._block is None else len(self._block)
            self._block = next(self._blocks, None)
            if self._block is None:
                return None
        return self._block


@dataclass(frozen=True, eq=False)
class _BitBlock:
    """Some bytes, `0` or `1`."""

    where: str
    first: int
    signs: NDArray[np.uint8]
    rule: CellRule

    def __len__(self) -> int:
        return len(self.signs)

    def decode(self, at: slice | Integers) -> Integers:
        positions = range(self.first, self.first + len(self))[at] if isinstance(at, slice) else self.first + at
        return decode_bits(self.where, self.signs[at], positions, self.rule)


def decode_bits(where: str, signs: NDArray[np.uint8], positions: Positions, rule: CellRule) -> Integers:
    """Turn the bytes `0` and `1` into numbers; `positions` tell where they were."""
    bits = signs - np.uint8(_ZERO)  # other bytes wrap around to more than 1
    if rule.instead is not None:
        return np.where(bits > 1, int(rule.instead), bits).astype(np.int64)
    if len(bits) and int(bits.max()) > 1:
        bad = int(positions[int(np.argmax(bits > 1))])
        msg = (
            f"{where}: event {bad + 1:,} is neither 0 nor 1; a file of bits has one sign per event and nothing else; "
            "correct it, or put a bit in the place of such events with on_bad=0"
        )
        raise ReadError(msg)
    return bits.astype(np.int64)


class BitEvents(ForwardEvents):
    """One byte per event, `0` or `1`; a line break may follow the last one."""

    def __init__(self, parts: ByteParts, rule: CellRule = REFUSE) -> None:
        self._rule = rule
        super().__init__(parts)

    def _split(self, parts: Iterator[bytes]) -> Iterator[EventBlock]:
        first, kept = 0, b""
        for part in parts:
            content = kept + part
            # it may be the line break after the last event
            kept = content[-1:] if content[-1] == _NEWLINE else b""
            signs = np.frombuffer(content, np.uint8, len(content) - len(kept))
            yield _BitBlock(self._parts.where, first, signs, self._rule)
            first += len(signs)


class SeekableBits(Events):
    """The same in a file that is not compressed: events that are skipped are not read at all."""

    def __init__(self, path: Path, rule: CellRule = REFUSE) -> None:
        self._path, self._rule = path, rule
        with explained(path):
            self._file = os.open(path, os.O_RDONLY)
            weakref.finalize(self, os.close, self._file)
            self.length = os.fstat(self._file).st_size
        if self.length and self._bytes(self.length - 1, 1) == b"\n":
            self.length -= 1

    def read(self, start: int, stop: int) -> Integers:
        """Read these bytes."""
        content = self._bytes(start, max(0, min(stop, self._length()) - start))
        return self._decode(np.frombuffer(content, np.uint8), range(start, start + len(content)))

    def take(self, positions: Integers) -> Integers:
        """Read the bytes at these positions, one by one where they are far apart."""
        positions = positions[positions < self._length()]
        if len(positions) and len(positions) * _FAR > int(positions[-1] - positions[0]):
            return super().take(positions)
        signs = b"".join(self._bytes(position, 1) for position in positions.tolist())
        return self._decode(np.frombuffer(signs, np.uint8), positions)

    def _pick(self, positions: Integers) -> Integers:
        """Read the bytes from the first position to the last, and decode only those that are wanted."""
        content = self._bytes(int(positions[0]), int(positions[-1]) + 1 - int(positions[0]))
        positions = positions[positions - positions[0] < len(content)]
        return self._decode(np.frombuffer(content, np.uint8)[positions - positions[0]], positions)

    def _decode(self, signs: NDArray[np.uint8], positions: Positions) -> Integers:
        return decode_bits(str(self._path), signs, positions, self._rule)

    def _bytes(self, start: int, size: int) -> bytes:
        with explained(self._path):
            return os.pread(self._file, size, start)

    def _length(self) -> int:
        return self.length or 0
