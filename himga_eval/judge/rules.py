"""What can be judged without a model: whether an answer says that there is none."""

from __future__ import annotations

import math
import re

VALUES = frozenset(
    """
    n/a, n.a, na, nan, nil, none, null, undefined, idk, unknown, unclear, unsure, unspecified, undetermined,
    unanswerable, inconclusive, no answer, no answers, no response, no information, no info, no data, no record,
    no mention, no evidence, no idea, no clue, not sure, not answerable, not applicable, not found, not known,
    not available
    """.replace("\n    ", " ")
    .strip()
    .split(", ")
) | {""}
"""Answers that are a refusal as they stand, without case, outer punctuation and mark-up."""

_WH = r"(?:what|when|where|who|whom|whose|which|why|how|whether|if)"
_SOURCE = (
    r"(?:conversations?|dialogues?|dialogs?|contexts?|texts?|transcripts?|chats?|history|passages?|messages?|memory"
    r"|memories|sessions?|excerpts?|documents?|records|logs?|information|exchanges?|discussions?|content)"
)
_THE_SOURCE = rf"(?:the|this|that|these|those|any|our|your|my|their|any of the)(?: \w+){{0,3}}? {_SOURCE}"
_FACTS = r"(?:information|info|details?|data|mention|records?|indication|references?|answer|context|evidence)"
_SAY = (
    r"(?:say|mention|specify|state|provide|contain|indicate|include|reveal|discuss|tell|give|have|address|cover|describe"
    r"|identify|disclose|clarify|refer|answer|share)"
)
_SAID = (
    r"(?:mentioned|specified|stated|provided|given|disclosed|discussed|indicated|revealed|recorded|included|addressed"
    r"|covered|described|documented|shared|said|told)"
)
_IN = rf"(?:in|within|from|during|by|based on|anywhere in|given) {_THE_SOURCE}"
_TAIL = rf"(?:$| about (?:it|this|that)$| {_WH}\b| {_IN}\b| anywhere$| here$)"

PHRASES = {
    "not mentioned": rf"(?:^|\b(?:is|was|are|were|been|be) )(?:not|never) {_SAID}{_TAIL}",
    "nothing is mentioned": r"^(?:there is )?(?:nothing|none|no \w+(?: \w+){0,3}?)(?: is| was| were| are)? "
    rf"{_SAID}{_TAIL}",
    "the text does not say": rf"\b{_SOURCE} (?:does|do|did|has|have) not {_SAY}\b",
    "you did not say": r"\b(?:you|the user)(?: do| does| did| have| has| had)? (?:not|never) "
    rf"(?:{_SAY}|{_SAID})\b",
    "they did not say": r"\b(?:did not|does not|has not|have not|never) "
    rf"(?:mention|say|state|reveal|disclose|discuss|share)(?:e?d)?(?: it| this| that)?{_TAIL}",
    "did not specify": r"\b(?:did not|does not|never|nobody|no one) (?:specify|specified|specifies)\b",
    "nobody said": r"\b(?:nobody|no one|neither of them) (?:says?|said|mentions?|mentioned|discussed)"
    rf"(?: it| this| that)?{_TAIL}",
    "no information": r"(?:^|\b(?:there (?:is|was|are|were)|(?:i|we) (?:have|find|found|see)"
    rf"|{_SOURCE} \w+) )no (?:\w+ ){{0,2}}?{_FACTS}"
    r"(?:$| (?:is|was|are|about|on|of|regarding|concerning|in|available|provided|given|found|that|as|for|to"
    r"|whether|from|indicating)\b)",
    "not enough information": rf"(?:^|\b(?:there (?:is|was)|(?:i|we) do|{_SOURCE} (?:does|do|did)|due to) )"
    rf"(?:insufficient|not (?:have |contain |provide )?(?:enough|sufficient)) {_FACTS}\b",
    "information not found": rf"^(?:(?:the |that |this |such )?{_FACTS} )?(?:(?:is|was|were|could|can) )?"
    r"not (?:be )?(?:found|available)\b",
    "i do not know": r"\b(?:i|we) (?:do|did) not (?:\w+ )?"
    r"(?:know|recall|remember|have (?:that|this|any|the|an?|access))\b",
    "i have no idea": r"\bi have no (?:\w+ )?(?:idea|clue|memory|recollection|knowledge|way of)\b"
    r"|^no (?:idea|clue)\b",
    "i am not sure": rf"\bi am (?:not (?:\w+ )?|un)(?:sure|certain|aware)(?:$| (?:about|of|{_WH})\b)",
    "can not answer": r"(?:^|\b(?:i|we) )(?:can not|could not|am unable to|unable to|am not able to|not able to) "
    r"(?:answer|determine|infer|help|assist)\b",
    "i can not tell": r"\b(?:i|we) (?:can not|could not|am unable to|am not able to) "
    r"(?:tell|say|find|provide|confirm|identify|recall|give|specify|locate) "
    rf"(?:you |me )?(?:{_WH}|the|this|that|any|an?|specific|for|from)\b",
    "can not be answered": r"\bcan not be (?:answered|determined|inferred|deduced|ascertained|established|known)\b"
    r"|\b(?:impossible|not possible) to (?:say|tell|know|determine|answer)\b",
    "is unknown": r"(?:^|\b(?:is|are|was|were|remains?) )"
    rf"(?:unknown|unclear|unspecified|undetermined|unanswerable|inconclusive){_TAIL}",
    "is not known": rf"\b(?:is|was|are|were) not (?:clear|known){_TAIL}",
    "not in the text": rf"\b(?:not|no|never|nothing)\b.* (?:in|from|within|based on) {_THE_SOURCE}$",
}
"""Ways of saying that there is no answer, as whole phrases of a clause: a real answer may hold their words."""

_REFUSALS = [re.compile(pattern) for pattern in PHRASES.values()]
_SPELLED = (
    (r"[‘’´`]", "'"),
    (r'^\W*"([^"]*)"\W*$', r"\1"),
    (r'"[^"]*"|“[^”]*”|«[^»]*»', "that"),  # a title, or what somebody else said
    (r"\bcannot\b|\bcan't\b", "can not"),
    (r"n't\b|(?<=do)nt\b|(?<=did)nt\b", " not"),
    (r"'m\b", " am"),
    (r"'ve\b", " have"),
    (r"\b(there|it|that|this)'s\b", r"\1 is"),
    (r"\b(?:explicit|specifical|direct|clear|actual|current|complete|total|real|honest|unfortunate)ly\b", ""),
    (r"\b(?:ever|yet|still)\b", ""),
    (r"[*_#>]+", " "),
    (r"^\W*\(?[a-h1-9]\)\s*", ""),
    (r"[^\S\n]+", " "),
)
_SENTENCE = re.compile(r"[.;:!?\n]+(?:\s|$)|\s-\s|—")
_CLAUSE = re.compile(r",\s*|\s+(?=(?:but|however|although|though|because|while)\b)")
_ANSWER = re.compile(r"^.*\banswer\s*[:=]\s*", re.DOTALL)
_REPORTED = re.compile(
    r"\b(?:said|says|told|tells|replied|answered|admitted|wrote|texted|insisted|claimed|thought|thinks|joked)\b"
)
_GUESS = re.compile(
    r"\b(?:i (?:think|believe|guess|suspect|assume|would (?:say|guess))|i'd (?:say|guess)|my (?:best )?guess|probably"
    r"|likely|presumably|perhaps|maybe|(?:it|this|that|which) (?:seems|appears|suggests|implies|indicates)"
    r"|(?:appears?|seems?) to)\b"
)
_CAVEAT = re.compile(r"\b(?:exact|precise|specific|further|more|other)\b")
_REASONING = 40
"""From how many words on what stands before the last paragraph is taken for reasoning."""

_OPENING = re.compile(
    r"^(?:based on|according to|in|from|as|so|and|well|sorry|i am|while|given|there|regarding|looking)\b"
)


def is_unanswerable(text: object) -> bool:
    """Tell whether an answer says that there is no answer.

    A missing, blank or NaN answer does. An answer that commits itself after a hedge, has a caveat about details, quotes
    or narrates somebody's refusal, or merely holds such words does not. Of an answer that reasons over several
    paragraphs the last one counts.

    >>> is_unanswerable("That was not mentioned in the conversation.")
    True
    >>> is_unanswerable("I'm not completely sure, but I think she moved in May 2021.")
    False
    """
    if text is None or (isinstance(text, float) and math.isnan(text)):
        return True
    plain = _spell_out(str(text))
    if plain.strip(" .,;:!?()[]'\"-–—\n") in VALUES:
        return True
    before: list[str] = []
    refused = False
    for sentence in _SENTENCE.split(plain):
        start = len(before)
        for clause in filter(None, (part.strip(" .'()[]") for part in _CLAUSE.split(sentence))):
            if _refuses(clause, before, start):
                refused = True
            elif refused and _GUESS.search(clause):
                return False
            before.append(clause)
    return refused


def _refuses(clause: str, before: list[str], start: int) -> bool:
    """Look for a phrase in a clause; `before` are the earlier ones, from `start` on those of the same sentence."""
    found = next((match for pattern in _REFUSALS if (match := pattern.search(clause))), None)
    if found is None:
        return False
    if any(_REPORTED.search(told) for told in (*before[start:], clause[: found.start()])):
        return False
    answered = any((_OPENING.match(said) is None and " " in said) or re.search(r"\d", said) for said in before)
    return not (answered and _CAVEAT.search(clause))


def _spell_out(text: str) -> str:
    """Bring contractions, quotes and mark-up to one spelling."""
    *reasoning, last = text.lower().strip().split("\n\n")
    text = _ANSWER.sub("", last if len(" ".join(reasoning).split()) > _REASONING else "\n".join([*reasoning, last]))
    for pattern, spelled in _SPELLED:
        text = re.sub(pattern, spelled, text)
    return text.strip()
