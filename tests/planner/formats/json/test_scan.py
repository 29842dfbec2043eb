"""JSON that a validation library would let through or choke on is refused, with the place."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.app import COMMANDS
from planner.checks.report import Report
from planner.formats.documents import ANSWERS, require_format
from planner.formats.json.exact_scan import exact_scan, unescape
from planner.formats.json.pieces import MAX_DEPTH
from planner.formats.json.scan import members, scan
from planner.model.errors import BadInput, Code
from tests.small.strategies import effort


def faults(data: bytes) -> list[tuple[Code, str]]:
    with pytest.raises(BadInput) as caught:
        scan(data)
    return [(finding.code, finding.pointer) for finding in caught.value.findings]


@pytest.mark.parametrize(
    ("data", "code", "pointer"),
    [
        (b'{"a": 1, "a": 2}', Code.DUPLICATE_KEY, "/a"),
        (b'{"a": {"b~/": [1, {"c": 1, "c": 2}]}}', Code.DUPLICATE_KEY, "/a/b~0~1/1/c"),
        (b'{"\\u0061": 1, "a": 2}', Code.DUPLICATE_KEY, "/a"),
        (b'{"a": NaN}', Code.NOT_FINITE, "/a"),
        (b"[1, Infinity]", Code.NOT_FINITE, "/1"),
        (b"[-Infinity]", Code.NOT_FINITE, "/0"),
        (b"[1e999]", Code.NOT_FINITE, "/0"),
        (b"[-1.5e400]", Code.NOT_FINITE, "/0"),
        (b"[0, 123456789012345678901]", Code.INTEGER_TOO_LONG, "/1"),
        (b"[-123456789012345678901]", Code.INTEGER_TOO_LONG, "/0"),
        (b"[" + b"9" * 5000 + b"]", Code.INTEGER_TOO_LONG, "/0"),
        (b'["\\ud800"]', Code.INVALID_JSON, "/0"),
        (b'["\\udc00\\ud800"]', Code.INVALID_JSON, "/0"),
        (b'{"\\udc00": 1}', Code.INVALID_JSON, "/\\udc00"),
        (b'{"a": ["x\xff"]}', Code.INVALID_JSON, "/a/0"),
        (b'["\xed\xa0\x80"]', Code.INVALID_JSON, "/0"),
        (b"\xef\xbb\xbf{}", Code.INVALID_JSON, ""),
        ("{}".encode("utf-16"), Code.INVALID_JSON, ""),
        (b"", Code.INVALID_JSON, ""),
        (b"  ", Code.INVALID_JSON, ""),
        (b"{} x", Code.INVALID_JSON, ""),
        (b"{}{}", Code.INVALID_JSON, ""),
        (b"[1, ]", Code.INVALID_JSON, "/1"),
        (b'{"a": 1,}', Code.INVALID_JSON, ""),
        (b'{"a" 1}', Code.INVALID_JSON, "/a"),
        (b"{a: 1}", Code.INVALID_JSON, ""),
        (b"[1 2]", Code.INVALID_JSON, "/0"),
        (b"[01]", Code.INVALID_JSON, "/0"),
        (b"[+1]", Code.INVALID_JSON, "/0"),
        (b"[.5]", Code.INVALID_JSON, "/0"),
        (b"[1.]", Code.INVALID_JSON, "/0"),
        (b"[tru]", Code.INVALID_JSON, "/0"),
        (b"['a']", Code.INVALID_JSON, "/0"),
        (b'["a\tb"]', Code.INVALID_JSON, "/0"),
        (b'["\\x41"]', Code.INVALID_JSON, "/0"),
        (b'["abc', Code.INVALID_JSON, "/0"),
        (b'{"a": [1', Code.INVALID_JSON, "/a/0"),
        (b"\x00", Code.INVALID_JSON, ""),
    ],
)
def test_faults_are_found_with_their_place(data: bytes, code: Code, pointer: str) -> None:
    assert faults(data) == [(code, pointer)]


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b' [1, -2, 3.5, 1e3, true, false, null, "x"] ',
        b"[" * MAX_DEPTH + b"]" * MAX_DEPTH,
        b'["' + b"[" * 1000 + b'"]',
        b'["\\"' + b"[" * 1000 + b'"]',
        b'["\\\\", "' + b"[" * 1000 + b'"]',
        b'["\\ud83d\\ude00", "\\\\ud800", "\xf0\x9f\x98\x80"]',
        b"[12345678901234567890, -12345678901234567890]",
        b"[123456789012345678901234567890.5]",
        b'["123456789012345678901234567890"]',
        b'{"a": {"a": 1}, "b": {"a": 1}}',
    ],
)
def test_sound_json_passes(data: bytes) -> None:
    scan(data)
    report = Report()
    assert exact_scan(data.decode(), report) == ((), True)
    assert not report


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":', b"[[1],"])
def test_depth_bombs_are_refused_without_recursion(opening: bytes) -> None:
    [(code, pointer)] = faults(opening * 1_000_000)
    assert code is Code.TOO_DEEP
    assert pointer.count("/") == MAX_DEPTH


def test_one_bracket_beyond_the_depth_limit_is_refused() -> None:
    assert faults(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))[0][0] is Code.TOO_DEEP


def test_closing_brackets_in_strings_hide_no_depth() -> None:
    bomb = b'["]]]]]]]]]]",' * 70 + b"1" + b"]" * 70
    assert faults(bomb)[0][0] is Code.TOO_DEEP


def test_faults_before_deep_nesting_are_named_too() -> None:
    assert [code for code, _ in faults(b'[{"a": 1, "a": 2}, ' + b"[" * 100)] == [Code.DUPLICATE_KEY, Code.TOO_DEEP]


def test_many_faults_are_counted() -> None:
    with pytest.raises(BadInput) as caught:
        scan(b"{" + b",".join([b'"a": 1'] * 1001) + b"}")
    assert (len(caught.value.findings), caught.value.more) == (20, 980)


def test_a_long_key_is_not_repeated_in_full() -> None:
    key = b'"' + b"k" * 100_000 + b'"'
    with pytest.raises(BadInput) as caught:
        scan(b"{" + key + b": 1, " + key + b": 2}")
    [finding] = caught.value.findings
    assert len(finding.pointer) <= 200
    assert len(finding.message) <= 200


def test_control_characters_in_keys_are_escaped() -> None:
    assert faults(b'{"\\u001b[2J": 1, "\\u001b[2J": 2}') == [(Code.DUPLICATE_KEY, "/\\x1b[2J")]


def test_the_top_fields_of_a_document_are_returned() -> None:
    assert scan(b'{"a": {"b": 1}, "format": "x"}').top is not None
    assert (scan(b'{"a": {"format": "y"}, "format": "x"}').top or {})["format"] == "x"
    assert scan(b'[{"format": "y"}]').top is None


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**19), 10**19)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@effort(40, 2000)
@given(VALUES, st.booleans())
def test_any_output_of_json_dumps_passes_both_scans(value: object, plain: bool) -> None:
    text = json.dumps(value, ensure_ascii=plain)
    scan(text.encode("utf-8"))
    report = Report()
    assert exact_scan(text, report) == ((), True)
    assert not report


@effort(40, 2000)
@given(VALUES, st.data())
def test_a_broken_document_is_refused_by_the_exact_scan_exactly_if_by_json(value: object, data: st.DataObject) -> None:
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    broken = (
        text[:at] + data.draw(st.sampled_from(["", ",", "]", "}", '"', "\\", "1", " ", ":", "\x01"])) + text[at + 1 :]
    )
    report = Report()
    exact_scan(broken, report)
    try:
        json.loads(broken)
    except ValueError:
        assert Code.INVALID_JSON in [finding.code for finding in report.listed]
    else:
        assert all(finding.code is not Code.INVALID_JSON or "surrogate" in finding.message for finding in report.listed)


@effort(40, 2000)
@given(st.text())
def test_unescaping_agrees_with_json(text: str) -> None:
    assert unescape(json.dumps(text)[1:-1]) == text


@effort(40, 2000)
@given(st.dictionaries(st.text(), VALUES, max_size=5), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_values_of_a_document_are_returned_unchanged(
    document: dict[str, object], indent: int | str | None, plain: bool
) -> None:
    found = members(f" {json.dumps(document, indent=indent, ensure_ascii=plain)}\n".encode())
    assert {key: json.loads(value) for key, value in found.items()} == document


@pytest.mark.parametrize(("answer", "advice"), ANSWERS.items())
def test_a_refused_answer_names_the_command_that_takes_it(answer: str, advice: str) -> None:
    with pytest.raises(BadInput) as caught:
        require_format(scan(json.dumps({"format": answer}).encode()), "memplan/1", "a problem")
    assert advice in str(caught.value)
    assert set(re.findall(r"'memplan ([a-z]+)'", advice)) <= COMMANDS.keys()


def test_a_refusal_of_other_formats_names_no_command() -> None:
    for other in ("memplan/2", 7, ["memplan-plan/1"]):
        with pytest.raises(BadInput) as caught:
            require_format(scan(json.dumps({"format": other}).encode()), "memplan/1", "a problem")
        assert "takes" not in str(caught.value)
