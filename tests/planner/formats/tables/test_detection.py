"""A file's format is detected, and unused formats cost no time."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import subprocess
import sys
import zipfile
from typing import Any

import pytest

from planner.formats import FORMATS, read_problem
from tests.planner.formats.reading import refusal

MEMPLAN = {"format": "memplan/1", "buffers": [{"id": "a", "size": 4}]}
USMP = {"buffers": [{"name_hint": "a", "size_bytes": 4}]}
CSV = b"id,lower,upper,size\na,0,1,4\n"


@pytest.mark.parametrize("name", [None, "x.json", "x", "x.txt", "-"])
@pytest.mark.parametrize("data", [json.dumps(MEMPLAN).encode(), b"\n\t " + json.dumps(USMP).encode(), CSV])
def test_the_content_decides_the_format(data: bytes, name: str | None) -> None:
    problem, _ = read_problem(data, name=name)
    assert [(b.id, b.size) for b in problem.buffers] == [("a", 4)]


@pytest.mark.parametrize(
    ("data", "format"),
    [(json.dumps(MEMPLAN).encode(), "memplan"), (json.dumps(USMP).encode(), "usmp"), (CSV, "minimalloc")],
)
def test_the_format_can_be_named(data: bytes, format: Any) -> None:  # noqa: A002 - the word that users know
    assert read_problem(data, format=format)[0].buffers[0].id == "a"


@pytest.mark.parametrize(
    ("data", "options", "code"),
    [
        (json.dumps(MEMPLAN).encode(), {"format": "usmp"}, "missing_field"),
        (json.dumps(MEMPLAN).encode(), {"format": "dsa"}, "missing_field"),
        (json.dumps(USMP).encode(), {"format": "memplan"}, "unknown_format"),
        (json.dumps(MEMPLAN).encode(), {"name": "x.csv"}, "unknown_format"),
        (b"hello", {}, "unknown_format"),
        (b"hello", {"name": "x.json"}, "invalid_json"),
        (b"hello", {"name": "x.txt"}, "unknown_format"),
        (b"", {}, "unknown_format"),
        (b"\x80\x04\x95", {"name": "x.pickle"}, "unknown_format"),
        (b"hello", {"name": "x.log"}, "unknown_format"),
        (b"hello", {"name": "x.tflite"}, "out_of_range"),
        (b"a,b,c\n1,2,3\n", {}, "unknown_format"),
        (b"id,lower,size\n1,2,3\n", {"name": "x.csv"}, "missing_field"),
        (b'{"a": 1}', {}, "unknown_format"),
    ],
)
def test_a_wrong_guess_is_an_error(data: bytes, options: dict[str, Any], code: str) -> None:
    assert refusal(data, **options).findings[0].code == code


def test_content_of_another_format_than_the_ending_says_is_named() -> None:
    for name, ending, title in (
        ("tflite", "onnx", "ONNX models"),
        ("memplan", "npz", "columns"),
        ("onnx", "pte", "Ex"),
    ):
        [finding] = refusal(FORMATS[name].document, name=f"x.{ending}").findings
        assert finding.message.startswith("the ending says ")
        assert title in finding.message
        assert f"--format {name}" in finding.message
    assert refusal(b"PK", name="x.onnx").findings[0].code == "missing_field"


def test_formats_and_validation_are_loaded_only_when_needed() -> None:
    script = (
        "import sys, planner.formats as f\n"
        "assert 'pydantic' not in sys.modules\n"
        f"f.read_problem({CSV!r})\n"
        "assert 'pydantic' not in sys.modules\n"
        f"f.read_problem({json.dumps(MEMPLAN).encode()!r})\n"
        "assert 'pydantic' in sys.modules\n"
        "assert 'planner.formats.planners.dsa' not in sys.modules and 'planner.formats.planners.usmp' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_a_file_of_no_known_format_is_told_which_there_are() -> None:
    message = refusal(b"hello").findings[0].message
    assert message == f"the format is not recognised: the content is none of {', '.join(FORMATS)}"
    assert refusal(b"hello", name="x.log").findings[0].message.endswith("is none of tflm-log, vela-log")


def zipped(data: bytes) -> bytes:
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        archive.writestr("problem.json", data)
    return file.getvalue()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(("text", "name"), [(json.dumps(MEMPLAN), "x.json"), (CSV.decode(), "x.csv")])
def test_text_in_utf_16_is_named_where_the_ending_says_the_format(text: str, name: str, encoding: str) -> None:
    message = refusal(("\ufeff" + text).encode(encoding), name=name).findings[0].message
    assert message == "is text in UTF-16: save it as UTF-8, as by `iconv -f UTF-16 -t UTF-8`"


@pytest.mark.parametrize("name", [None, "x", "x.gz", "-"])
@pytest.mark.parametrize(
    ("data", "what"),
    [
        (gzip.compress(CSV), "compressed by gzip"),
        (bz2.compress(CSV), "compressed by bzip2"),
        (lzma.compress(CSV), "compressed by xz"),
        (zipped(CSV), "a zip archive"),
        (json.dumps(MEMPLAN).encode("utf-16"), "text in UTF-16"),
        (json.dumps(MEMPLAN).encode("utf-16-le"), "text in UTF-16"),
        (json.dumps(MEMPLAN).encode("utf-16-be"), "text in UTF-16"),
        (CSV.decode().encode("utf-16-le"), "text in UTF-16"),
        *((pickle.dumps({"segments": []}, protocol), "a pickle") for protocol in range(2, 6)),
    ],
)
def test_what_a_file_is_packed_in_is_named(data: bytes, what: str, name: str | None) -> None:
    message = refusal(data, name=name).findings[0].message
    assert message.startswith(f"the content is {what}")
    assert ": " in message
