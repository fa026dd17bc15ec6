"""Authorities: what they sign, and what they take for theirs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from windtunnel.home.signing import RENEW_BEFORE, VALID, Authority, key_of

NOW = datetime(2026, 9, 1, tzinfo=UTC)


def test_an_authority_is_kept_and_read_again(tmp_path: Path) -> None:
    made = Authority.make("ca", NOW)
    made.keep(tmp_path / "ca.crt")

    found = Authority.read(tmp_path / "ca.crt")

    assert found is not None
    assert found.certificate == made.certificate


def test_one_whose_key_is_another_s_is_none(tmp_path: Path) -> None:
    Authority.make("ca", NOW).keep(tmp_path / "ca.crt")
    Authority.make("ca", NOW).keep(tmp_path / "other.crt")
    key_of(tmp_path / "ca.crt").write_bytes(key_of(tmp_path / "other.crt").read_bytes())

    assert Authority.read(tmp_path / "ca.crt") is None
    assert Authority.read(tmp_path / "none.crt") is None


def test_it_vouches_for_what_it_signed_until_near_the_end(tmp_path: Path) -> None:
    authority, path = Authority.make("ca", NOW), tmp_path / "a.crt"
    authority.certify(path, NOW, "somebody", "group")

    assert authority.vouches(path, NOW)
    assert not authority.vouches(path, NOW + VALID - RENEW_BEFORE)
    assert not Authority.make("ca", NOW).vouches(path, NOW)
    key_of(path).unlink()
    assert not authority.vouches(path, NOW)
