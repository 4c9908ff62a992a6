"""Commands that call a model: run an agent, judge its answers, look into the cache of judgements."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from himga_eval.cli.app import FAILED_ROWS, app, say
from himga_eval.cli.options import (
    Datasets,
    Format,
    Output,
    Prompts,
    Protocol,
    RunName,
    Runs,
    StorePath,
    answers_of,
    questions,
)
from himga_eval.cli.recipes import notes_of
from himga_eval.cli.show import FOR_PROGRAMS, show_columns, show_frame, show_tables
from himga_eval.errors import InputError

MaxCost = Annotated[
    float | None, typer.Option(help="Stop before this many dollars are spent.", envvar="HIMGA_MAX_COST")
]
Rpm = Annotated[float | None, typer.Option(help="Calls a minute at most.", envvar="HIMGA_RPM")]
Tpm = Annotated[float | None, typer.Option(help="Tokens a minute at most.", envvar="HIMGA_TPM")]
Concurrency = Annotated[int | None, typer.Option(help="Calls in flight at most.", envvar="HIMGA_CONCURRENCY")]
Cache = Annotated[Path | None, typer.Option("--cache", help="The DuckDB file of judgements [default: the store].")]

cache = typer.Typer(name="cache", help="Look into the cache of judgements.", no_args_is_help=True)
app.add_typer(cache)


@app.command()
def run(
    agent: Annotated[str, typer.Option(help="A function that makes the agent.", metavar="PACKAGE.MODULE:FUNCTION")],
    dataset: Annotated[
        str, typer.Option(help="The data set to answer.", metavar="NAME[=PATH]", envvar="HIMGA_DATASET")
    ],
    name: Annotated[str, typer.Option("--run", help="The run's name in the store.")],
    workers: Annotated[int, typer.Option(help="Samples answered at a time, each by an agent of its own.")] = 1,
    limit: Annotated[int | None, typer.Option(help="Only the first so many samples.")] = None,
    sample: Annotated[int | None, typer.Option(help="Draw so many questions, stratified by type.")] = None,
    seed: Annotated[int, typer.Option(help="The seed of the draw.")] = 0,
    max_errors: Annotated[int, typer.Option(help="End the run after so many failures in a row.")] = 5,
    max_cost: MaxCost = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    concurrency: Concurrency = None,
    store: StorePath = None,
) -> None:
    """Answer a data set with an agent.

    Run again, it answers only what is missing.

    Example: himga-eval run --agent my_agent:make --dataset locomo --run mine
    """
    from himga_eval.data import dataset_checksum, load_dataset
    from himga_eval.data.files import find_file
    from himga_eval.llm.pool import Pool
    from himga_eval.runner import run_eval
    from himga_eval.store import Store

    make = _maker(agent)
    title, _, path = dataset.partition("=")
    samples = load_dataset(title, path or None, limit=limit, sample=sample, seed=seed)
    kept = Store(store)
    with Pool(max_cost=max_cost, rpm=rpm, tpm=tpm, concurrency=concurrency):
        how: dict[str, Any] = {"workers": workers, "max_errors": max_errors, "show_progress": sys.stderr.isatty()}
        results = run_eval(samples, make, store=kept, run=name, **how)
    drawn = {"limit": limit} | ({} if sample is None else {"sample": sample, "seed": seed})
    settings = {key: str(value) for key, value in drawn.items() if value is not None}
    kept.note(name, checksums={title: dataset_checksum(find_file(title, path or None))}, settings=settings)
    errors = [result.error for result in results if result.error is not None]
    say(f"{len(results) - len(errors)} answers are kept as {name} in {kept.path}")
    if errors:
        say(f"{len(errors)} questions failed, the last with {errors[-1]}; run again to ask only these")
        raise typer.Exit(FAILED_ROWS)


@app.command()
def judge(
    runs: Runs,
    model: Annotated[
        str | None, typer.Option(help="The judge, as in anthropic/claude-haiku-4-5.", envvar="LLM_PROVIDER")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="A server that speaks OpenAI's protocol; --model is its name.", envvar="HIMGA_BASE_URL"),
    ] = None,
    dataset: Datasets = None,
    mode: Annotated[str, typer.Option(help="The rubric; auto goes by question type.")] = "auto",
    protocol: Protocol = "himga",
    prompts: Prompts = None,
    repeats: Annotated[int, typer.Option(help="Judge each answer so many times.")] = 1,
    recheck: Annotated[int | None, typer.Option(help="Ask so many stored verdicts again.", metavar="N")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and ask nothing.")] = False,
    max_cost: MaxCost = None,
    rpm: Rpm = None,
    tpm: Tpm = None,
    concurrency: Concurrency = None,
    cache: Cache = None,
    run: RunName = None,
    store: StorePath = None,
    format: Output = Format.text,
) -> None:
    """Judge answers with a model, each once, and print the scores.

    A verdict is kept and never asked for again; without --model the kept ones are all there is.

    Example: himga-eval judge larch --model anthropic/claude-haiku-4-5
    """
    import polars as pl

    from himga_eval import judge as judging
    from himga_eval.manifest import judge_settings, protocol_settings
    from himga_eval.metrics.catalog import LEXICAL
    from himga_eval.protocols import counted, load_protocol
    from himga_eval.store import Store

    kept = Store(store)
    asked, checksums = questions(dataset, runs)
    answers = answers_of(runs, asked, store, run=run)
    llm = _client(model, base_url)
    recipe = load_protocol(protocol)
    how: dict[str, Any] = {"cache": cache or kept.path, "mode": mode, "prompts": prompts, "repeats": repeats}
    how["protocol"] = recipe
    limits: dict[str, Any] = {"max_cost": max_cost, "rpm": rpm, "tpm": tpm, "concurrency": concurrency}
    if llm is None and (dry_run or recheck is not None):
        raise InputError(f"{'--dry-run' if dry_run else '--recheck'} needs --model: the judge to ask")
    if dry_run:
        print(judging.estimate(answers, llm, again=recheck, **how))
        return
    if llm is not None:
        say(str(judging.estimate(answers, llm, again=recheck, **how)))
    how["show_progress"] = sys.stderr.isatty()
    if recheck is not None:
        again = judging.recheck(answers, llm, n=recheck, **how, **limits)
        show_columns(again, ["question_id", "mode", "score", "score_again", "changed", "error_again"], format)
        say(f"{again['changed'].sum()} of {again['changed'].count()} verdicts changed")
        return
    try:
        judgements = judging.judge_frame(answers, llm, **how, **limits)
    except InputError as error:
        raise error if llm is not None else InputError(f"{error}; --model names the judge to ask") from None
    # Other metrics that a stored run has are not under this protocol.
    scores = judging.with_scores(answers.drop(LEXICAL, strict=False), judgements)
    scores = counted(scores, recipe).with_columns(protocol=pl.lit(recipe.name))
    judged_by = judge_settings(judgements)
    show_tables(scores, format, ["judge_score"], notes=notes_of(scores, protocol, checksums, settings=judged_by))
    settings = protocol_settings(recipe) | judged_by
    if scores.height < answers.height:
        kept.save(answers, checksums=checksums)
    staying = [name for name in scores["run"].unique(maintain_order=True) if _stay(name, scores, kept, judged_by)]
    if names := kept.save(scores.filter(~pl.col("run").is_in(staying)), checksums=checksums, settings=settings):
        say(f"kept as {', '.join(names)} in {kept.path}")
    failed = judgements.filter(judgements["score"].is_null() & (judgements["status"] != "missing"))
    if failed.height:
        say(f"run again to ask only the {failed.height} judgements that have no score")
        raise typer.Exit(FAILED_ROWS)


def _stay(run: str, scores: Any, kept: Any, judged_by: dict[str, str]) -> bool:
    """Let the stored scores of a run stay where they are more than these, and say so, or whose give way to these."""
    if not kept.has(run):
        return False
    ours = scores.filter(run=run)
    protocol = ours["protocol"][0]
    stored = kept.load(run, protocol=protocol) if protocol in kept.protocols(run) else ours.clear()
    before = stored["judge_score"].count() if "judge_score" in stored.columns else 0
    now = ours["judge_score"].count()
    was, judge = kept.noted(run)[run].get("judge.model"), judged_by.get("judge.model")
    staying = bool(now < before)
    if staying:
        say(f"the scores of {run} in {kept.path} stay: {before} by {was or 'a judge'}, beside {now} now")
    elif before and was and was != judge:
        say(f"the scores of {run} by {was} give way to those by {judge or 'rule'}; its verdicts stay in the cache")
    return staying


@cache.command()
def stats(cache: Cache = None, store: StorePath = None, format: Output = Format.text) -> None:
    """Count the judgements by judge, mode and status, with tokens and dollars.

    Example: himga-eval cache stats
    """
    from himga_eval.judge import stats as count
    from himga_eval.store import Store

    path = cache or Store(store).path
    found = count(path)
    if found.is_empty():
        say(f"no judgements yet in {path}")
    if found.height or format in FOR_PROGRAMS:
        show_frame(found, format)


@cache.command()
def export(
    to: Annotated[Path, typer.Argument(help="A .parquet, .csv or .jsonl file.")],
    cache: Cache = None,
    store: StorePath = None,
) -> None:
    """Write every judgement to a file.

    Example: himga-eval cache export judgements.parquet
    """
    from himga_eval.judge import export as write
    from himga_eval.store import Store

    say(f"{write(cache or Store(store).path, to):,} judgements written to {to}")


def _client(model: str | None, base_url: str | None) -> Any:
    """Make the judge that is named; without a name, cached judgements will have to do."""
    from himga_eval.llm import OpenAIClient, get_client

    if base_url is not None:
        if model is None:
            raise InputError("--base-url needs --model: what the server calls the model")
        return OpenAIClient(model, base_url=base_url)
    return None if model is None else get_client(model)


def _maker(path: str) -> Callable[[], Any]:
    """Import the function that makes an agent; the working folder is searched first."""
    module, _, name = path.partition(":")
    sys.path.insert(0, "")
    try:
        found: Callable[[], Any] = getattr(importlib.import_module(module), name)
    except Exception as error:  # whatever a module of the user's raises
        raise InputError(
            f"--agent {path}: {_told(error)}; it is PACKAGE.MODULE:FUNCTION, a function here or in an installed "
            "package that takes nothing and gives an agent"
        ) from None
    if not callable(found):
        raise InputError(f"--agent {path} is a {type(found).__name__}, not a function that makes an agent")

    def make() -> Any:
        try:
            return found()
        except Exception as error:
            raise InputError(f"--agent {path} raised {_told(error)}") from None

    return make


def _told(error: Exception) -> str:
    """Say what was raised, and by which line of the user's."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f" ({Path(place.filename).name}, line {place.lineno})" if place.filename != __file__ else ""
    return f"{type(error).__name__}: {error}{where}"
