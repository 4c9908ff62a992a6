"""The baselines papers compare with: no memory, the full history, and BM25 over turns."""

from __future__ import annotations

from typing import Any

from himga_eval.data.schema import Message
from himga_eval.memory.base import BaseMemory, transcript


class NullMemory(BaseMemory):
    """Remember nothing."""

    def ingest(self, message: Message) -> None:
        """Forget the message at once."""

    def retrieve(self, query: str) -> str:
        """Give nothing."""
        return ""

    def reset(self) -> None:
        """Do nothing: there is nothing to forget."""


class FullHistory(BaseMemory):
    """Give back the whole conversation, whatever the question."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def ingest(self, message: Message) -> None:
        """Append the message to the transcript."""
        self._lines.append(transcript(message))

    def retrieve(self, query: str) -> str:
        """Give the transcript."""
        return "\n".join(self._lines)

    def reset(self) -> None:
        """Start an empty transcript."""
        self._lines.clear()


class BM25Memory(BaseMemory):
    """Give back the `k` turns that BM25 ranks highest (Lù 2024, the library bm25s), in the order they were said.

    `retrieved` holds their ids, best first: the turn's, or where it has none its session's. A turn that shares no word
    with the question is not given back.
    """

    def __init__(self, k: int = 10) -> None:
        self.k = k
        self._messages: list[Message] = []
        self._index: Any = None

    def ingest(self, message: Message) -> None:
        """Add the message to the turns; they are indexed at the first question."""
        self._messages.append(message)
        self._index = None

    def retrieve(self, query: str) -> str:
        """Give the best turns as lines of a transcript."""
        import bm25s

        self.retrieved = []
        if not self._messages:
            return ""
        if self._index is None:
            self._index = bm25s.BM25()
            self._index.index(_words([transcript(m) for m in self._messages]), show_progress=False)
        k = min(self.k, len(self._messages))
        places, scores = self._index.retrieve(_words([query]), k=k, show_progress=False)
        best = [int(place) for place, score in zip(places[0], scores[0], strict=True) if score > 0]
        found = [self._messages[place] for place in best]
        self.retrieved = [id_ for m in found if (id_ := m.turn_id or m.session_id)]
        return "\n".join(transcript(self._messages[place]) for place in sorted(best))

    def reset(self) -> None:
        """Drop the turns and their index."""
        self._messages.clear()
        self._index = None
        self.retrieved = None


def _words(texts: list[str]) -> Any:
    import bm25s

    return bm25s.tokenize(texts, stopwords="en", show_progress=False)
