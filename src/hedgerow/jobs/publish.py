"""Publish data: a recipe in, a release folder out."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow import progress
from hedgerow.data import Dataset
from hedgerow.errors import GuaranteeError, ParameterError, UnsupportedGuarantee, UselessRelease
from hedgerow.formats.codec import codec_of
from hedgerow.frontiers import find_engine
from hedgerow.jobs.pipes import PIPE, Pipe, PipePlacement, require_pipe, write_to_pipe
from hedgerow.jobs.reading import options_of, read_data
from hedgerow.jobs.recipe import Job, load_job, promise_files, save_job
from hedgerow.methods import find_method
from hedgerow.privacy import Guarantee
from hedgerow.publisher import Publisher, require_support
from hedgerow.release import Release
from hedgerow.releases.account import Account, Charge
from hedgerow.releases.atomic_folder import Placement
from hedgerow.releases.key_file import check_key_file, open_key, require_terms
from hedgerow.releases.owner_files import check_owners_file, write_owners
from hedgerow.releases.signing import read_private_key
from hedgerow.releases.writer import Layout, check_free, write_folder
from hedgerow.settings import configure, promise


class Plan(NamedTuple):
    """A job that is ready to run: everything was checked that can be checked without spending."""

    data: Dataset
    method: Publisher[Any]
    guarantee: Guarantee
    layout: Layout
    signing_key: Any = None


def plan_job(job: Job, recipe: Path | None = None) -> Plan:
    """Check a job: method, promise, paths, account and data; no question is asked of the data yet."""
    method_class = find_method(job.method)
    guarantee = promise(method_class, job.promise)
    method = configure(method_class, job.set)
    layout = Layout.like(Path(job.data), job.format, kind=job.kind, columns=job.columns)
    if job.out == PIPE:
        require_pipe(job)
    else:
        check_free(Path(job.out), overwrite=job.overwrite)
    _check_owners_files(job, recipe)
    signing_key = read_private_key(Path(job.sign)) if job.sign else None
    _check_key(job)
    if job.account:
        Account.read(Path(job.account)).require_room(Path(job.account), guarantee)
    bare = guarantee.needs_public_domain
    if bare and job.read.get("carry"):
        msg = f"{guarantee.name} publishes no column as it is; omit --carry"
        raise UnsupportedGuarantee(msg)
    engine = find_engine(job.engine)
    _foresee(job, guarantee)
    data = read_data(job, guarantee.columns).on(engine)
    guarantee = guarantee.about(data)
    _check_owners(job, guarantee, data)
    require_support(method, data, guarantee)
    if job.key:
        require_terms(Path(job.key), method, data)
    form = codec_of(job.kind).formats[layout.format]
    for _, axis in (data.without_attributes() if bare else data).domain.axes:
        form.check(axis.values)
    return Plan(data, method, guarantee, layout, signing_key)


def _foresee(job: Job, guarantee: Guarantee) -> None:
    """Say before records are read what a promise without a budget must come to, by what is declared about them."""
    codec = codec_of(job.kind)
    expected = codec.expect(options_of(job)) if guarantee.budget is None else None
    if expected is not None:
        guarantee.require(expected)
        guarantee.foresee(expected)


def run_job(job: Job, recipe: Path | None = None, pipe: Pipe | None = None) -> tuple[Release[Any], Path]:
    """Charge, publish, verify and write; the recipe, if requested, is saved before anything is asked.

    With `-` as its folder, the job is written to the pipe.
    """
    plan = plan_job(job, recipe)
    if recipe is not None:
        save_job(job, recipe)
    folder = Path(job.out)
    placement = PipePlacement() if job.out == PIPE else Placement(folder)
    charge = _charge(job, plan, placement)
    progress.register_outcome(lambda: _outcome(placement, charge))
    with charge or nullcontext():
        progress.tell("publishing")
        release = plan.method.publish(
            plan.data,
            plan.guarantee,
            seed=job.seed,
            before_asking=charge and charge.book,
            in_slices=True,
            # made before anything is drawn: a release whose key was not kept could not be followed by another
            key=open_key(Path(job.key), plan.method, plan.data) if job.key else None,
        )
        layout, signing_key = plan.layout, plan.signing_key
        del plan  # the data is not needed any more, and writing takes memory of its own
        if isinstance(placement, PipePlacement) and pipe is not None:
            write_to_pipe(release, layout, placement, pipe)
            return release, folder
        if not release.comes_in_slices:
            _require_use(job, release)
            progress.tell("writing and verifying")

        def before_renaming(written: Path) -> None:
            if release.comes_in_slices:  # its answers are known now
                _require_use(job, release)
            if job.owners:
                write_owners(Path(job.owners), release.owners)
            if charge is not None:
                charge.record_fingerprint(written)

        write_folder(
            release,
            folder,
            layout,
            overwrite=job.overwrite,
            placement=placement,
            before_renaming=before_renaming,
            key=signing_key,
        )
    return release, folder


def _check_owners_files(job: Job, recipe: Path | None) -> None:
    """Refuse files of the owner inside the release folder, and a recipe that would replace another file."""
    if job.out == PIPE:
        return
    out = Path(job.out).resolve()
    named = {**job.named_files(), **promise_files(job.promise)}.values()
    typed = (job.data, job.domain, job.schema, job.account, job.sign, job.key, *named)
    inputs = [Path(name) for name in typed if name]
    outputs = [Path(name) for name in (job.owners,) if name]
    for path in (*inputs, *outputs, *((recipe,) if recipe else ())):
        if path.resolve().is_relative_to(out):
            msg = f"{path} is inside {job.out}, the folder that is published; keep it somewhere else"
            raise GuaranteeError(msg)
    if recipe is not None:
        check_owners_file(recipe, inputs, lambda path: bool(load_job(path)))


def _check_key(job: Job) -> None:
    """Refuse a key with a seed, a file that is not a key, or a place where none can be made, before data is read."""
    if not job.key:
        return
    if job.seed is not None:
        msg = "give --seed or --key, not both: a key is for publication, and a seed is not"
        raise ParameterError(msg)
    check_key_file(Path(job.key))


def _check_owners(job: Job, guarantee: Guarantee, data: Dataset) -> None:
    """Refuse a file of owners that nobody needs, or that would replace another file."""
    if not job.owners:
        return
    if not guarantee.unchecked(data.domain):
        msg = (
            f"--owners is for a promise that counts persons who may own several records; {guarantee.name} does not here"
        )
        raise ParameterError(msg)
    if Path(job.owners).exists():
        msg = f"{job.owners} exists already; choose another name for the file of owners"
        raise ParameterError(msg)


def _charge(job: Job, plan: Plan, placement: Placement) -> Charge | None:
    if not job.account:
        return None
    return Charge(Path(job.account), plan.guarantee, method=job.method, placement=placement)


def _outcome(placement: Placement, charge: Charge | None) -> progress.Outcome:
    where = "to standard output" if isinstance(placement, PipePlacement) else f"in {placement.folder}"
    published = f"published {where}" if placement.is_out() else ""
    return progress.Outcome(published, charge.describe() if charge else "")


def _require_use(job: Job, release: Release[Any]) -> None:
    """Refuse a release that is empty or rests on noise; it is known from the answers alone, which were paid for."""
    if job.even_if_useless or not (release.is_empty() or release.is_noise()):
        return
    use = release.describe_use()
    msg = f"{use[0].lower()}{use[1:]} Nothing was written. "
    if release.evidence.entries:
        msg += "The data was asked: every further try costs privacy again. "
        weaker = "a larger epsilon, more records, a smaller domain"
    else:
        weaker = "a weaker promise, more records, coarser values"
    others = f"{weaker} or another method (hedgerow methods --kind {release.kind})"
    helps = "a longer stream, or publications after fewer events" if _ended_early(release) else others
    msg += f"What would help: {helps}; --even-if-useless writes it all the same"
    raise UselessRelease(msg)


def _ended_early(release: Release[Any]) -> bool:
    """Whether a stream ended before anything was due: no other promise would change that."""
    return release.comes_in_slices and release.is_empty()
