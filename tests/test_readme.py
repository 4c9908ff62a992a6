"""Every command and code block of the README runs, in a folder that holds data/ and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from himga_eval.settings import read_settings

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```(console|python|toml)\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
COMMANDS = "\n".join(text for kind, text in BLOCKS if kind == "console")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "data", folder / "data")
    return folder


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """The environment of a user with a key; the server is one of our own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = [sys.executable, str(ROOT / "tests" / "llm" / "fake_server.py"), str(port), "0"]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HIMGA_")}
        bin_folder = str(Path(sys.executable).parent)
        yield kept | {
            "PATH": bin_folder + os.pathsep + kept["PATH"],
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "sk-ant-test",
        }
        process.kill()


def test_there_are_blocks() -> None:
    assert len(BLOCKS) >= 6


def test_settings(tmp_path: Path) -> None:
    (text,) = [text for kind, text in BLOCKS if kind == "toml"]
    (tmp_path / "settings.toml").write_text(text, "utf-8")
    found = read_settings(tmp_path / "settings.toml")
    assert found
    for variable in found:
        assert f"# {variable}" in text


@pytest.mark.slow
def test_commands(folder: Path, environment: dict[str, str]) -> None:
    for line in COMMANDS.splitlines():
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, f"{line}\n{done.stderr}"


def test_code(folder: Path, environment: dict[str, str]) -> None:
    code = "\n".join(text for kind, text in BLOCKS if kind == "python")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_exist(target: str) -> None:
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
