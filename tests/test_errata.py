"""Wrong golds as a layer: three scores side by side, the ceiling, and the list itself; golds change nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from himga_eval.data import load_dataset, read_questions
from himga_eval.errata import ERRATA, ceiling, find_faulty, read_errata, with_errata
from himga_eval.errors import InputError, RunFileNotFound
from himga_eval.formats import read_run
from himga_eval.schema import results_frame
from himga_eval.scoring import score, summarise


@pytest.fixture
def scores() -> pl.DataFrame:
    rows = {
        "run": "larch",
        "sample_id": "c1",
        "question_id": [f"c1:{i}" for i in range(4)],
        "question_type": ["temporal", "temporal", "single_hop", "single_hop"],
        "question": ["When?", "Since when?", "Who?", "Where?"],
        "ground_truth": ["May", "June", "Ada", "Rome"],
        "prediction": ["May", "July", "Ada", None],
        "published_judge_score": [1.0, 0.0, 1.0, 0.0],
    }
    return score(results_frame(pl.DataFrame(rows)), ["exact_match", "f1"])


def errata(*rows: tuple[str, str | None]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["question_id", "correct_answer"], orient="row")
    return frame.select(
        pl.col(name).cast(pl.String) if name in frame.columns else pl.lit(None, pl.String).alias(name)
        for name in ERRATA
    )


def means(frame: pl.DataFrame, metric: str, kind: str = "overall") -> list[float | None]:
    summary = summarise(frame).filter(metric=metric, question_type=kind)
    return [dict(summary.select("run", "mean").iter_rows()).get(f"larch, {layer}") for layer in LAYERS]


LAYERS = ("all golds", "faulty left out", "golds corrected")


def test_three_layers_stand_side_by_side(scores: pl.DataFrame) -> None:
    layers = with_errata(scores, errata(("c1:1", "July")))
    assert layers["run"].unique(maintain_order=True).to_list() == [f"larch, {layer}" for layer in LAYERS]
    assert layers.group_by("run", maintain_order=True).len()["len"].to_list() == [4, 3, 4]
    assert means(layers, "f1") == pytest.approx([0.5, 2 / 3, 0.75])


def test_a_gold_is_corrected_in_its_layer_alone(scores: pl.DataFrame) -> None:
    layers = with_errata(scores, errata(("c1:1", "July"))).filter(question_id="c1:1")
    assert layers.select("run", "ground_truth", "f1").rows() == [
        ("larch, all golds", "June", 0.0),
        ("larch, golds corrected", "July", 1.0),
    ]


def test_a_label_given_for_a_wrong_gold_is_unknown_for_the_right_one(scores: pl.DataFrame) -> None:
    layers = with_errata(scores, errata(("c1:1", "July")))
    assert layers.filter(run="larch, golds corrected", question_id="c1:1")["published_judge_score"].to_list() == [None]
    assert means(layers, "published_judge_score") == pytest.approx([0.5, 2 / 3, 2 / 3])


def test_a_faulty_gold_without_a_correction_is_left_out_of_both(scores: pl.DataFrame) -> None:
    layers = with_errata(scores, errata(("c1:1", None), ("c1:2", "Ada L.")))
    assert layers.group_by("run", maintain_order=True).len()["len"].to_list() == [4, 2, 3]


def test_the_protocol_of_the_scores_is_that_of_the_layers(scores: pl.DataFrame) -> None:
    layers = with_errata(score(scores, ["f1"], protocol="squad"), errata(("c1:1", "The July")), protocol="squad")
    assert layers.filter(run="larch, golds corrected", question_id="c1:1").select("f1", "protocol").row(0) == (
        1.0,
        "squad",
    )


def test_the_ceiling_is_the_share_of_sound_golds(scores: pl.DataFrame) -> None:
    table = ceiling(scores, errata(("c1:1", "July")))
    assert table.select("question_type", "questions", "faulty", "ceiling").rows() == [
        ("single_hop", 2, 0, 1.0),
        ("temporal", 2, 1, 0.5),
        ("overall", 4, 1, 0.75),
        ("answerable", 4, 1, 0.75),
    ]


def test_what_is_left_out_is_listed(scores: pl.DataFrame) -> None:
    faulty = find_faulty(scores, errata(("c1:1", "July"), ("c9:9", "x")))
    assert faulty.select("question_id", "ground_truth", "correct_answer").rows() == [("c1:1", "June", "July")]


def test_case_d34_an_exclusion_is_explicit_and_listed(shared: Path, tmp_path: Path) -> None:
    lines = (shared / "cases/public_cases.jsonl").read_text(encoding="utf-8").splitlines()
    case = next(case for case in map(json.loads, lines) if case["id"] == "D34")
    excluded = case["input"]["question_ids_excluded"]
    path = tmp_path / "errata.csv"
    path.write_text("\n".join(["question_id", *excluded, ""]), encoding="utf-8")
    frame = pl.DataFrame(
        {"run": "larch", "sample_id": "c", "question_id": ["q6", "q7"], "ground_truth": "tea", "prediction": "tea"}
    )
    scores = score(frame, ["f1"])
    assert find_faulty(scores, read_errata(path))["question_id"].to_list() == excluded
    layers = with_errata(scores, read_errata(path))
    assert layers.group_by("run", maintain_order=True).agg("question_id").rows() == [
        ("larch, all golds", ["q6", "q7"]),
        ("larch, faulty left out", ["q6"]),
        ("larch, golds corrected", ["q6"]),
    ]


def test_none_of_the_list_among_the_results_is_an_error(scores: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="none of the 1 listed questions is among the results: the list has c9:9"):
        find_faulty(scores, errata(("c9:9", None)))


def test_results_without_ids_are_an_error() -> None:
    with pytest.raises(InputError, match="errata go by question_id"):
        find_faulty(pl.DataFrame({"prediction": ["a"], "ground_truth": ["b"]}), errata(("c1:1", None)))


def test_a_list_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "errata.csv"
    path.write_text('question_id,correct_answer\nc1:1,"July, or so"\nc1:2,\n', encoding="utf-8")
    table = read_errata(path)
    assert dict(table.schema) == ERRATA
    assert table.select("question_id", "correct_answer").rows() == [("c1:1", "July, or so"), ("c1:2", None)]


def test_the_layout_of_the_audit(tmp_path: Path, scores: pl.DataFrame) -> None:
    rows = [
        {"question_id": "locomo_0_qa1", "question": "Since when?", "error_type": "TEMPORAL", "correct_answer": "July"},
        {"question_id": "locomo_0_qa2", "question": "Who?", "error_type": "WRONG_CITATION", "correct_answer": "Ada"},
        {"question_id": "locomo_3_qa0", "question": "Of another?", "error_type": "AMBIGUOUS", "correct_answer": "x"},
    ]
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    table = read_errata(path)
    assert table.select("question_id", "reason").rows() == [(":1", "TEMPORAL"), (":0", "AMBIGUOUS")]
    assert find_faulty(scores, table)["question_id"].to_list() == ["c1:1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("id,correct_answer\nq1,x\n", "has no question_id; it has: id, correct_answer", id="no column"),
        pytest.param("question_id,correct_answer\n,x\n", "a row has no question_id", id="no value"),
    ],
)
def test_a_list_without_ids_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "errata.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_errata(path)


def test_no_such_list(tmp_path: Path) -> None:
    with pytest.raises(RunFileNotFound):
        read_errata(tmp_path / "none.csv")


def test_the_loader_changes_no_gold(shared: Path) -> None:
    path = shared / "data/locomo/locomo10.json"
    golds = {
        qa["question"]: str(qa.get("answer")) for sample in load_dataset("locomo", path) for qa in sample.raw["qa"]
    }
    audit = json.loads((shared / "data/locomo/audit_errors.json").read_text(encoding="utf-8"))
    assert all(golds[row["question"]] == str(row["golden_answer"]) for row in audit)


def test_the_audit_of_locomo(shared: Path) -> None:
    table = read_errata(shared / "data/locomo/audit_errors.json")
    asked = read_questions(shared / "data/locomo/locomo10.json")
    results = read_run(shared / "data/predictions/memobase_eval_0710_3000.json", asked)
    results = results.filter(pl.col("question_type") != "adversarial")
    faulty = find_faulty(results, table)
    assert (table.height, faulty.height) == (99, 99)
    ceilings = ceiling(results, table)
    assert dict(ceilings.select("question_type", pl.col("ceiling").round(3)).iter_rows()) == {
        "single_hop": 0.957,
        "multi_hop": 0.901,
        "temporal": 0.919,
        "open_domain": 0.906,
        "overall": 0.936,
        "answerable": 0.936,
    }
    layers = with_errata(score(results, ["f1"], protocol="mem0"), table, protocol="mem0")
    assert layers.group_by("run", maintain_order=True).len()["len"].to_list() == [1540, 1441, 1540]
