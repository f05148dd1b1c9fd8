r"""The replay law through the command line: from a private file to everything that a command leaves behind.

`check_replay` begins with a data set and ends with a `Release`. This check begins with the bytes of a file and ends
with standard output, standard error, the exit code and the bytes of all files. A command runs on a file, and its
questions and answers are recorded; it runs on a neighbouring file with the same noisy answers. Questions, shares and
everything that comes out must be the same, and the losses must stay within $\varepsilon$ in both directions.

**Refusals.** By default a cell that cannot be read ends the command with the file and the line, and nothing is
published. Such a file has no release that could be compared, so each refusal is checked by itself: exit code 2, one
line that names file and line and shows no cell, no file written, and no charge if no question was asked. That a release
exists then says that every cell could be read. Where a command declares what becomes of such cells, a refusal of one
file only is a difference like any other.

Every command runs in a process of its own, so that no state passes from one to the other. It is forked from a server
that has imported modules and started no thread, which takes milliseconds on Linux and macOS. A script that checks
commands must be importable, since new processes look at it (`if __name__ == "__main__":`).
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from hedgerow import publisher as base
from hedgerow.audit.replay import Recorder, Replayer
from hedgerow.errors import InternalError, PromiseBroken
from hedgerow.kind_registry import KINDS
from hedgerow.methods import method_modules
from hedgerow.privacy import NoisyAnswers
from hedgerow.privacy.questions import Question

Transcript: TypeAlias = list[tuple[Question, Any]]
_READ_WRONGLY, _OURS = 2, 70
_SECONDS = 120
#: what an entry of an account has of its own: a random id, and the day
_OWN = re.compile(rb'^(id|made) = ".*"$', re.MULTILINE)
_FOR_OWNER = b"For the owner only: "


@dataclass(frozen=True, kw_only=True)
class CommandPair:
    """One command, and two folders whose files have the same names and differ in one unit of the private file.

    Parameters
    ----------
    words
        The command, without the name of the program; it runs in each of the folders, and names files within them.
    folders
        The two folders.
    data
        The name of the private file.
    epsilon
        The largest loss allowed: 0 for a command that publishes nothing.
    refusable
        Whether a file may be refused because a cell cannot be read: nothing was declared for such cells.
    markers
        Texts that stand in private cells only, and so in no message.
    """

    words: tuple[str, ...]
    folders: tuple[Path, Path]
    data: str
    epsilon: Fraction
    refusable: bool = False
    markers: tuple[str, ...] = ()


@dataclass(frozen=True)
class CommandReplay:
    """The largest loss, whether an exact answer moved, the number of questions, and whether a file was refused."""

    loss: Fraction
    moved: bool
    questions: int
    refused: bool
    code: int


class _Replayed(NamedTuple):
    """What a replayer has seen."""

    loss: Fraction
    moved: bool
    broken: str


class _Order(NamedTuple):
    """What a new process is told: what to run and where, and recorded answers if there are any."""

    main: Callable[[], object]
    words: tuple[str, ...]
    folder: Path
    seed: int
    transcript: Transcript | None
    prepare: Callable[[], object] | None


class _Run(NamedTuple):
    """What a command left behind."""

    code: int
    out: bytes
    err: bytes
    #: files that are new or have changed, and their content
    files: dict[str, bytes]
    #: which of them are new
    created: frozenset[str]
    transcript: Transcript
    asked: int
    replayed: _Replayed | None


def check_command_replay(
    main: Callable[[], object],
    pair: CommandPair,
    *,
    seed: int,
    imports: Sequence[str] = (),
    prepare: Callable[[], object] | None = None,
) -> CommandReplay:
    """Check the replay law on one pair of files; the first folder is recorded, the second is replayed.

    Parameters
    ----------
    main
        The entry point of the program, which reads `sys.argv`. As all functions here it must be importable by name.
    pair
        The command and the folders. What the command writes stays there.
    seed
        For the noise of the recorded command; the release says that it comes from the operating system all the same.
    imports
        Further modules that the processes share, to save time.
    prepare
        Is called in each process before the command: it plants a bug, to see that the check finds it.

    Raises
    ------
    PromiseBroken
        With the first difference.
    """
    one, other = (folder.resolve() for folder in pair.folders)
    first = _run(_Order(main, pair.words, one, seed, None, prepare), imports)
    refused = _is_refused(first, pair)
    transcript = None if refused else first.transcript
    second = _run(_Order(main, pair.words, other, seed, transcript, prepare), imports)
    if refused or _is_refused(second, pair):
        for run in (first, second):
            if _is_refused(run, pair):
                _check_refusal(run, pair)
        return CommandReplay(Fraction(0), moved=False, questions=0, refused=True, code=_READ_WRONGLY)
    return _compare(first, second, pair)


def _is_refused(run: _Run, pair: CommandPair) -> bool:
    """Whether a command ended because its private file could not be read, where that may be."""
    if not pair.refusable or run.code != _READ_WRONGLY:
        return False
    name = re.escape(pair.data.encode())
    return re.match(rb"hedgerow: %b(:\d+: |: event \d+ )" % name, run.err) is not None


def _check_refusal(run: _Run, pair: CommandPair) -> None:
    """Check that a refusal shows no cell and leaves nothing behind."""
    said = run.out + run.err
    if any(marker.encode() in said for marker in pair.markers):
        _break("a refusal shows a private cell")
    if run.err.count(b"\n") != 1:
        _break("a refusal is not one line")
    if _without_error_document(run.out):
        _break("a refused command printed a result")
    # a stream is asked before it has been read to its end, and asking is what is charged
    for name in run.created if run.asked else run.files:
        _break(f"a refused command wrote {name}")


def _compare(first: _Run, second: _Run, pair: CommandPair) -> CommandReplay:
    """Compare everything that two commands left behind."""
    replayed = second.replayed
    if replayed is None:
        msg = "the second command was not replayed"
        raise InternalError(msg)
    if replayed.broken:
        _break(replayed.broken)
    if first.code == _OURS:
        _break(f"both commands fail: {first.err.decode(errors='replace').strip()}")
    if replayed.loss > pair.epsilon:
        _break(f"{replayed.loss} is lost between neighbours where {pair.epsilon} was promised")
    _compare_traces(first, second)
    return CommandReplay(replayed.loss, replayed.moved, len(first.transcript), refused=False, code=first.code)


def _compare_traces(first: _Run, second: _Run) -> None:
    """Require the same exit code, the same text on both streams, and the same files."""
    if first.code != second.code:
        _break(f"the exit codes are {first.code} and {second.code}")
    if _for_everybody(first.out) != _for_everybody(second.out):
        _break("standard output differs")
    if first.err != second.err:
        _break("standard error differs")
    if names := first.files.keys() ^ second.files.keys():
        _break(f"{min(names)} is written of one neighbour only")
    for name, content in first.files.items():
        if content != second.files[name]:
            _break(f"{name} differs")


def _break(what: str) -> None:
    raise PromiseBroken(what)


def _for_everybody(out: bytes) -> bytes:
    """Leave out what is printed for the owner only, such as how many records were dropped."""
    if out.startswith(b"{"):
        document = json.loads(out)
        document.pop("for_the_owner_only", None)
        return json.dumps(document).encode()
    return b"\n\n".join(part for part in out.split(b"\n\n") if not part.startswith(_FOR_OWNER))


def _without_error_document(out: bytes) -> bytes:
    """With `--json` an error is a document as well."""
    return b"" if out.startswith(b'{"error":') else out


# One command, in a process of its own.


def _run(order: _Order, imports: Sequence[str]) -> _Run:
    """Run a command in a new process, and collect what it leaves behind."""
    before = _files(order.folder)
    context = get_context("forkserver")
    context.set_forkserver_preload([order.main.__module__, *imports, *_modules()])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(theirs, order))
    process.start()
    theirs.close()
    try:
        if not ours.poll(_SECONDS):
            process.kill()
            msg = f"a command did not end within {_SECONDS} seconds"
            raise PromiseBroken(msg)
        code, out, err, transcript, asked, replayed = ours.recv()
    except EOFError:
        msg = "a command ended its process"
        raise PromiseBroken(msg) from None
    finally:
        ours.close()
        process.join()
    after = _files(order.folder)
    here = os.fsencode(order.folder)
    written = {
        name: _OWN.sub(b"", content.replace(here, b".")) if name in before else content
        for name, content in after.items()
        if before.get(name) != content
    }
    return _Run(code, out, err, written, frozenset(written) - frozenset(before), transcript, asked, replayed)


def _modules() -> list[str]:
    """What nearly every command imports: how files are read and written, and the methods."""
    return ["polars", "scipy.special", *(f"hedgerow.kinds.{kind}.files" for kind in KINDS), *method_modules()]


def _files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files in a folder, and the names of the folders."""
    return {
        f"{path.relative_to(folder)}{'/' if path.is_dir() else ''}": b"" if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def _serve(connection: Connection, order: _Order) -> None:
    """Run a command in this new process, and send what it did."""
    os.chdir(order.folder)
    if order.prepare is not None:
        order.prepare()
    recorder = Recorder(NoisyAnswers(order.seed))
    replayer = None if order.transcript is None else Replayer(order.transcript, publishable=True)

    def answers(seed: int | None = None) -> Recorder | Replayer:
        used = recorder if replayer is None else replayer
        used.publishable = seed is None
        return used

    # in this process only, which ends with the command: the one place that makes noise for a publication
    base.NoisyAnswers = answers
    code, out, err = _captured(order)
    asked = len(recorder.transcript) if replayer is None else replayer.asked
    replayed = None if replayer is None else _summary(replayer)
    connection.send((code, out, err, recorder.transcript, asked, replayed))
    connection.close()


def _summary(replayer: Replayer) -> _Replayed:
    try:
        replayer.finish()
    except PromiseBroken as broken:
        return _Replayed(max(replayer.forth, replayer.back), replayer.moved, str(broken))
    return _Replayed(max(replayer.forth, replayer.back), replayer.moved, "")


def _captured(order: _Order) -> tuple[int, bytes, bytes]:
    """Run a command with its standard streams in files, as a shell would redirect them."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.argv = ["hedgerow", *order.words]
        code = 0
        try:
            order.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        sys.stdout.flush()
        sys.stderr.flush()
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()
