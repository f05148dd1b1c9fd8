"""The key file of a data set that is published repeatedly: a file of the owner, and the only copy of a secret."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hedgerow.data import Dataset
from hedgerow.errors import GuaranteeError, ParameterError, WriteError
from hedgerow.formats.files import reason, sync_folder, write_all
from hedgerow.formats.toml import read_toml, toml_key, toml_value
from hedgerow.privacy.keyed_coins import SECRET_BYTES, OwnerKey, Term
from hedgerow.publisher import Publisher, terms_of_key
from hedgerow.releases.owner_files import check_owners_file

_HEAD = (
    "# the key of a data set that is published repeatedly: who has it, and a release, has the exact data.\n"
    "# Never publish it, let nobody else read it, and keep a copy: without it, the next release draws afresh.\n"
)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def open_key(path: Path | str, method: Publisher[Any], data: Dataset) -> OwnerKey:
    """Read the key file of this method on this data; if there is none, make one that only its owner may read.

    Raises
    ------
    ParameterError
        If the key is for another method, network or law of the draws than these: which, says the message.
    """
    path = Path(path)
    require_terms(path, method, data)
    if path.exists():
        return read_key(path)
    key = OwnerKey.make(terms_of_key(method, data))
    _write(path, key)
    return key


def check_key_file(path: Path) -> None:
    """Refuse a file that is not a key, or a place where none may be made."""
    if path.exists():
        read_key(path)
    else:
        check_owners_file(path, (), bool)


def require_terms(path: Path, method: Publisher[Any], data: Dataset) -> None:
    """Refuse a method that draws nothing by a key, and a key file for another use than this."""
    terms = terms_of_key(method, data)
    check_key_file(path)
    if path.exists():
        read_key(path).require(terms)


def read_key(path: Path) -> OwnerKey:
    """Read a key file; refuse one that others may read, or that lies in a release folder."""
    content = read_toml(path, ParameterError)
    check_owners_file(path, (), bool)
    mode = path.stat().st_mode
    if mode & _OTHERS:
        msg = f"{path} may be read or written by others than its owner; take that away (chmod 600 {path})"
        raise GuaranteeError(msg)
    secret, terms = content.pop("secret", None), content
    if not isinstance(secret, str) or not _is_secret(secret) or not _are_terms(terms):
        msg = f"{path} is not a key file as `hedgerow publish --key` makes it"
        raise ParameterError(msg)
    # whole numbers as they were recorded
    numbers = {name: float(term) for name, term in terms.items() if type(term) is int}
    return OwnerKey(bytes.fromhex(secret), {**terms, **numbers})


def _is_secret(text: str) -> bool:
    return len(text) == 2 * SECRET_BYTES and all(digit in "0123456789abcdef" for digit in text)


def _are_terms(terms: Mapping[str, Any]) -> bool:
    return bool(terms) and all(type(term) in {str, float, int, bool} for term in terms.values())


def _write(path: Path, key: OwnerKey) -> None:
    """Write a new file, which replaces no other one: whoever made a key at the same time has made the key."""
    terms: dict[str, Term | str] = {**key.terms, "secret": key.secret.hex()}
    text = _HEAD + "".join(f"{toml_key(name)} = {toml_value(term)}\n" for name, term in terms.items())
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        msg = f"{path} was made by somebody else just now; try again"
        raise ParameterError(msg) from None
    except OSError as error:
        msg = f"{path} could not be written ({reason(error)})"
        raise WriteError(msg) from None
    try:
        write_all(opened, [text.encode()])
        sync_folder(path.parent)
    except BaseException as error:
        path.unlink(missing_ok=True)  # nothing was published by it yet
        if isinstance(error, OSError):
            msg = f"{path} could not be written ({reason(error)})"
            raise WriteError(msg) from None
        raise
    finally:
        os.close(opened)
