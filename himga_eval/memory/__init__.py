"""Memories an agent remembers a conversation with: the interface, and plain baselines to compare with."""

from __future__ import annotations

from himga_eval.memory.base import BaseMemory
from himga_eval.memory.baselines import BM25Memory, FullHistory, NullMemory

__all__ = ["BM25Memory", "BaseMemory", "FullHistory", "NullMemory"]
