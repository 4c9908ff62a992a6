"""Scores long-term-memory agents on LoCoMo and LongMemEval, in a dataframe."""
