"""Reading YAML: what it means, where it stands, and what is refused."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multiarm.scenario.document import MOST_BYTES, MOST_DEPTH, MOST_VALUES, read_document, spell
from multiarm.scenario.errors import ScenarioError


def refused(text):
    with pytest.raises(ScenarioError) as caught:
        read_document(text, "file.yaml")
    return caught.value


@pytest.mark.parametrize(
    "text, value",
    [
        ("1e-3", 1e-3),  # YAML 1.1, and so PyYAML's own loader, would read text
        ("-2.5E+3", -2500.0),
        (".5", 0.5),
        ("12", 12),
        ("0x1F", 31),
        ("0o17", 15),
        ("017", 17),
        ("on", "on"),  # YAML 1.1 would read true
        ("no", "no"),
        ("true", True),
        ("null", None),
        ("~", None),
        ("'12'", "12"),
        ('"true"', "true"),
        ("1_000", "1_000"),
        ("12:30:45", "12:30:45"),
        ("2001-12-14", "2001-12-14"),
        (".inf", math.inf),
        ("-.inf", -math.inf),
        ("9" * 500, "9" * 500),
    ],
)
def test_scalars_follow_yaml_1_2(text, value):
    found = read_document(f"key: {text}", "f").data["key"]
    assert found == value
    assert type(found) is type(value)


def test_every_value_and_key_has_its_line_and_column():
    document = read_document("a:\n  b: [1, 22,\n      {c: x}]\nd:\n", "f")
    assert document.place(("a", "b", 1)) == (2, 10)
    assert document.place(("a", "b", 2, "c")) == (3, 11)
    assert document.place(("a", "b", 2, "c"), of_key=True) == (3, 8)
    assert document.place(("a", "b", 7, "nothing")) == (2, 6)
    assert spell(("a", "b", 2, "c")) == "a.b[2].c"


def test_a_key_given_twice_is_refused_with_both_lines():
    error = refused("arms:\n  left: {robot: panda}\n  right: {robot: panda}\n  left: {robot: ur5}\n")
    (problem,) = error.problems
    assert (problem.line, problem.column, problem.where) == (4, 3, "arms.left")
    assert "line 2" in problem.message


def test_all_repeated_keys_are_listed_in_file_order():
    assert [problem.line for problem in refused("a: 1\nb: 1\nb: 2\na: 2\n").problems] == [3, 4]


@pytest.mark.parametrize(
    "text, words",
    [
        ("a: !!python/object/apply:os.system [ls]", "tags"),
        ("a: !custom 1", "tags"),
        ("!!map {a: 1}", "tags"),
        ("a: &x {b: 1}\nc: {<<: *x}", "merge"),
        ("a: *x", "names nothing"),
        ("a: &x [*x]", "inside what it names"),
        ("? [1, 2]\n: 3", "key must be text"),
        ("a: &x b\n*x : 2", "alias"),
        ("a: 1\n---\nb: 2", "second document"),
        ("", "empty"),
        ("# only a comment\n", "empty"),
        ("a: [1, 2", "not YAML"),
        ("a: b: c", "not YAML"),
        ("a: \t- b", "not YAML"),
        ("a: '\\x'\nb: \"\\q\"", "not YAML"),
        ("a: \x00", "character"),
        (b"a: \xff\xfe", "UTF-8"),
        ("%YAML 9.9\n---\na: 1", "not YAML"),
    ],
)
def test_refuses_code_ambiguity_and_broken_text_with_a_place(text, words):
    error = refused(text)
    assert words in str(error)
    assert error.line >= 1
    assert str(error).startswith("file.yaml:")


def test_an_alias_bomb_stays_small():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert str(MOST_VALUES) in str(refused("\n".join(lines)))


def test_deep_and_large_files_are_refused_without_recursion():
    assert str(MOST_DEPTH) in str(refused("[" * 100_000))
    assert str(MOST_DEPTH) in str(refused("\n".join(" " * i + "a:" for i in range(500))))
    assert str(MOST_BYTES) in str(refused("#" * (MOST_BYTES + 1)))


def test_aliases_repeat_what_their_anchor_names():
    document = read_document("a: &x {b: [1, 2]}\nc: *x\n", "f")
    assert document.data["c"] == {"b": [1, 2]}
    assert document.place(("c", "b", 0)) == (2, 4)


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_is_data_or_an_error_with_a_place(text):
    try:
        document = read_document(text, "f")
    except ScenarioError as error:
        assert error.line >= 1
    else:
        assert document.data is not None or text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=10),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=4),
        max_leaves=20,
    )
)  # fmt: skip
def test_json_reads_back_as_what_it_says(value):
    import json

    assert read_document(json.dumps({"key": value}), "f").data == {"key": value}
