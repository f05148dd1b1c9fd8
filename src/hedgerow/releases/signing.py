"""Detached Ed25519 signatures: who made a release, for receivers who have the public key of the maker.

Keys are PEM files as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write them;
the signature is the plain 64 bytes, which `openssl pkeyutl -verify -rawin` checks as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hedgerow.errors import MissingExtra, ParameterError
from hedgerow.formats.files import read_bytes

SIGNATURE_BYTES = 64
_PRIVATE, _PUBLIC, _ENCRYPTED = b" PRIVATE KEY-----", b" PUBLIC KEY-----", b"ENCRYPTED"
_MAKE = "create one with: openssl genpkey -algorithm ed25519 -out KEY"


def read_private_key(path: Path) -> Any:
    """Read the private key to sign with."""
    content = _pem(path)
    if _PRIVATE not in content and _PUBLIC in content:
        msg = f"{path} is a public key; sign with the private one"
        raise ParameterError(msg)
    if _ENCRYPTED in content:
        msg = (
            f"{path} is encrypted, which is not supported; give a key that is not encrypted "
            f"(openssl pkey -in {path} -out PLAIN) and that only you can read"
        )
        raise ParameterError(msg)
    serialization, ed25519 = _library()
    return _load(path, lambda: serialization.load_pem_private_key(content, None), ed25519[0])


def read_public_key(path: Path) -> Any:
    """Read the public key to check a signature with."""
    content = _pem(path)
    if _PRIVATE in content:
        msg = f"{path} is a private key; a receiver checks with the public one (openssl pkey -pubout)"
        raise ParameterError(msg)
    serialization, ed25519 = _library()
    return _load(path, lambda: serialization.load_pem_public_key(content), ed25519[1])


def sign(key: Any, content: bytes) -> bytes:
    """Sign with a private key."""
    return key.sign(content)


def is_signed(key: Any, signature: bytes, content: bytes) -> bool:
    """Whether the owner of a public key signed this."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra

    try:
        key.verify(signature, content)
    except InvalidSignature:
        return False
    return True


def _pem(path: Path) -> bytes:
    content = read_bytes(path)
    if b"-----BEGIN" not in content:
        msg = f"{path} is not a key in a PEM file; {_MAKE}"
        raise ParameterError(msg)
    return content


def _library() -> tuple[Any, tuple[type, type]]:
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415
    except ImportError:
        msg = "signatures need the extra 'sign': pip install 'hedgerow[sign]'"
        raise MissingExtra(msg) from None
    return serialization, (ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey)


def _load(path: Path, load: Any, key_type: type) -> Any:
    try:
        key = load()
    except Exception:  # noqa: BLE001 - the library raises many, and their messages may quote the key
        key = None
    if not isinstance(key, key_type):
        msg = f"{path} is not an Ed25519 key in a PEM file; {_MAKE}"
        raise ParameterError(msg)
    return key
