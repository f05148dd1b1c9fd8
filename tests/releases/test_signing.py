"""Signatures: by Ed25519 keys as openssl writes them, over what `release.json` says of all files."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from folders import seal
from terminal import run

PUBLISH = "publish a.dat --kind sets --method flat-laplace --epsilon 1 --unit record --domain d.toml"


def openssl(folder, line: str) -> int:
    command = ["openssl", *line.split()]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Data, keys of two owners, and a signed release."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "a.dat").write_text("tea milk\n" * 70 + "bread\n" * 40)
    (folder / "d.toml").write_text('[item]\nvalues = ["bread", "milk", "tea"]\n')
    for name in ("ours", "theirs"):
        assert openssl(folder, f"genpkey -algorithm ed25519 -out {name}.pem") == 0
        assert openssl(folder, f"pkey -in {name}.pem -pubout -out {name}.pub") == 0
    openssl(folder, "genpkey -algorithm ed25519 -aes256 -pass pass:x -out locked.pem")
    openssl(folder, "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem")
    openssl(folder, "pkey -in rsa.pem -pubout -out rsa.pub")
    (folder / "no.pem").write_text("tea")
    assert run(f"{PUBLISH} --sign ours.pem --out R", folder).code == 0
    return folder


def test_a_signed_release_is_verified_by_us_and_by_openssl(desk):
    ran = run("verify R --key ours.pub", desk)
    assert ran.code == 0
    assert ran.out.startswith("yes  release.json is signed by the owner of the key\n")
    line = "pkeyutl -verify -pubin -inkey ours.pub -rawin -in R/release.json -sigfile R/release.json.sig"
    assert openssl(desk, line) == 0


def test_a_signature_that_nobody_checked_is_not_satisfied(desk):
    ran = run("verify R", desk)
    assert (ran.code, ran.out.splitlines()[-1]) == (3, "cannot be checked")
    way_out = "give --key FILE; --no-signature leaves it out of the verdict"
    assert ran.out.startswith(f"?    release.json.sig is a signature ({way_out})\n")
    assert run(f"{PUBLISH} --sign ours.pem --out V", desk).code == 0
    (desk / "V" / "release.json.sig").write_text("Alice is unit 1; Bob is unit 2; Eve is unit 3; Carol is unit 4 ")
    (desk / "V" / "release.json.sig").write_bytes((desk / "V" / "release.json.sig").read_bytes().ljust(64))
    assert run("verify V", desk).out.splitlines()[-1] == "cannot be checked"
    assert run("verify V --key ours.pub", desk).out.splitlines()[-1] == "NOT satisfied"


def test_a_signature_may_be_left_out_of_the_verdict_which_says_so(desk):
    said = "-    release.json.sig is no part of this verdict: it was not checked (--no-signature)"
    ran = run("verify R --no-signature", desk)
    assert (ran.code, said in ran.out) == (0, True)
    assert json.loads(run("verify R --no-signature --json", desk).out)["left_out"] == ["release.json.sig"]
    assert run("verify R --no-signature --key ours.pub", desk).code == 2
    assert run("verify a.dat --kind sets --no-signature", desk).code == 2
    assert run(f"{PUBLISH} --out W", desk).code == 0
    assert said not in run("verify W --no-signature", desk).out  # there is none


def test_another_key_another_text_or_no_signature_is_a_no(desk):
    no = "NO   release.json is signed by the owner of the key"
    assert run("verify R --key theirs.pub", desk).out.startswith(no)
    assert run(f"{PUBLISH} --sign ours.pem --out S", desk).code == 0
    seal(desk / "S", notes={"x": 1})  # fits itself in all respects
    ran = run("verify S --key ours.pub", desk)
    assert (ran.code, ran.out.splitlines()[0]) == (3, no)
    assert run(f"{PUBLISH} --out T", desk).code == 0
    ran = run("verify T --key ours.pub", desk)
    assert (ran.code, ran.out.splitlines()[0]) == (3, no)
    (desk / "T" / "release.json.sig").write_text("a place to hide something")
    assert "NO   nothing else is in the folder" in run("verify T", desk).out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{PUBLISH} --out N --sign ours.pub", "is a public key; sign with the private one"),
        (f"{PUBLISH} --out N --sign locked.pem", "locked.pem is encrypted, which is not supported"),
        (f"{PUBLISH} --out N --sign rsa.pem", "rsa.pem is not an Ed25519 key in a PEM file; create one"),
        (f"{PUBLISH} --out N --sign no.pem", "no.pem is not a key in a PEM file; create one with: openssl"),
        (f"{PUBLISH} --out N --sign none", "there is no file none"),
        ("verify R --key ours.pem", "ours.pem is a private key; a receiver checks with the public"),
        ("verify R --key rsa.pub", "rsa.pub is not an Ed25519 key"),
    ],
)  # fmt: skip
def test_a_key_that_is_none_is_refused_before_anything_is_asked(desk, line, message):
    ran = run(line, desk)
    assert ran.code == 2
    assert message in ran.err
    assert not (desk / "N").exists()


def test_a_signed_release_may_be_replaced_and_signed_by_a_recipe(desk):
    assert run(f"{PUBLISH} --sign ours.pem --out U --save-recipe u.toml", desk).code == 0
    assert run("publish --recipe u.toml --overwrite", desk).code == 0
    assert run("verify U --key ours.pub", desk).code == 0
    ran = run(f"{PUBLISH} --sign U/key.pem --out U --overwrite", desk)
    assert "is inside U, the folder that is published; keep it somewhere else" in ran.err


def test_without_the_extra_it_says_what_to_install(desk):
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from hedgerow.cli.app import main\n"
        "sys.argv = ['hedgerow', 'verify', 'R', '--key', 'ours.pub']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=desk, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr == ("hedgerow: signatures need the extra 'sign': pip install 'hedgerow[sign]'\n")
