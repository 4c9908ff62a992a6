"""Protocols read from files: the built-in ones are whole, a user's own is checked field by field."""

from __future__ import annotations

from pathlib import Path

import pytest

from himga_eval.errors import InputError, UnknownMetric
from himga_eval.metrics.catalog import ALL_METRICS, LEXICAL
from himga_eval.protocols import Protocol, UnknownProtocol, load_protocol, names

WHOLE = """
title = "Ours at home"
source = "a notebook"
revision = "1"

[metrics]
exact_match = "equal"
f1 = {default = "set", multi_hop = "stemmed_parts"}
"""


def own(folder: Path, text: str) -> Protocol:
    path = folder / "home.toml"
    path.write_text(text, encoding="utf-8")
    return load_protocol(path)


def test_nine_are_built_in_our_own_first() -> None:
    assert names() == ["himga", "a-mem", "locomo", "longmemeval", "magma", "mem0", "memoryos", "memos", "squad"]


@pytest.mark.parametrize("name", names())
def test_a_built_in_protocol_says_where_it_is_from(name: str) -> None:
    protocol = load_protocol(name)
    assert protocol.name == name
    assert protocol.title
    assert protocol.source
    assert protocol.revision
    assert protocol.known
    assert protocol.metrics or protocol.judge


@pytest.mark.parametrize(
    ("name", "defined"),
    [
        pytest.param("himga", ALL_METRICS, id="himga: all twelve"),
        pytest.param("mem0", ("judge_score", "exact_match", "f1", "bleu1", "bleu2", "bleu4"), id="mem0"),
        pytest.param("squad", ("exact_match", "f1"), id="squad"),
        pytest.param("longmemeval", ("judge_score",), id="longmemeval: the judge alone"),
    ],
)
def test_a_protocol_defines_its_metrics(name: str, defined: tuple[str, ...]) -> None:
    assert load_protocol(name).defined == defined


def test_without_a_choice_it_is_the_lexical_metrics_it_defines() -> None:
    assert load_protocol("himga").resolve(None) == list(LEXICAL)
    assert load_protocol("mem0").resolve(None) == ["exact_match", "f1", "bleu1", "bleu2", "bleu4"]
    assert load_protocol("longmemeval").resolve(None) == []


def test_a_metric_that_it_does_not_define_is_an_error_that_lists_those_it_does() -> None:
    with pytest.raises(UnknownMetric, match="no metric 'meteor'; known: exact_match, f1; protocol 'squad' defines no"):
        load_protocol("squad").resolve(["f1", "meteor"])


def test_an_unknown_protocol_lists_the_known() -> None:
    with pytest.raises(
        UnknownProtocol, match=r"no protocol 'mem-0'; did you mean 'mem0'.*memos.*a TOML file of your own"
    ):
        load_protocol("mem-0")


def test_a_file_of_ones_own_is_a_protocol(tmp_path: Path) -> None:
    protocol = own(tmp_path, WHOLE)
    assert (protocol.name, protocol.types, protocol.averages) == ("home", (), ("question",))
    assert protocol.variant("f1") == "set, multi_hop: stemmed_parts"
    assert load_protocol(protocol) is protocol


@pytest.mark.parametrize("name", ["mem0", "published"])
def test_a_file_is_not_called_as_a_built_in_protocol(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.toml"
    path.write_text(WHOLE, encoding="utf-8")
    with pytest.raises(InputError, match=f"would be called '{name}', which is built in; rename the file"):
        load_protocol(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("title = ", "home.toml is not valid TOML", id="no TOML"),
        pytest.param(WHOLE.replace("revision", "version"), "no name 'version'; did you mean 'revision'", id="field"),
        pytest.param(WHOLE.replace('"Ours at home"', "7"), "title is 7; it has to be a text", id="title is a number"),
        pytest.param(WHOLE.replace('source = "a notebook"', ""), "source is None; it has to be a text", id="no source"),
        pytest.param(WHOLE + 'f2 = "set"', r"\[metrics\]: no name 'f2'; known: bert_f1", id="metric"),
        pytest.param(WHOLE.replace('"set"', '"bag"'), "no name 'bag'; known: multiset, set, squad", id="variant"),
        pytest.param(WHOLE.replace("multi_hop =", "hop ="), "no name 'hop'; .*multi_hop", id="type of a variant"),
        pytest.param(
            WHOLE.replace('default = "set", ', ""), "names by question type with a 'default'", id="no default"
        ),
        pytest.param(WHOLE + '[questions]\ntypes = ["hop"]', r"no name 'hop'.*\(\[questions\] types\)", id="type"),
        pytest.param(WHOLE + '[questions]\ntypes = "temporal"', "types is 'temporal'; .* a list", id="types is a text"),
        pytest.param(WHOLE + '[questions]\naverages = ["user"]', "known: question, type, conversation", id="average"),
        pytest.param(WHOLE + '[adversarial]\nscored = "rule"', "known: gold, trap, refusal", id="adversarial"),
        pytest.param(WHOLE + '[adversarial]\nscored = "refusal"', "phrases says of none", id="refusal without phrases"),
        pytest.param(WHOLE + '[labels]\nhop = "Hop"', r"\[labels\]: no name 'hop'", id="label of no type"),
        pytest.param(WHOLE + "[labels]\ntemporal = 2", "labels is .*; it has to give texts", id="label is a number"),
        pytest.param(WHOLE + '[judge]\nscale = "0 or 1"\nreply = "x"', "modes is None; it has to be", id="no modes"),
        pytest.param(WHOLE + '[judge]\nmodes = "x"\nreply = "x"', "scale is None; it has to be a text", id="no scale"),
        pytest.param("judge = 3\n" + WHOLE, r"judge is a int, not a table \[judge\]", id="judge is a number"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        own(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        pytest.param("a notebook", "a drawer", True, id="the source does not change it"),
        pytest.param("[metrics]", "# a note\n[metrics]", True, id="a comment does not change it"),
        pytest.param('"set"', '"squad"', False, id="a variant changes it"),
        pytest.param("[metrics]", '[questions]\ntypes = ["temporal"]\n[metrics]', False, id="the types change it"),
    ],
)
def test_the_hash_is_of_the_recipe(tmp_path: Path, old: str, new: str, same: bool) -> None:
    assert (own(tmp_path, WHOLE).digest == own(tmp_path, WHOLE.replace(old, new)).digest) is same


def test_built_in_protocols_have_hashes_of_their_own() -> None:
    assert len({load_protocol(name).digest for name in names()}) == 9
