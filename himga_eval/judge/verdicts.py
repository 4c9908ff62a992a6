"""What a judge says: the schema it fills in, and the strict reading of the text it writes where it fills in none."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any, NamedTuple, NoReturn, TypeAlias

from himga_eval.llm.base import CallFailed, Reply

Scale: TypeAlias = tuple[float, ...] | None
"""The scores there are; None for correct or not."""

_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
_WORD = re.compile(
    r"[\s*_#>.\-]*(?:(?:verdict|answer)\W{1,4})?"
    r"(yes|no|correct|incorrect|not correct|partially correct|wrong|true|false)"
    r"[*_]*\s*(?:$|[.,;:!\n]|[-–—]\s)",
    re.IGNORECASE,
)


_QUOTES = tuple("\"'`“‘")


class Verdict(NamedTuple):
    """A score in 0..1 and why."""

    score: float
    reasoning: str


@cache
def schema(scale: Scale) -> type:
    """Give what instructor has the judge fill in; wrapped once, since wrapping costs more than a call."""
    import instructor

    return instructor.response_schema(_model(scale))


@cache
def json_schema(scale: Scale) -> str:
    """Spell out that schema, as the judge sees it."""
    return json.dumps(_model(scale).model_json_schema())


def instruction(scale: Scale) -> str:
    """Ask for a verdict in words, for judges that have no schema to fill in."""
    kind = '"correct": true or false' if scale is None else f'"score": one of {_listed(scale)}'
    return (
        "Give your verdict through the tool if you have one, else as a single JSON object and nothing besides: "
        f'{{"reasoning": "why, in a sentence or two", {kind}}}'
    )


def reader(scale: Scale) -> Callable[[Reply], Verdict]:
    """Make the function that takes a verdict from a reply, and says what is wrong with one it can't take."""
    return partial(_read, scale)


def _read(scale: Scale, reply: Reply) -> Verdict:
    from pydantic import ValidationError

    fields = reply.fields
    if fields is None:
        try:
            fields = _fields_of(reply.text, scale)
            fields = _model(scale).model_validate(fields, strict=True).model_dump()
        except ValidationError as error:
            told = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'it'}: {e['msg']}" for e in error.errors())
            raise CallFailed("invalid", told, reply=reply) from None
        except ValueError as error:
            raise CallFailed("invalid", str(error), reply=reply) from None
    score = float(fields["correct"]) if scale is None else fields["score"]
    return Verdict(score, fields["reasoning"])


def _fields_of(text: str, scale: Scale) -> Any:
    """Find the one verdict in a text: a JSON object alone, fenced, or at either end of a remark; a plain yes or no."""
    text = text.strip()
    if not text:
        raise ValueError("the reply is empty")
    if scale is None and "{" not in text and (word := _WORD.match(text)):
        return {"correct": word[1].lower() in ("yes", "correct", "true")}
    if fenced := _FENCED.search(text):
        before, text = text[: fenced.start()] + text[fenced.end() :], fenced[1]
    else:
        before, brace, rest = text.partition("{")
        text = brace + rest
    if not text:
        raise ValueError("there is no JSON object in it")
    value, end = _DECODER.raw_decode(text.strip())
    after = text.strip()[end:].strip(" .\n")
    if "{" in before + after:
        raise ValueError("there is more than one JSON object, and no telling which is the verdict")
    if before.rstrip().endswith(_QUOTES):
        raise ValueError("the JSON object in it is quoted")
    if before and after:
        raise ValueError("the JSON object stands amid other text")
    return value


@cache
def _model(scale: Scale) -> Any:
    from pydantic import BeforeValidator, ConfigDict, Field, create_model

    if scale is None:
        name, kind = "correct", (bool, Field(description="Whether the answer passes."))  # type: tuple[str, Any]
    else:
        number = Annotated[float, BeforeValidator(partial(_on_scale, scale))]
        given = Field(description=f"One of {_listed(scale)}.", json_schema_extra={"enum": list(scale)})
        name, kind = "score", (number, given)
    fields: dict[str, Any] = {
        "reasoning": (str, Field(default="", description="Why, in a sentence or two.")),
        name: kind,
    }
    return create_model(
        "Verdict",
        __config__=ConfigDict(json_schema_extra={"required": list(fields)}),
        __doc__="The verdict on one answer.",
        **fields,
    )


def _on_scale(scale: tuple[float, ...], value: Any) -> float:
    """Take a number, or the text of one, that is a step of the scale."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{value!r:.40} is no score")
    for step in scale:
        if math.isclose(float(value), step, abs_tol=1e-9):
            return step
    raise ValueError(f"{value} is none of {_listed(scale)}")


def _listed(scale: tuple[float, ...]) -> str:
    return ", ".join(f"{step:g}" for step in scale)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice in the JSON object")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)
