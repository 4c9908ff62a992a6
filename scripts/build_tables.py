"""Build the tables in himga_eval/metrics/tables from a folder of NLTK data.

    python scripts/build_tables.py ~/nltk_data

The folder has tokenizers/punkt_tab/english and corpora/wordnet (WordNet 3.0; folders or zips), as
`nltk.download("punkt_tab")` and `nltk.download("wordnet")` leave them.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import nltk
import polars as pl
from nltk.corpus import wordnet
from nltk.tokenize.punkt import PunktTokenizer

TABLES = Path(__file__).parents[1] / "himga_eval" / "metrics" / "tables"

BEGINS_LOWER = 1 << 4
ANY_UPPER = 1 << 1 | 1 << 2 | 1 << 3
"""How Punkt notes where it saw a word: at the start of a sentence in lower case; in upper case anywhere."""


def punkt() -> dict[str, object]:
    """Take from Punkt's English model what can decide in lower-cased text."""
    parameters = PunktTokenizer("english")._params
    collocations = defaultdict(list)
    for first, second in sorted(parameters.collocations):
        collocations[first].append(second)
    seen = parameters.ortho_context
    return {
        "abbreviations": sorted(parameters.abbrev_types),
        "collocations": collocations,
        "beginnings": sorted(w for w, at in seen.items() if at & BEGINS_LOWER and not at & ANY_UPPER),
    }


def synonyms() -> pl.DataFrame:
    """List for every word and part of speech the words of all its meanings, itself among them.

    METEOR asks for single words in lower case only, so others are left out.
    """
    wordnet.ensure_loaded()
    rows = []
    for word, offsets in wordnet._lemma_pos_offset_map.items():
        for pos in "nvar":
            names = {
                name
                for offset in offsets.get(pos, ())
                for name in wordnet.synset_from_pos_and_offset(pos, offset).lemma_names()
                if "_" not in name and name == name.lower()
            }
            if names:
                rows.append((pos, word, " ".join(sorted(names))))
    return pl.DataFrame(rows, ["pos", "word", "words"], orient="row").sort("pos", "word")


def irregular(words: pl.DataFrame) -> pl.DataFrame:
    """List the irregular forms of words that have synonyms: went is go."""
    known = set(words.select("pos", "word").iter_rows())
    rows = [
        (pos, form, " ".join(word for word in bases if (pos, word) in known))
        for pos, forms in wordnet._exception_map.items()
        for form, bases in forms.items()
        if pos in "nvar"
    ]
    return pl.DataFrame(rows, ["pos", "word", "words"], orient="row").sort("pos", "word")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nltk_data", type=Path, help="a folder of NLTK data")
    nltk.data.path[:] = [str(parser.parse_args().nltk_data)]
    TABLES.mkdir(exist_ok=True)
    (TABLES / "punkt.json").write_text(json.dumps(punkt(), ensure_ascii=False, indent=1) + "\n", "utf-8")
    words = synonyms()
    tables = {"synonyms": words, "irregular": irregular(words)}
    for name, table in tables.items():
        table.write_parquet(TABLES / f"{name}.parquet", compression="zstd", compression_level=22)
    for path in sorted(TABLES.iterdir()):
        print(f"{path.name:20} {path.stat().st_size:>9,} bytes")


if __name__ == "__main__":
    main()
