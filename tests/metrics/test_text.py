from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from himga_eval.metrics._text import Memo


def test_a_memo_computes_once() -> None:
    asked = []
    memo = Memo(lambda key: asked.append(key) or len(key))
    assert [memo["abc"], memo["abc"], memo["x"]] == [3, 3, 1]
    assert asked == ["abc", "x"]


def test_a_memo_stays_small() -> None:
    memo = Memo(len, entries=10, key_length=5)
    assert [memo[str(number)] for number in range(100)] == [len(str(number)) for number in range(100)]
    assert len(memo) <= 10
    assert memo["too long to keep"] == 16
    assert "too long to keep" not in memo


def test_threads_may_share_a_memo_that_overflows() -> None:
    memo = Memo(len, entries=3)
    keys = [str(number % 17) * (number % 7) for number in range(2_000)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(memo.__getitem__, keys)) == [len(key) for key in keys]
