"""A cap on dollars that holds, with many calls in flight."""

from __future__ import annotations

import asyncio

from himga_eval.llm.base import CallFailed


class Budget:
    """Count what calls cost, and let none start that could go over `most`. For one event loop only."""

    def __init__(self, most: float | None) -> None:
        self.most = most
        self.spent = 0.0
        self.ended = False
        self._promised: list[float] = []
        self._changed = asyncio.Condition()

    async def reserve(self, bound: float) -> None:
        """Set aside the most a call can cost; wait for those in flight where it does not fit beside them.

        Raises:
            CallFailed: fatal, what is left does not pay for the call.
        """
        if self.most is None:
            return
        async with self._changed:
            await self._changed.wait_for(lambda: self._fits(bound) or not self._promised)
            if not self._fits(bound):
                self.ended = True
                told = f"${self.spent:.4f} so far, and another call may take ${bound:.4f}"
                raise CallFailed("fatal", f"the budget of ${self.most:g} is spent ({told})")
            self._promised.append(bound)

    async def settle(self, bound: float, cost: float | None) -> None:
        """Put what a call did cost in the place of what was set aside; that counts where the cost is not known."""
        async with self._changed:
            if self.most is not None:
                self._promised.remove(bound)
            self.spent += bound if cost is None else cost
            self._changed.notify_all()

    def _fits(self, bound: float) -> bool:
        return self.most is None or self.spent + sum(self._promised) + bound <= self.most
