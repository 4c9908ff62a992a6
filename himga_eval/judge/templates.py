"""The prompts of the modes: read from files, and filled in so that what is judged stays data."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from himga_eval.errors import InputError
from himga_eval.judge.modes import MODES, Mode
from himga_eval.judge.verdicts import instruction, json_schema
from himga_eval.llm.base import Messages, encodable

BUILT_IN = Path(__file__).parent / "prompts"

_SLOT = re.compile(r"\{(question|ground_truth|prediction|fence)\}")
_RULE = re.compile(r"^---\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Prompt:
    """A mode's prompt. `system` is the same for all answers; `user` holds the slots."""

    mode: Mode
    system: str
    user: str
    source: str

    @cached_property
    def hash(self) -> str:
        """Name everything that the judge is told besides the answer itself."""
        return digest(self.system, self.user, instruction(self.mode.scale), json_schema(self.mode.scale))[:16]

    def fill(self, question: str, ground_truth: str, prediction: str) -> Messages:
        """Put one answer in its slots, in a single pass: braces in the texts mean nothing.

        The slot {fence} becomes a word that none of the texts has, so that no text can close its block.
        """
        given = {"question": question, "ground_truth": ground_truth, "prediction": prediction}
        texts = {name: encodable(text) for name, text in given.items()}
        texts["fence"] = _fence(*texts.values())
        user = _SLOT.sub(lambda slot: texts[slot[1]], self.user)
        messages = [{"role": "user", "content": f"{user}\n\n{instruction(self.mode.scale)}"}]
        return [{"role": "system", "content": self.system}, *messages] if self.system else messages


def read_prompt(mode: Mode, folder: Path | None = None) -> Prompt:
    """Read a mode's prompt: `<mode>.md` of the folder where it has one, else the built-in.

    A line of three dashes parts the rules (the system prompt; may be left out) from the message with the slots
    {question}, {ground_truth}, {prediction} and {fence}.

    Raises:
        InputError: there is no such folder or file, or it has no slot for the prediction.
    """
    if folder is not None and not folder.is_dir():
        raise InputError(f"no folder {folder}, where the prompts should be")
    if folder is not None and not any((folder / f"{name}.md").is_file() for name in MODES):
        raise InputError(f"{folder} has no prompt: files named after modes are looked for, like {mode.name}.md")
    path = next((p / f"{mode.name}.md" for p in (folder, BUILT_IN) if p and (p / f"{mode.name}.md").is_file()), None)
    if path is None:
        raise InputError(f"mode {mode.name!r} has no prompt; put {mode.name}.md in a folder and give it as prompts=")
    *rules, user = (part.strip() for part in _RULE.split(path.read_text(encoding="utf-8"), maxsplit=1))
    if "{prediction}" not in user:
        raise InputError(f"{path} has no slot {{prediction}}: the judge would not see the answer")
    return Prompt(mode, "".join(rules), user, "built-in" if path.parent == BUILT_IN else str(path))


def digest(*parts: str) -> str:
    """Hash texts as 32 hex digits, so that no two lists of texts collide by how they are joined."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _fence(*texts: str) -> str:
    word = digest(*texts)[:8]
    while any(word in text for text in texts):
        word = digest(word)[:8]
    return word
