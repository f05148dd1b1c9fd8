"""A small publication to try jobs on."""

from hedgerow.jobs.recipe import Job

TEXT = "tea milk\n" * 70 + "bread\n" * 40


def job(folder, **changes):
    (folder / "a.dat").write_text(TEXT)
    held = {
        "data": str(folder / "a.dat"),
        "kind": "sets",
        "method": "flat-laplace",
        "out": str(folder / "out"),
        "promise": {"epsilon": "1/2", "unit": "record"},
        "assert_public_domain": True,
    }
    return Job(**{**held, **changes})
