"""The rule that tells refusals from answers, on a table of both."""

from __future__ import annotations

import math

import pytest

from himga_eval.judge import is_unanswerable
from himga_eval.judge.rules import PHRASES, VALUES

VALUES_AS_GIVEN = [
    "",
    "   ",
    "\n",
    None,
    math.nan,
    "n/a",
    "N/A",
    "NA",
    "None",
    "null",
    "UNANSWERABLE",
    "Unknown.",
    "-",
    "NaN",
]

REFUSALS = [
    "No information available.",
    "No information about that was given.",
    "INFORMATION NOT FOUND",
    "Information not found in memory.",
    "(a) Not mentioned in the conversation",
    "b) Not mentioned",
    "That was NOT MENTIONED",
    "This was not mentioned in the conversation.",
    "Her brother's job isn't mentioned anywhere.",
    "It was never discussed.",
    "The colour of the kayak is not specified in the provided context.",
    "The price wasn't explicitly stated in our chat.",
    "It was not mentioned when, only that she moved.",
    "The conversation does not say.",
    "The conversations don't mention what Priya cooked.",
    "The provided context does not contain this information.",
    "The transcript never states it, so the text does not tell.",
    "I don’t know.",
    "I don't know",
    "i dont know",
    "I do not know who painted the fence.",
    "Sorry, I don't remember that.",
    "I don't recall him saying so.",
    "I have no idea.",
    "No idea!",
    "I have no record of a trip to Malta.",
    "I have no information about his cat.",
    "I'm not sure.",
    "I'm not sure which one you mean.",
    "I am unsure about that.",
    "I'm not aware of any such plan.",
    "Cannot Answer this question",
    "I cannot answer that from what I was told.",
    "I can't tell where she bought it.",
    "I'm unable to determine the date.",
    "Unable to determine.",
    "It cannot be determined from the conversation.",
    "That can't be answered.",
    "It's impossible to say.",
    "The answer is unknown.",
    "Unknown, she never told anyone in the chat.",
    "The reason remains unclear.",
    "It is unclear whether they met.",
    "It is not clear from the dialogue.",
    "His age is not known.",
    "Insufficient information.",
    "There is not enough information to answer.",
    "I don't have enough information to say.",
    "There is no mention of a sister.",
    "There's no information regarding the deposit.",
    "There was no indication that they met again.",
    "You did not mention a scooter.",
    "You never told me your shoe size.",
    "You haven't mentioned which dentist you see.",
    "The user did not specify a budget.",
    "She didn't say.",
    "Tariq never mentioned where he grew up.",
    "Lena did not mention it in the conversation.",
    "Mara never specified a date.",
    "Nobody mentioned it.",
    "Nothing was said about that.",
    "None mentioned.",
    "No dog is mentioned in the conversation.",
    "There is nothing like that in our conversation.",
    "Based on the conversation, there is no record of a second interview.",
    "**Not mentioned**",
    "Answer: not specified",
    "Based on the given history, it isn't stated.",
    '"I don\'t have enough information to answer that."',
    "Unfortunately, I could not find any mention of it.",
    "I'm sorry, but I can't help with that.",
    "She talked about the garden a lot. Who planted the pear tree was not mentioned.",
]

ANSWERS = [
    2022,
    0,
    "Paris",
    "No",
    "No.",
    "Yes, in March",
    "7 May 2023",
    "Nina Navarro",
    "Nothing to do with money; she wanted quiet.",
    "The meeting was scheduled for May 7th, 2023.",
    "The unknown painter she likes is called Ana.",
    "Insufficient funds were not the issue; it was the date, 7 May.",
    'They watched the film "Not Mentioned Here".',
    "A novel called “Information Not Found”",
    "I'm not completely sure, but I think she moved in May 2021.",
    "I don't know exactly, but it was probably in the spring of 2019.",
    "It isn't stated outright, but it seems they met in Porto.",
    "The exact day is not given, though most likely it was the last weekend of June.",
    "She moved in May 2021, though the exact day is not mentioned.",
    "In May 2021; the exact date is not mentioned.",
    "Two dogs and a parrot. No further details are given.",
    "She said that she doesn't know how to swim.",
    'He told her "I don\'t know" and left.',
    "Omar admitted he did not know the way.",
    "Melanie didn't mention the trip to her boss.",
    "He cannot answer the phone while driving.",
    "They could not find the keys.",
    "She was unable to find a plumber.",
    "She was not given the part.",
    "He was not available that weekend.",
    "The keys were not found until Sunday.",
    "The pregnancy was not revealed until the party.",
    "His name was not mentioned in the will.",
    "There was no information booth at the station.",
    "An unknown number called her twice.",
    "Her goal is to make unknown composers heard.",
    "He is unknown to the police.",
    "Because nobody told him that the shop had closed",
    "He has no idea how to cook.",
    "Not enough data on her phone plan",
    "She felt insufficiently prepared.",
    "They did not have enough chairs.",
    "Her father never said goodbye.",
    "To find out who the unknown soldier was",
    "A clear answer from the landlord",
    "Sam is not sure about the job and wants to wait.",
    "The recipe is not clear, he complained, and the cake failed.",
    "She is unsure whether to adopt.",
    "None of the guests brought a gift, so Ivo bought one.",
    "They discussed the information desk job.",
    "He lost his memory card in Rome.",
    "She wants to record an album, not a single.",
    "A mention in the local newspaper",
    "It contains no nuts.",
    "He gave no reason and left the band.",
    "The context of the play is the war.",
    "She thinks that he does not know about the party.",
    "Never",
    "Not yet",
    "Don't Look Up",
    "Null Island",
    "Nana",
    "In an unspecified town near Graz",
    "The NA meeting on Tuesdays",
    "They have not decided on a name.",
    "She doesn't drink coffee.",
    "He did not pass the exam.",
]

STILL_WRONG = ["Not enough data on her phone plan", "The recipe is not clear, he complained, and the cake failed."]
"""Real answers that read like refusals to a rule."""

TABLE = [
    *(pytest.param(text, True, id=f"refusal {i}") for i, text in enumerate(REFUSALS)),
    *(pytest.param(text, True, id=f"value {text!r}") for text in VALUES_AS_GIVEN),
    *(pytest.param(text, False, id=f"answer {i}") for i, text in enumerate(ANSWERS)),
]


def test_precision_and_recall_on_the_table(record_property: pytest.RecordProperty) -> None:
    said = [(text, is_unanswerable(text), truth) for text, truth in ((p.values[0], p.values[1]) for p in TABLE)]
    right = sum(found and truth for _, found, truth in said)
    precision = right / sum(found for _, found, _ in said)
    recall = right / sum(bool(truth) for _, _, truth in said)
    record_property("precision", precision)
    record_property("recall", recall)
    print(f"{len(said)} answers: precision {precision:.3f}, recall {recall:.3f}")
    assert [text for text, found, truth in said if found != truth] == STILL_WRONG
    assert precision > 0.97
    assert recall == 1


def test_there_are_enough_of_everything() -> None:
    assert len(PHRASES) >= 14
    assert len(REFUSALS) >= 30
    assert len(ANSWERS) >= 30
    assert {"", "n/a", "na", "none", "null", "unanswerable"} <= VALUES


@pytest.mark.parametrize("name", PHRASES)
def test_every_phrase_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from himga_eval.judge import rules

    kept = [pattern for other, pattern in zip(PHRASES, rules._REFUSALS, strict=True) if other != name]
    monkeypatch.setattr(rules, "_REFUSALS", kept)
    assert not all(is_unanswerable(text) for text in REFUSALS)


def test_only_the_last_paragraph_of_a_long_reasoning_counts() -> None:
    reasoning = "First I look at the sessions. " * 10 + "The date is not mentioned in session two."
    assert not is_unanswerable(f"{reasoning}\n\nSo she moved in May.")
    assert is_unanswerable(f"{reasoning}\n\nSo there is no information about it.")
    assert not is_unanswerable(f"{reasoning} Final answer: Oslo")
