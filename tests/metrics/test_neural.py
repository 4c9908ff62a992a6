"""What a neural metric is computed with, and what it says before any model is in memory."""

import subprocess
import sys
from importlib.util import find_spec

import polars as pl
import pytest

from himga_eval import exprs
from himga_eval.errors import InputError, MissingExtra, ModelError
from himga_eval.metrics import _neural
from himga_eval.metrics._neural import LAYERS, neural_column, neural_settings, require, settle

METRICS = ("bert_f1", "sbert_similarity")
NOTHING = pl.Series([], dtype=pl.String)

needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "sentence_transformers")),
    reason='needs the models\' libraries: pip install "himga-eval[eval]"',
)


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("BERT_MODEL", "BERT_REVISION", "BERT_LAYER", "SBERT_MODEL", "SBERT_REVISION"):
        monkeypatch.delenv(f"HIMGA_{name}", raising=False)
    monkeypatch.delenv("HIMGA_DEVICE", raising=False)
    monkeypatch.delenv("HIMGA_BATCH_TOKENS", raising=False)


@pytest.fixture
def no_extra(monkeypatch):
    monkeypatch.setattr(_neural, "find_spec", lambda name: None)


def text(*values):
    return pl.Series(values, dtype=pl.String)


@pytest.mark.parametrize("metric", METRICS)
def test_a_missing_extra_is_an_import_error_with_the_line_that_installs_it(no_extra, metric):
    with pytest.raises(ImportError, match=r'torch, .*pip install "himga-eval\[eval\]"'):
        neural_column(metric, text("a cat"), text("a dog"))
    with pytest.raises(MissingExtra, match=metric):
        require("f1", metric)
    with pytest.raises(MissingExtra):
        neural_settings(metric)


def test_lexical_metrics_need_no_extra(no_extra):
    require("f1", "rougeL", "judge_score")


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("predictions", "ground_truths", "expected"),
    [
        pytest.param(NOTHING, NOTHING, [], id="no rows"),
        pytest.param(text(None, "a", None), text("a", None, None), [None] * 3, id="a null in every row"),
    ],
)
def test_where_there_is_nothing_to_score_no_extra_is_needed(no_extra, metric, predictions, ground_truths, expected):
    column = neural_column(metric, predictions, ground_truths)
    assert (column.name, column.dtype, column.to_list()) == (metric, pl.Float64, expected)


@needs_torch
@pytest.mark.parametrize("metric", METRICS)
def test_a_blank_side_is_0_and_a_null_side_null_and_neither_loads_a_model(metric):
    column = neural_column(
        metric,
        text("", "so it is", " \n", None, ""),
        text("so it is", "\t ", "", "", None),
        {"model": "/no/such/folder", "layer": 1} if metric == "bert_f1" else {"model": "/no/such/folder"},
    )
    assert column.to_list() == [0.0, 0.0, 0.0, None, None]


@needs_torch
def test_the_defaults():
    bert, sbert = settle("bert_f1"), settle("sbert_similarity")
    assert (bert.model, bert.revision, bert.layer) == ("roberta-large", None, 17)
    assert (sbert.model, sbert.revision, sbert.layer) == (
        "sentence-transformers/all-MiniLM-L6-v2",
        None,
        None,
    )


@needs_torch
def test_the_environment_settles_what_no_option_does(monkeypatch):
    monkeypatch.setenv("HIMGA_BERT_MODEL", "models/mine")
    monkeypatch.setenv("HIMGA_BERT_REVISION", "abc")
    monkeypatch.setenv("HIMGA_BERT_LAYER", "3")
    monkeypatch.setenv("HIMGA_SBERT_MODEL", "models/other")
    monkeypatch.setenv("HIMGA_DEVICE", "cpu")
    monkeypatch.setenv("HIMGA_BATCH_TOKENS", "99")
    bert = settle("bert_f1")
    assert (bert.model, bert.revision, bert.layer) == ("models/mine", "abc", 3)
    assert (bert.device, bert.batch_tokens) == ("cpu", 99)
    assert settle("sbert_similarity").model == "models/other"
    assert settle("bert_f1", {"layer": 4, "batch_tokens": 7}).layer == 4


@needs_torch
def test_a_model_given_leaves_the_revision_and_layer_of_the_environment_aside(monkeypatch):
    monkeypatch.setenv("HIMGA_BERT_REVISION", "abc")
    monkeypatch.setenv("HIMGA_BERT_LAYER", "3")
    given = settle("bert_f1", {"model": "roberta-base"})
    assert (given.revision, given.layer) == (None, LAYERS["roberta-base"])


@needs_torch
@pytest.mark.parametrize(
    ("model", "layer"),
    [
        pytest.param("FacebookAI/roberta-large", 17, id="with its owner"),
        pytest.param("/models/roberta-large/", 17, id="a folder called after it"),
        pytest.param("C:\\models\\bert-base-uncased", 9, id="a folder on Windows"),
    ],
)
def test_the_layer_goes_by_the_last_part_of_the_name(model, layer):
    assert settle("bert_f1", {"model": model}).layer == layer


@needs_torch
@pytest.mark.parametrize(
    ("metric", "options", "variables", "message"),
    [
        pytest.param("bert_f1", {"model": "a/b"}, {}, "'a/b'; give layer=", id="no layer known"),
        pytest.param("bert_f1", {}, {"HIMGA_BERT_LAYER": "x"}, "HIMGA_BERT_LAYER .*'x'", id="layer not a number"),
        pytest.param("sbert_similarity", {"layer": 3}, {}, "takes no layer", id="layer of a sentence model"),
        pytest.param("bert_f1", {"device": "gpu"}, {}, "no device 'gpu'; known: cuda", id="unknown device"),
        pytest.param("bert_f1", {"device": "cuda:99"}, {}, "no device 'cuda:99' here", id="absent device"),
        pytest.param("bert_f1", {}, {"HIMGA_BATCH_TOKENS": "0"}, "at least 1, not 0", id="empty batches"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(monkeypatch, metric, options, variables, message):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=message):
        settle(metric, options)


@needs_torch
@pytest.mark.parametrize(
    ("metric", "model", "words"),
    [
        pytest.param(
            "bert_f1",
            "roberta-large",
            ["'roberta-large'", "no network", "HIMGA_BERT_MODEL", "model.safetensors"],
            id="of the hub, token vectors",
        ),
        pytest.param(
            "sbert_similarity",
            "owner/model",
            ["'owner/model'", "no network", "HIMGA_SBERT_MODEL", "1_Pooling/config.json"],
            id="of the hub, text vectors",
        ),
        pytest.param("bert_f1", "/no/such/roberta-large", ["no folder", "HIMGA_BERT_MODEL"], id="a folder that is not"),
        pytest.param("bert_f1", "{tmp}", ["no config.json", "HIMGA_BERT_MODEL"], id="an empty folder"),
    ],
)
def test_a_model_that_is_not_to_be_had_is_one_error_that_says_how_to_bring_it(
    monkeypatch, tmp_path, metric, model, words
):
    def offline(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr("himga_eval.metrics._models.snapshot_download", offline)
    options = {"model": model.format(tmp=tmp_path)}
    if metric == "bert_f1":
        options["layer"] = 5
    with pytest.raises(ModelError) as caught:
        neural_column(metric, text("a cat"), text("a dog"), options)
    for word in [metric, *words]:
        assert word in str(caught.value)


@needs_torch
def test_a_folder_that_holds_something_else_is_an_error_of_the_model(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match=r"cannot be loaded from .* should hold .*tokenizer\.json"):
        neural_column("bert_f1", text("a cat"), text("a dog"), {"model": str(tmp_path), "layer": 2})


def test_an_option_that_does_not_exist_is_an_error_that_lists_those_that_do():
    frame = pl.DataFrame({"prediction": ["a"], "ground_truth": ["b"]})
    with pytest.raises(InputError, match="bert_f1 has no option 'modle'; known: model, revision"):
        frame.with_columns(exprs.bert_f1(modle="roberta-base"))


@needs_torch
def test_settings_are_plain_and_say_what_is_not_known_yet(monkeypatch):
    monkeypatch.setenv("HIMGA_DEVICE", "cpu")
    settings = neural_settings("bert_f1", {"model": "roberta-large", "batch_tokens": 64})
    assert settings["model"] == "roberta-large"
    assert (settings["layer"], settings["rescaled"]) == (17, False)
    assert (settings["device"], settings["batch_tokens"]) == ("cpu", 64)
    assert settings["weights"] is None
    assert set(settings) >= {"revision", "max_tokens", "torch", "transformers"}


def test_importing_the_metrics_loads_no_torch():
    code = "import sys; import himga_eval.metrics._neural; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
