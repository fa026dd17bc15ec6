"""Judgements that several kinds share."""
