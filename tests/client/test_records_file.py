"""Files of records: several columns or none, what is missing in them, and what is refused without being shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.client.records_file import OwnRecords, read_records
from dame.device.statistics import Indicator, Present, Square, Statistic, Value
from dame.errors import BadRecords, InvalidInput

MINUTES = Value(column="minutes", low=0, high=60)
NAMELESS = Value(low=0, high=60)
RED = Indicator(column="colour", relation="is", than="red")
SECRET = "8.7654321"


def written(folder: Path, text: str, name: str = "my.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


# --- what is read


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("my.csv", "minutes,colour\n12,red\n,blue\n30.5,\n"),
        ("my.csv", "\ufeffminutes,colour\r\n 12 , red\r\n , blue\r\n3.05e1\r\n\r\n"),
        ("my.txt", '"minutes","colour"\n"12","red"\n"","blue"\n"+30.50",""\n'),
        ("my.csv", "minutes,colour,\n12,red,\n,blue,,\n30.5,,\n"),
        ("my.json", '[{"minutes": 12, "colour": "red"}, {"colour": "blue"}, {"minutes": 30.5, "colour": null}]'),
        ("MY.JSON", '[{"minutes": 12.0, "colour": "red"}, {"minutes": null, "colour": "blue"}, {"minutes": 30.5}]'),
    ],
)
def test_files_of_several_columns_become_records_by_name(tmp_path, name, text):
    own = read_records(written(tmp_path, text, name))
    assert own.records == ({"minutes": 12, "colour": "red"}, {"colour": "blue"}, {"minutes": 30.5})
    assert own.columns[:2] == ("minutes", "colour")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("my.csv", "7\n8.5\n\n9\n"),
        ("my.csv", " 7\r\n8.5 \r\n9"),
        ("my.json", "[7, 8.5, 9]"),
        ("my.txt", '"7"\n8.5\n9\n'),
    ],
)
def test_bare_numbers_have_no_columns(tmp_path, name, text):
    own = read_records(written(tmp_path, text, name))
    assert own.records == (7, 8.5, 9)
    assert own.columns == ()
    for statistic in (MINUTES, NAMELESS, Square(column="any", high=60)):
        assert statistic.summarise(own.by(statistic)).size == 3


@pytest.mark.parametrize(("name", "text"), [("my.csv", ""), ("my.csv", "\n\n"), ("my.json", "[]"), ("my.csv", "a,b\n")])
def test_a_file_without_records_is_read(tmp_path, name, text):
    own = read_records(written(tmp_path, text, name))
    assert own.records == ()
    assert "no" in own.missing(MINUTES)


def test_cells_that_are_numbers_to_nobody_else_stay_texts(tmp_path):
    own = read_records(written(tmp_path, "minutes\n1_000\nnan\ninf\n0x10\n1e999\n٣\n-0\n007\n"))
    assert [record["minutes"] for record in own.records] == ["1_000", "nan", "inf", "0x10", "1e999", "٣", 0.0, 7.0]


def test_a_header_of_one_number_is_a_header_where_it_is_named(tmp_path):
    path = written(tmp_path, "2019\n7\n8\n")
    assert read_records(path).records == (2019.0, 7.0, 8.0)
    assert read_records(path, "2019").records == ({"2019": 7.0}, {"2019": 8.0})


def test_line_breaks_and_odd_separators_inside_cells_stay_there(tmp_path):
    own = read_records(written(tmp_path, 'note,minutes\n"two\nlines",7\n"a\u2028b\x0bc",8\n'))
    assert [record["note"] for record in own.records] == ["two\nlines", "a\u2028b\x0bc"]


@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.booleans()), max_size=8))
def test_numbers_come_back_as_they_were_written(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("own") / "my.csv"
    path.write_text("minutes,x\n" + "".join(f"{value!r},{'y' if more else ''}\n" for value, more in cells))
    assert [record["minutes"] for record in read_records(path).records] == [value for value, _ in cells]


# --- which column


def test_the_column_of_the_statistic_is_used(tmp_path):
    own = read_records(written(tmp_path, "minutes,colour,hours\n12,red,1\n,red,2\n30,blue,\n"))
    assert MINUTES.summarise(own.by(MINUTES)) == MINUTES.summarise([12, 30])
    assert RED.summarise(own.by(RED)) == RED.summarise(["red", "red", "blue"])
    assert (own.left_out(MINUTES), own.left_out(RED), own.missing(MINUTES)) == (1, 0, "")


def test_where_the_study_names_no_column_the_person_does(tmp_path):
    path = written(tmp_path, "minutes,hours\n12,1\n,2\n30,\n")
    assert read_records(path, "hours").by(NAMELESS) == [1, 2]
    assert read_records(path, "hours").left_out(NAMELESS) == 1
    with pytest.raises(InvalidInput, match=r"^value column must be one of minutes, hours: the study names none"):
        read_records(path).by(NAMELESS)
    assert read_records(written(tmp_path, "any\n12\n30\n")).by(NAMELESS) == [12, 30]


def test_a_column_that_the_person_named_does_not_stand_for_that_of_the_study(tmp_path):
    own = read_records(written(tmp_path, "hours\n12\n30\n"), "hours")
    assert MINUTES.summarise(own.by(MINUTES)) == MINUTES.summarise([])
    assert own.missing(MINUTES) == "your file has no column 'minutes': it has hours"


def test_records_with_and_without_names_in_one_file(tmp_path):
    own = read_records(written(tmp_path, '[7, {"minutes": 8}, {"hours": 1}]', "my.json"), "minutes")
    assert own.by(NAMELESS) == [7, 8]
    assert MINUTES.summarise(own.by(MINUTES)).size == 2
    assert own.left_out(MINUTES) == own.left_out(NAMELESS) == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hours,colour\n1,red\n", "your file has no column 'minutes': it has hours, colour"),
        ("minutes,colour\n,red\n ,blue\n", "your file has nothing in column 'minutes'"),
        ("minutes\n", "your file has nothing in column 'minutes'"),
        ("", "your file has no records"),
        ("minutes\n3\n", ""),
    ],
)
@pytest.mark.parametrize("statistic", [MINUTES, Square(column="minutes"), Present(column="minutes")])
def test_what_is_missing_is_told_and_is_no_reason_to_refuse(tmp_path, text, sentence, statistic: Statistic):
    own = read_records(written(tmp_path, text))
    own.check(statistic)
    assert own.missing(statistic) == sentence
    assert statistic.summarise(own.by(statistic)).size == 1


# --- what is refused


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("my.csv", f"minutes,minutes\n{SECRET},2\n", "columns have different names"),
        ("my.csv", f"minutes,hours\n1,2\n1,{SECRET},3\n", "record 2 is"),
        ("my.csv", f'minutes\n"{SECRET}\n', "CSV file"),
        ("my.json", f'{{"minutes": {SECRET}}}', "JSON list"),
        ("my.json", f"[{SECRET}", "JSON list"),
        ("my.json", f"[{SECRET}, NaN]", "JSON list"),
        ("my.json", f"[{SECRET}, -Infinity]", "JSON list"),
        ("my.json", "[" * 100_000, "JSON list"),
        ("my.json", "", "JSON list"),
        ("my.json", SECRET, "JSON list"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence_without_records(tmp_path, name, text, word):
    with pytest.raises(InvalidInput, match=word) as refused:
        read_records(written(tmp_path, text, name))
    assert refused.value.field == "data"
    assert SECRET not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("my.csv", f"7\n{SECRET}x\n", 2),
        ("my.csv", f"7\n8,{SECRET}\n", 2),
        ("my.json", f"[7, [{SECRET}]]", 2),
        ("my.json", "[7, 8, null]", 3),
        ("my.json", f'[{{"a": {{"b": {SECRET}}}}}]', 1),
        ("my.json", f'[{{}}, {{"a": [{SECRET}]}}]', 2),
    ],
)
def test_a_record_that_is_none_is_named_by_its_place(tmp_path, name, text, place):
    with pytest.raises(BadRecords, match=f"^record number {place} must be a") as refused:
        read_records(written(tmp_path, text, name))
    assert SECRET not in str(refused.value)


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path):
    (tmp_path / "my.csv").write_bytes(b"minutes\n\xff\xfe\n")
    with pytest.raises(InvalidInput, match="UTF-8"):
        read_records(tmp_path / "my.csv")
    with pytest.raises(OSError, match=r"absent\.csv"):
        read_records(tmp_path / "absent.csv")


def test_a_column_that_the_person_named_and_the_file_lacks_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"^value column must be one of a, b, not 'minutes'$"):
        read_records(written(tmp_path, "a,b\n1,2\n"), "minutes")


@pytest.mark.parametrize(
    "statistic", [MINUTES, Square(column="minutes"), Indicator(column="minutes", relation="above", than="5")]
)
def test_texts_in_the_place_of_numbers_are_found_by_the_check(tmp_path, statistic):
    own = read_records(written(tmp_path, f"minutes,colour\n7,red\n{SECRET}x,blue\n"))
    with pytest.raises(BadRecords, match=r"^record number 2 must be a finite number$"):
        own.check(statistic)
    own.check(RED)


def test_a_record_is_named_by_its_place_in_the_file_also_where_others_are_missing(tmp_path):
    own = read_records(written(tmp_path, "minutes,hours\n7,\n,1\nseven,2\n"), "minutes")
    for statistic in (MINUTES, NAMELESS):
        with pytest.raises(BadRecords, match=r"^record number 3 must be a finite number$"):
            own.check(statistic)


def test_own_records_show_nothing(tmp_path):
    own = read_records(written(tmp_path, f"minutes,colour\n{SECRET},red\n"))
    assert repr(own) == "OwnRecords(columns=('minutes', 'colour'), value='')"
    assert isinstance(own, OwnRecords)
