"""A plan's lock: canonical JSON, SHA-256, Ed25519 signature; and the check of each of them."""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_public_key,
)

from experiments.plan.plan import canonical_json
from experiments.surroundings import Check


@dataclass(frozen=True, slots=True)
class SignedPlan:
    """The bytes that were signed, and what proves them. `public_key` is PEM."""

    plan: bytes
    sha256: str
    signature: bytes
    public_key: str


def sign_plan(plan: bytes, key: Ed25519PrivateKey) -> SignedPlan:
    """Hash and sign a plan's canonical JSON."""
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return SignedPlan(plan, hashlib.sha256(plan).hexdigest(), key.sign(plan), public.decode())


def key_id(public_key: str) -> str:
    """Name a key: the SHA-256 (hex) of its 32 raw bytes; '' for what is no Ed25519 key."""
    key = _public(public_key)
    if key is None:
        return ""
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


def check_signed(signed: SignedPlan, *, known_keys: Collection[str]) -> list[Check]:
    """Check plan, hash, key, signature and signer, each with what was expected and found.

    Parameters
    ----------
    known_keys
        Ids of the keys that are trusted: those of this installation.
    """
    found = hashlib.sha256(signed.plan).hexdigest()
    signer = key_id(signed.public_key)
    return [
        _is_canonical(signed.plan),
        Check("SHA-256", signed.sha256, found, found == signed.sha256),
        Check(
            "public key",
            "an Ed25519 key",
            f"an Ed25519 key, {_short(signer)}" if signer else "no Ed25519 key",
            bool(signer),
        ),
        _signature(signed),
        Check(
            "signer",
            " or ".join(_short(known) for known in sorted(known_keys)) or "a known key",
            _short(signer) if signer else "nobody",
            signer in known_keys,
            hint="" if signer in known_keys else "ask the one who locked it for the key's id",
        ),
    ]


def _public(pem: str) -> Ed25519PublicKey | None:
    try:
        key = load_pem_public_key(pem.encode())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, Ed25519PublicKey) else None


def _is_canonical(data: bytes) -> Check:
    expected = "canonical JSON"
    try:
        value = json.loads(data)
        same = isinstance(value, dict) and canonical_json(value) == data
    except (ValueError, RecursionError):
        return Check("plan", expected, "no JSON", False)
    return Check("plan", expected, expected if same else "JSON in another form", same)


def _signature(signed: SignedPlan) -> Check:
    expected = "made by this key over these bytes"
    key = _public(signed.public_key)
    if key is None:
        return Check("signature", expected, "cannot be checked without a key", False)
    try:
        key.verify(signed.signature, signed.plan)
    except InvalidSignature:
        found = "not made by this key over these bytes: plan, signature or key was changed"
        return Check("signature", expected, found, False)
    return Check("signature", expected, expected, True)


def _short(identity: str) -> str:
    return f"key {identity[:16]}"
