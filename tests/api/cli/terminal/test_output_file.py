"""Output files are checked early and written whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
import typer

from api.cli.terminal.output_file import OutputFile
from planner.model.errors import BadInput


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    target = tmp_path / "plan.json"
    output = OutputFile(str(target))
    output.check()
    assert list(tmp_path.iterdir()) == []
    output.write(b"{}")
    assert target.read_bytes() == b"{}"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask
    assert list(tmp_path.iterdir()) == [target]


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "plan.json"
    target.write_bytes(b"old and longer than the new one")
    target.chmod(0o640)
    OutputFile(str(target)).write(b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "plan.json"
    target.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="no space left"):
        OutputFile(str(target)).write(b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_names_that_no_file_can_have_are_refused_by_the_check(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(link)
    for name in (link, tmp_path / ("n" * 300 + ".json")):
        with pytest.raises(BadInput, match="cannot write"):
            OutputFile(str(name)).check()


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    link, target = tmp_path / "link.json", tmp_path / "plan.json"
    link.symlink_to(target)
    OutputFile(str(link)).write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_unwritable_outputs_are_refused(tmp_path: Path) -> None:
    problem = tmp_path / "problem.json"
    problem.write_bytes(b"{}")
    with pytest.raises(BadInput, match="directory"):
        OutputFile(str(tmp_path)).check()
    with pytest.raises(BadInput, match="no folder"):
        OutputFile(str(tmp_path / "absent" / "plan.json")).check()
    with pytest.raises(BadInput, match="it is the input"):
        OutputFile(str(tmp_path / "." / "problem.json")).check(str(problem))
    assert problem.read_bytes() == b"{}"


def test_a_device_is_written_to_and_stays_a_device() -> None:
    output = OutputFile(os.devnull)
    output.check()
    output.write(b"{}")
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize("link", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_a_pipe_is_written_to_where_its_name_is_a_link_to_it(link: str) -> None:
    ours, theirs = os.pipe()
    output = OutputFile(link.format(theirs))
    output.check("problem.json")
    output.write(b"{}")
    os.close(theirs)
    assert os.read(ours, 9) == b"{}"
    os.close(ours)


def test_a_pipe_whose_reader_left_ends_the_command() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with pytest.raises(typer.Exit) as caught:
        OutputFile(f"/dev/fd/{theirs}").write(b"{}")
    os.close(theirs)
    assert caught.value.exit_code == 141


def test_an_unwritable_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write everywhere, so the refusal of the system is simulated.
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(BadInput, match="permission denied"):
        OutputFile(str(tmp_path / "plan.json")).check()
