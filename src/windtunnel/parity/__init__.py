"""Replays recorded answers of the real programs, and says where ours differ.

Faithfulness is measured, not claimed: ``api`` asks a server, ``scheduler`` runs scenarios through
the cycle; both compare with what the real ones answered. Independent comparers lie beside the
recordings.
"""

from windtunnel.parity.report import CaseResult, Report

__all__ = ["CaseResult", "Report"]
