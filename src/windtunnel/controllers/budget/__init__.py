"""Disruption budgets: how many of the pods they select may go now."""
