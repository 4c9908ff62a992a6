"""Protocols: the recipe of a paper's numbers as data, and what it makes of a frame."""

from himga_eval.protocols.columns import counted, metric_columns, refusal, refuses, variant, with_golds
from himga_eval.protocols.describe import described, differences, leaves_out, note
from himga_eval.protocols.published import name_overall, published_tables, read_published
from himga_eval.protocols.reading import DEFAULT, UnknownProtocol, load_protocol, names, read_protocol
from himga_eval.protocols.recipe import Judge, Protocol, ProtocolLike

__all__ = [
    "DEFAULT",
    "Judge",
    "Protocol",
    "ProtocolLike",
    "UnknownProtocol",
    "counted",
    "described",
    "differences",
    "leaves_out",
    "load_protocol",
    "metric_columns",
    "name_overall",
    "names",
    "note",
    "published_tables",
    "read_protocol",
    "read_published",
    "refusal",
    "refuses",
    "variant",
    "with_golds",
]
