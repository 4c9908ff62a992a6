from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from himga_eval.data.sampling import Stratum, draw
from himga_eval.errors import InputError


def strata(sizes: dict[str, tuple[int, int]]) -> dict[str, Stratum]:
    """Questions of each type: so many answerable, so many not."""
    return {
        f"{name}-{i}" + "_abs" * (i >= plain): Stratum(name, i >= plain)
        for name, (plain, abstaining) in sizes.items()
        for i in range(plain + abstaining)
    }


LONGMEMEVAL = strata({"user": (64, 6), "assistant": (56, 0), "preference": (30, 0), "multi": (121, 12)})


def test_types_and_abstention_are_in_proportion() -> None:
    chosen = [LONGMEMEVAL[i] for i in draw(LONGMEMEVAL, 58)]  # of 289
    by_type = Counter(s.question_type for s in chosen)
    assert by_type == {"user": 14, "assistant": 11, "preference": 6, "multi": 27}
    assert sum(s.abstention for s in chosen) == 4  # of 18


def test_a_rare_type_gets_one_where_there_is_room() -> None:
    questions = strata({"common": (500, 0), "rare": (2, 0)})
    assert {questions[i].question_type for i in draw(questions, 2)} == {"common", "rare"}


def test_the_draw_is_frozen() -> None:
    """A published subset stays what it is, on any machine and in any version."""
    questions = strata({"a": (6, 0), "b": (3, 2)})
    assert sorted(draw(questions, 4)) == ["a-2", "a-5", "b-2", "b-3_abs"]
    assert sorted(draw(questions, 4, seed=1)) == ["a-0", "a-4", "b-0", "b-4_abs"]


def test_the_order_of_the_file_does_not_matter() -> None:
    assert draw(dict(reversed(LONGMEMEVAL.items())), 40) == draw(LONGMEMEVAL, 40)


sizes = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.tuples(st.integers(0, 40), st.integers(0, 9)).filter(lambda pair: sum(pair) > 0),
    min_size=1,
)


@given(sizes, st.data(), st.integers(0, 3))
def test_any_draw_has_its_size_and_its_proportions(
    counts: dict[str, tuple[int, int]], data: st.DataObject, seed: int
) -> None:
    questions = strata(counts)
    n = data.draw(st.integers(1, len(questions)))
    chosen = draw(questions, n, seed)
    assert len(chosen) == n
    assert chosen <= questions.keys()
    by_type = Counter(questions[i].question_type for i in chosen)
    if n >= len(counts):
        assert by_type.keys() == counts.keys()
    if n >= 8 * len(counts):  # the one that each type gets does not weigh any more
        for name, pair in counts.items():
            assert abs(by_type[name] - n * sum(pair) / len(questions)) < 1 + len(counts) / 8


@pytest.mark.parametrize("n", [0, -1, 290])
def test_what_cannot_be_drawn_is_an_error(n: int) -> None:
    with pytest.raises(InputError, match=f"sample={n}: there are 289 questions"):
        draw(LONGMEMEVAL, n)
