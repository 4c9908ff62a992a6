"""Batching and matching on a made-up model: a vector a word, of some few words."""

import threading
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if any(find_spec(name) is None for name in ("torch", "transformers", "sentence_transformers")):
    pytest.skip('needs the models\' libraries: pip install "himga-eval[eval]"', allow_module_level=True)

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from himga_eval.errors import ModelError
from himga_eval.metrics import _encode, _matching, _models
from himga_eval.metrics._encode import Budget, encode, tokenise
from himga_eval.metrics._neural import neural_column, settle

WORDS = [f"w{n}" for n in range(60)]
WIDTH = 4  # few dimensions, so that words with only dissimilar partners are common
OPTIONS = {"bert_f1": {"model": "made-up", "layer": 1}, "sbert_similarity": {"model": "made-up"}}
TABLE = torch.nn.functional.normalize(torch.randn(100, WIDTH, generator=torch.manual_seed(3)), dim=-1)


def tokenizer():
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    plain = Tokenizer(models.WordLevel({name: n for n, name in enumerate(names)}, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    plain.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def tokens_forward(ids):
    return TABLE[ids]


def texts_forward(ids):
    return torch.nn.functional.normalize(TABLE[ids].mean(1), dim=-1)


@pytest.fixture(scope="module")
def model():
    return _models.Model(
        tokenizer=tokenizer(),
        forward=tokens_forward,
        prompt="",
        special=(2, 3),
        max_tokens=20,
        width=WIDTH,
        device="cpu",
        weights="",
        revision=None,
    )


@pytest.fixture
def use(monkeypatch, model):
    """Let the metrics take the made-up model, with another forward where one is given."""

    def take(**changes):
        monkeypatch.setattr(_matching, "load", lambda settings: replace(model, **changes))

    return take


def column(metric, pairs, **options):
    predictions, ground_truths = zip(*pairs, strict=True)
    return neural_column(
        metric, pl.Series(predictions), pl.Series(ground_truths), {**OPTIONS[metric], "device": "cpu", **options}
    ).to_list()


def plain_f1(one, other):
    """BERTScore as the paper has it, a pair and a token at a time."""

    def vectors(text):
        return [TABLE[2], *(TABLE[4 + int(word[1:])] for word in text.split()), TABLE[3]]

    def mean_of_best(these, those):
        return np.mean([max(float(a.double() @ b.double()) for b in those) for a in these[1:-1]])

    precision = mean_of_best(vectors(one), vectors(other))
    recall = mean_of_best(vectors(other), vectors(one))
    return float(np.clip(2 * precision * recall / (precision + recall), -1, 1))


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=15).map(" ".join)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=12)


@given(pairs=pairs, budget=st.integers(1, 200))
@settings(max_examples=30, deadline=None)
def test_matching_is_that_of_the_paper_whatever_the_batch(pairs, budget):
    fixed = _models.Model(tokenizer(), tokens_forward, "", (2, 3), 20, WIDTH, "cpu", "", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_matching, "load", lambda settings: fixed)
        scores = column("bert_f1", pairs, batch_tokens=budget)
    assert scores == pytest.approx([plain_f1(*pair) for pair in pairs], abs=6e-7)


def test_a_token_with_dissimilar_partners_only_keeps_its_value_beside_longer_texts(use):
    use()
    lone = next(
        (a, b) for a in WORDS for b in WORDS if (TABLE[4 + int(a[1:])] @ TABLE[[2, 3, 4 + int(b[1:])]].T).max() < 0
    )
    longer = (" ".join(WORDS[:12]), " ".join(WORDS[20:30]))
    assert column("bert_f1", [lone, longer])[0] == column("bert_f1", [lone])[0]
    assert column("bert_f1", [lone])[0] == pytest.approx(plain_f1(*lone), abs=6e-7)


@pytest.mark.parametrize("metric", ["bert_f1", "sbert_similarity"])
def test_equal_texts_are_1_and_never_more(use, metric):
    use(forward=(tokens_forward if metric == "bert_f1" else texts_forward))
    same = [" ".join(WORDS[n : n + 7]) for n in range(40)]
    assert column(metric, zip(same, same, strict=True)) == [1.0] * 40


def test_sentence_vectors_are_multiplied_row_by_row(use):
    use(forward=texts_forward)
    rows = [("w1 w2", "w3"), ("w4", "w4 w5 w6"), ("w3", "w1 w2"), ("w1 w2", "w3")]

    def vector(text):
        ids = torch.tensor([[2, *(4 + int(word[1:]) for word in text.split()), 3]])
        return texts_forward(ids)[0].double()

    expected = [float(vector(a) @ vector(b)) for a, b in rows]
    assert column("sbert_similarity", rows) == pytest.approx(expected, abs=6e-7)


@pytest.mark.parametrize("metric", ["bert_f1", "sbert_similarity"])
def test_every_distinct_text_is_encoded_once(use, metric):
    seen = []
    forward = tokens_forward if metric == "bert_f1" else texts_forward

    def counting(ids):
        seen.extend({tuple(row) for row in ids.tolist()})  # a small batch is filled up with its own rows
        return forward(ids)

    use(forward=counting)
    column(metric, [("w1", "w2"), ("w1", "w3"), (" w1 ", "w2"), ("w2", "w1"), ("w4 w5", "w1")] * 50)
    assert sorted(seen) == [(2, 4 + 1, 3), (2, 4 + 2, 3), (2, 4 + 3, 3), (2, 8, 9, 3)]


def test_batches_are_of_one_length_longest_first_and_within_the_budget(model):
    texts = [" ".join(WORDS[: 1 + n % 9]) for n in range(70)]
    tokens = tokenise(model, texts)
    batches = [batch for batch, _ in encode(model, tokens, np.arange(70), Budget(20))]
    lengths = [set(tokens.lengths[batch].tolist()) for batch in batches]
    assert all(len(length) == 1 for length in lengths)
    assert [max(length) for length in lengths] == sorted((max(x) for x in lengths), reverse=True)
    assert all(len(batch) * max(length) <= 20 for batch, length in zip(batches, lengths, strict=True))
    assert sorted(np.concatenate(batches).tolist()) == list(range(70))


def test_a_small_batch_is_filled_up_so_that_its_arithmetic_is_that_of_a_large_one(model):
    shapes = []
    spying = replace(model, forward=lambda ids: shapes.append(ids.shape) or tokens_forward(ids))
    tokens = tokenise(spying, ["w1"])
    [(batch, vectors)] = encode(spying, tokens, np.arange(1), Budget(1))
    assert shapes == [(22, 3)]
    assert (len(batch), vectors.shape) == (1, (1, 3, WIDTH))


OUT_OF_MEMORY = [
    pytest.param(torch.OutOfMemoryError("CUDA out of memory."), id="cuda"),
    pytest.param(RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), id="cpu"),
    pytest.param(RuntimeError("MPS backend out of memory"), id="mps"),
    pytest.param(MemoryError(), id="python"),
]


@pytest.mark.parametrize("error", OUT_OF_MEMORY)
@pytest.mark.parametrize("metric", ["bert_f1", "sbert_similarity"])
def test_out_of_memory_halves_the_batch_and_changes_no_value(use, monkeypatch, metric, error):
    forward = tokens_forward if metric == "bert_f1" else texts_forward
    monkeypatch.setattr(_encode, "_FILL", 1)
    sizes = []

    def small(ids):
        sizes.append(ids.numel())
        if ids.numel() > 40:
            raise error
        return forward(ids)

    rows = [(f"w{n} w{n + 1}", f"w{n + 2}") for n in range(50)]
    use(forward=forward)
    expected = column(metric, rows)
    use(forward=small)
    assert column(metric, rows, batch_tokens=400) == expected
    failed = [n for n, size in enumerate(sizes) if size > 40]
    assert failed
    assert max(failed) < 8  # halved for good: not tried again for every batch


def test_a_halved_budget_stays_halved_for_the_texts_to_come(model):
    def small(ids):
        if ids.numel() > 66:
            raise MemoryError
        return tokens_forward(ids)

    budget = Budget(400)
    tokens = tokenise(model, WORDS)
    assert sum(len(batch) for batch, _ in encode(replace(model, forward=small), tokens, np.arange(60), budget)) == 60
    assert budget.tokens <= 66


def test_out_of_memory_while_matching_halves_too(use, monkeypatch):
    rows = [(f"w{n} w{n + 1}", f"w{n + 2}") for n in range(50)]
    use()
    expected = column("bert_f1", rows)
    double, sizes = _matching._double, []

    def small(vectors):
        sizes.append(len(vectors))
        if len(vectors) > 7:
            raise MemoryError
        return double(vectors)

    monkeypatch.setattr(_matching, "_double", small)
    assert column("bert_f1", rows) == expected
    assert max(sizes) > 7


def test_a_single_text_that_does_not_fit_is_an_error(use):
    def never(ids):
        raise MemoryError

    use(forward=never)
    with pytest.raises(ModelError, match=r"cpu runs out at a single text of 4 tokens"):
        column("bert_f1", [("w1 w2", "w3")])


def test_other_errors_of_the_model_pass(use):
    def broken(ids):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    use(forward=broken)
    with pytest.raises(RuntimeError, match="mat1"):
        column("bert_f1", [("w1", "w2")])


def test_overlong_texts_are_cut_counted_and_said_once(use):
    use()
    long = " ".join(WORDS[:30])
    with pytest.warns(UserWarning, match="2 of 4 distinct texts are longer than the 20 tokens") as caught:
        scores = column("bert_f1", [(long, "w1"), (long + " w1", "w2"), (long, "w1")] * 5)
    assert len(caught) == 1
    first = column("bert_f1", [(" ".join(WORDS[:18]), "w1")])
    assert scores[0] == first[0]


def test_text_of_special_tokens_only_is_blank(use):
    use()
    assert column("bert_f1", [("[SEP]", "w1"), ("w1", "[CLS]"), ("w1", "w1")]) == [0.0, 0.0, 1.0]


def test_a_value_that_is_not_a_number_is_null(use):
    use(forward=lambda ids: tokens_forward(ids) * torch.nan)
    assert column("bert_f1", [("w1", "w2")]) == [None]


@pytest.mark.parametrize("metric", ["bert_f1", "sbert_similarity"])
def test_chunks_change_no_value_and_hold_the_vectors_within_their_limit(use, monkeypatch, metric):
    use(forward=(tokens_forward if metric == "bert_f1" else texts_forward))
    rows = [(f"w{n % 40} w{n % 7}", f"w{n % 11} w3 w4") for n in range(300)]
    expected = column(metric, rows)
    held = []
    empty = torch.empty

    def spying(*shape, **kwargs):
        if isinstance(shape[0], tuple):
            held.append(shape[0][0])
        return empty(*shape, **kwargs)

    monkeypatch.setattr(torch, "empty", spying)
    monkeypatch.setattr(_matching, "_CHUNK_BYTES", 4 * WIDTH * 30)
    assert column(metric, rows) == expected
    assert len(held) > 3
    assert max(held) <= 30


@given(
    left=st.lists(st.integers(0, 9), min_size=1, max_size=40),
    sizes=st.lists(st.integers(1, 9), min_size=10, max_size=10),
    most=st.integers(1, 30),
    data=st.data(),
)
def test_chunks_take_every_pair_once_and_no_more_than_fits(left, sizes, most, data):
    right = data.draw(st.lists(st.integers(0, 9), min_size=len(left), max_size=len(left)))
    one, other, vectors = (np.array(values, np.int64) for values in (left, right, sizes))
    parts = list(_matching._chunks(one, other, vectors, most))
    assert [n for part in parts for n in range(part.start, part.stop)] == list(range(len(left)))
    for part in parts:
        texts = {*left[part], *right[part]}
        assert sum(sizes[t] for t in texts) <= most or part.stop - part.start == 1


@pytest.mark.parametrize(
    ("progress", "drawn"), [pytest.param(True, True, id="asked for"), pytest.param(False, False, id="off")]
)
def test_one_bar_counts_distinct_texts(use, capsys, progress, drawn):
    use()
    column("bert_f1", [("w1", "w2"), ("w1", "w3"), ("w1", "w2")], progress=progress)
    bar = capsys.readouterr().err
    assert ("bert_f1: 100%" in bar and "3/3" in bar) if drawn else bar == ""


def test_a_short_run_draws_no_bar(use, capsys):
    use()
    column("bert_f1", [("w1", "w2")])
    assert capsys.readouterr().err == ""


def test_a_model_is_loaded_once_by_however_many_threads(monkeypatch, model, tmp_path):
    loads = []

    def build(settings, folder, revision):
        loads.append(folder)
        threading.Event().wait(0.05)
        return model

    monkeypatch.setattr(_models, "_MODELS", {})
    monkeypatch.setattr(_models, "_bert", build)
    (tmp_path / "config.json").write_text("{}")
    options = settle("bert_f1", {"model": str(tmp_path), "layer": 1})
    threads = [threading.Thread(target=_models.load, args=(options,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [tmp_path]
    assert _models.loaded(options) is model


def test_both_metrics_in_one_frame_do_not_block_each_other(use):
    use(forward=lambda ids: TABLE[ids])
    frame = pl.DataFrame({"p": [f"w{n}" for n in range(50)], "g": ["w1 w2"] * 50})

    def expression(name):
        def of(struct):
            return neural_column(
                "bert_f1", struct.struct.field("p"), struct.struct.field("g"), OPTIONS["bert_f1"]
            ).alias(name)

        return pl.struct("p", "g").map_batches(of, return_dtype=pl.Float64).alias(name)

    scored = frame.lazy().with_columns(expression(f"score{n}") for n in range(6)).collect()
    assert all(scored["score0"].equals(scored[f"score{n}"], check_names=False) for n in range(6))
