import hashlib
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import ConfigError, DataError
from ragstone.samples import fit, scan
from ragstone.types import Citation, Context, Sample

NEEDS = {
    "faithfulness": ("answer", "contexts"),
    "answer_relevancy": ("question", "answer"),
    "context_recall": ("contexts", "reference"),
}


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def lines(*rows):
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def problems(source, lang="en", **options):
    with pytest.raises(DataError) as caught:
        scan(source, lang=lang, **options)
    return caught.value.problems


def test_a_file_of_every_column(tmp_path):
    row = {
        "id": 7,
        "question": "年假几天？",
        "answer": "10天。",
        "contexts": ["a", {"text": "b", "id": "c2", "score": 0.5, "source": "手册"}],
        "reference": "10天",
        "reference_points": ["10天"],
        "reference_alternatives": ["十天"],
        "reference_contexts": ["年假"],
        "context_ids": [1, "2"],
        "reference_context_ids": ["1"],
        "context_scores": [0.5, None],
        "context_sources": [None, "手册"],
        "expected_behavior": "clarify",
        "history": [{"role": "user", "content": "hi"}],
        "answer_raw": "10天[1]。",
        "citations": [{"at": 3, "context": 1}],
        "latency_s": 1,
        "usage": {"total_tokens": 3},
        "meta": {"team": "hr"},
        "category": "leave",
    }
    (sample,) = scan(write(tmp_path, "a.jsonl", lines(row)), lang="en")
    assert sample == Sample(
        id="7",
        question="年假几天？",
        answer="10天。",
        contexts=(Context(text="a"), Context(text="b", id="c2", score=0.5, source="手册")),
        reference="10天",
        reference_points=("10天",),
        reference_alternatives=("十天",),
        reference_contexts=("年假",),
        context_ids=("1", "2"),
        reference_context_ids=("1",),
        context_scores=(0.5, None),
        context_sources=(None, "手册"),
        expected_behavior="clarify",
        history=({"role": "user", "content": "hi"},),
        answer_raw="10天[1]。",
        citations=(Citation(at=3, context=1),),
        latency_s=1.0,
        usage={"total_tokens": 3},
        language="zh",
        meta={"category": "leave", "team": "hr"},
    )


def test_ragas_columns_in_a_csv_with_every_kind_of_contexts_cell(tmp_path):
    table = 'user_input,response,retrieved_contexts,reference\nq1,a1,"[""a"",""b""]",r\nq2,a2,plain text,r\nq3,a3,,r\n'
    source = scan(write(tmp_path, "a.csv", table), lang="en")
    assert [None if s.contexts is None else [c.text for c in s.contexts] for s in source] == [["a", "b"], ["plain text"], None]
    assert next((s.question, s.answer, s.reference) for s in source) == ("q1", "a1", "r")
    assert source.columns == {"question", "answer", "contexts", "reference"}
    assert source.missing == {"question": 0, "answer": 0, "contexts": 1, "reference": 0, "reference_contexts": 3}
    assert source.notices == (
        "columns read under other names: user_input → question, response → answer, retrieved_contexts → contexts",
        "contexts is missing in 1 of 3 rows",
        "rows whose contexts are plain text, taken as one context: 1 (first: row 2)",
    )


@pytest.mark.parametrize(
    ("column", "field"),
    [
        *((name, "question") for name in ("question", "user_input", "query", "input", "问题", "Question", " QUERY ")),
        *((name, "answer") for name in ("answer", "response", "output", "actual_output", "回答")),
        *((name, "reference") for name in ("reference", "ground_truth", "ground_truths", "expected_output", "参考答案", "标准答案")),
        *((name, "reference_contexts") for name in ("reference_contexts", "ground_truth_contexts", "标准片段")),
        *((name, "contexts") for name in ("contexts", "retrieved_contexts", "retrieval_context", "检索片段")),
        *((name, "context_ids") for name in ("context_ids", "retrieved_context_ids")),
    ],
)
def test_aliases(column, field):
    listed = field in ("contexts", "reference_contexts", "context_ids")
    row = {"question": "q", "answer": "a"} if field not in ("question", "answer") else {"contexts": ["c"]}
    (sample,) = scan([{**row, column: ["甲"] if listed else "甲"}])
    value = getattr(sample, field)
    assert (value[0].text if field == "contexts" else value[0] if listed else value) == "甲"
    assert sample.meta == {}


@pytest.mark.parametrize(
    ("rows", "row", "column", "part"),
    [
        ([{"question": "q"}, {"question": 5}], 2, "question", "must be text, found a number (needed by answer_relevancy"),
        ([{"question": "q", "query": "p"}], 1, "query", "question and query both mean question"),
        ([{"question": "q", "contexts": {"a": 1}}], 1, "contexts", "must be a list, found an object (needed by faithfulness"),
        ([{"question": "q", "retrieved_contexts": [1]}], 1, "retrieved_contexts", "context 1 must be text"),
        ([{"question": "q", "answer": 5}], 1, "answer", "needed by faithfulness, answer_relevancy, answer_correctness"),
        ([{"question": "q", "ground_truths": ["a", "b"]}], 1, "ground_truths", "reference_points"),
        ([{"question": "q", "answer": "x" * 1_000_001}], 1, "answer", "1.00 MB, the limit is 1 MB"),
        ([{"question": "q", "notes": ["x" * 600_000] * 2}], 1, "notes", "--max-cell-mb"),
        ([{"question": "q", "answer": "\ud800"}], 1, "answer", "lone surrogate"),
        ([{"question": "q", "answer": "a\0"}], 1, "answer", "NUL"),
        ([{"question": "q", "id": 1}, {"question": "p"}, {"question": "r", "id": "1"}], 3, "id", "in row 1 and in row 3"),
        ([{"question": "q", "expected_behavior": "maybe"}], 1, "expected_behavior", "answer, refuse, clarify"),
        ([{"question": "q", "meta": {"expected_behavior": "no"}}], 1, "meta.expected_behavior", "answer, refuse, clarify"),
        ([{"question": "q", "answerable": False, "expected_behavior": "answer"}], 1, "answerable", "contradicts expected_behavior"),
        ([{"question": "q", "answerable": True, "expected_behavior": "refuse"}], 1, "answerable", "contradicts"),
        ([{"question": "q", "meta": 5}], 1, "meta", "must be an object"),
        ([{"question": "q", "dept": "hr", "meta": {"dept": "it"}}], 1, "dept", "different values"),
        ([{"question": "q", "when": {1, 2}}], 1, "when", "JSON cannot hold"),
        ([{"question": "q", "x": float("inf")}], 1, "x", "JSON cannot hold"),
        ([{"question": "q"}, {"reference": "r"}], 2, None, "neither question nor answer nor contexts"),
        ([{"question": "q"}, {"question": " "}], 2, None, "neither question nor answer nor contexts"),
        ([{"提问": "q", "标准答案": "r"}] * 3, None, None, "the columns are: 提问, 标准答案. Name yours with --map"),
        ([{"question": "q"}, "text"], 2, None, "found text"),
        ([{"colour": "red"}], None, None, "no column is known by name; the columns are: colour"),
        ([], None, None, "no rows"),
    ],
)
def test_every_problem_names_row_and_column(rows, row, column, part):
    (problem,) = problems(rows)
    assert (problem.row, problem.column) == (row, column)
    assert part in problem.text
    (chinese,) = problems(rows, lang="zh")
    assert (chinese.row, chinese.column) == (row, column)
    assert any("\u4e00" <= c <= "\u9fff" for c in chinese.text)


def test_all_problems_come_at_once_in_row_order(tmp_path):
    path = write(tmp_path, "a.jsonl", lines({"id": 1, "question": 5, "contexts": "['a' 'b']"}, {"id": 1, "question": "q"}) + "\n{bad\n")
    found = problems(path)
    assert [(p.row, p.column) for p in found] == [(1, "question"), (1, "contexts"), (2, "id"), (3, None)]
    with pytest.raises(DataError, match=r"a.jsonl: row 1, column question: must be text"):
        scan(path, lang="en")


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_doubled_field_of_a_table_is_told_once(tmp_path, delimiter):
    table = "question,answer,response\nq,a,b\np,a,b\n".replace(",", delimiter)
    (problem,) = problems(write(tmp_path, "a.csv", table))
    assert (problem.row, problem.column) == (None, "response")


@pytest.mark.parametrize(
    "source",
    [{"question": ["a"]}, b"bytes", 5, [5], None],
)
def test_what_is_no_list_of_rows(source):
    assert problems(source)


def test_a_data_frame_is_told_how_to_pass_its_rows():
    class Frame:
        columns = ("a",)

        def to_dict(self):
            raise AssertionError

    (problem,) = problems(Frame())
    assert 'frame.to_dict("records")' in problem.text


# ------------------------------------------------------------------ mapping
def test_a_mapping_comes_first(tmp_path):
    path = write(tmp_path, "a.csv", "标准,reference,input\n十天,别的,答\n")
    (sample,) = scan(path, mapping={"reference": "标准", "answer": "input"})
    assert (sample.reference, sample.answer, sample.question) == ("十天", "答", None)
    assert sample.meta == {"reference": "别的"}


@pytest.mark.parametrize(
    ("mapping", "part"),
    [
        ({"referense": "a"}, "did you mean reference?"),
        ({"xyzzy": "a"}, "there is no field xyzzy"),
        ({"question": "a", "answer": "a"}, "mapped twice"),
        ({"question": "a", "query": "b"}, "mapped twice"),
    ],
)
def test_a_wrong_mapping_is_a_setting_error(mapping, part):
    with pytest.raises(ConfigError) as caught:
        scan([{"question": "q"}], mapping=mapping, lang="en")
    assert part in str(caught.value)
    with pytest.raises(ConfigError, match=r"[\u4e00-\u9fff]"):
        scan([{"question": "q"}], mapping=mapping, lang="zh")


def test_a_mapped_column_that_is_absent_names_the_columns(tmp_path):
    for name, data in (("a.csv", "question,答案\nq,a\n"), ("a.jsonl", lines({"question": "q", "答案": "a"}))):
        (problem,) = problems(write(tmp_path, name, data), mapping={"answer": "回答案"})
        assert problem.column == "回答案"
        assert "question, 答案" in problem.text


# ------------------------------------------------------------------ meaning of absence
def test_null_empty_and_missing(tmp_path):
    rows = [{"question": "q", "answer": a, "contexts": c} for a, c in ((None, None), ("", []), ("  ", [""]), ("a", ["  "]))]
    found = list(scan(write(tmp_path, "a.jsonl", lines(*rows))))
    assert [s.answer for s in found] == [None, "", "  ", "a"]
    assert [s.contexts for s in found] == [None, (), (), ()]
    table = scan(write(tmp_path, "a.csv", "question,answer,contexts\nq,,\np,a,[]\n"))
    assert [(s.answer, s.contexts) for s in table] == [(None, None), ("a", ())]


def test_a_blank_context_among_others_keeps_its_rank():
    (sample,) = scan([{"question": "q", "contexts": ["a", " ", "b"]}])
    assert [c.text for c in sample.contexts] == ["a", " ", "b"]


def test_nan_from_data_frames_is_missing():
    nan = float("nan")
    (sample,) = scan([{"question": "q", "answer": nan, "contexts": nan, "error": nan, "dept": nan, "n": 2.5}])
    assert (sample.answer, sample.contexts, sample.error, sample.meta) == (None, None, None, {"dept": None, "n": 2.5})


def test_arrays_are_lists():
    class Array:
        def tolist(self):
            return ["a", "b"]

    (sample,) = scan([{"question": "q", "contexts": Array()}])
    assert [c.text for c in sample.contexts] == ["a", "b"]


def test_expected_behaviour():
    rows = [
        {"question": "1"},
        {"question": "2", "answerable": False},
        {"question": "3", "answerable": True, "expected_behavior": "clarify"},
        {"question": "4", "meta": {"expected_behavior": "refuse"}},
        {"question": "5", "answerable": False, "expected_behavior": "clarify"},
        {"question": "6", "expected_behavior": None},
    ]
    assert [s.expected_behavior for s in scan(rows)] == ["answer", "refuse", "clarify", "refuse", "clarify", "answer"]


def test_error_rows_are_kept_and_not_counted_as_gaps():
    source = scan(
        [{"question": "q", "error": "timeout"}, {"question": "p", "answer": "a", "contexts": []}, {"error": "connection"}], lang="en"
    )
    assert [s.error for s in source] == ["timeout", None, "connection"]
    assert (source.count, source.errors) == (3, 2)
    assert source.missing["answer"] == 0
    assert source.notices == ("2 of 3 rows were not collected (column error); they are never judged and count as failed",)


def test_what_an_application_said_of_a_gold_row_is_no_matter():
    rows = [{"question": "q", "error": "timeout: slow"}, {"question": "w", "error": "key: no"}]
    source = scan(rows, gold=True)
    assert (source.count, source.errors, source.notices) == (2, 0, ())
    assert "question" in source.columns


def test_language_comes_from_question_then_reference_then_answer():
    rows = [
        {"question": "年假几天？", "answer": "Ten days.", "reference": "Ten"},
        {"question": "How many?", "answer": "十天"},
        {"answer": "Ten days.", "reference": "十天"},
        {"answer": "ten", "reference_points": ["十天", "十五天"]},
        {"answer": "十天"},
        {"question": "q", "language": "zh"},
        {"question": "年假", "language": "French"},
    ]
    source = scan(rows)
    assert [s.language for s in source] == ["zh", "en", "zh", "zh", "zh", "zh", "zh"]
    assert list(source)[-1].meta == {"language": "French"}
    assert source.languages == {"zh": 6, "en": 1}


# ------------------------------------------------------------------ ids
def short_hash(question):
    return hashlib.sha256(unicodedata.normalize("NFC", question).encode()).hexdigest()[:12]


def test_ids_come_from_the_question_and_never_from_the_answer():
    one, two = (list(scan([{"question": "年假？", "answer": a}, {"question": "病假？"}, {"question": "年假？"}])) for a in ("x", "y"))
    assert [s.id for s in one] == [s.id for s in two] == [short_hash("年假？"), short_hash("病假？"), short_hash("年假？") + "-2"]


def test_the_form_of_characters_does_not_change_the_id():
    (one,), (two,) = scan([{"question": "caf\u00e9"}]), scan([{"question": "cafe\u0301"}])
    assert one.id == two.id


def test_made_up_ids_never_meet_given_ones():
    taken = short_hash("q")
    rows = [{"question": "q"}, {"question": "q"}, {"question": "a", "id": taken}, {"question": "b", "id": f"{taken}-3"}]
    for order in (rows, rows[::-1]):
        source = scan(order)
        ids = [s.id for s in source]
        assert len(set(ids)) == 4
        assert {s.id for s in source if s.question == "q"} == {f"{taken}-2", f"{taken}-4"}
        assert source.notices == scan(order).notices


@given(
    st.lists(
        st.tuples(st.sampled_from(["q", "p", "问"]), st.sampled_from([None, "1", "2", short_hash("q"), short_hash("q") + "-2"])),
        min_size=1,
        max_size=8,
    )
)
def test_ids_are_unique_or_refused(rows):
    given_ids = [identity for _, identity in rows if identity]
    table = [{"question": q, **({"id": i} if i else {})} for q, i in rows]
    if len(set(given_ids)) < len(given_ids):
        assert all(p.column == "id" for p in problems(table))
    else:
        ids = [s.id for s in scan(table)]
        assert len(set(ids)) == len(ids)
        assert [i for i, (_, g) in zip(ids, rows, strict=True) if g] == given_ids


def test_many_equal_questions_stay_cheap():
    ids = [s.id for s in scan([{"question": "q"}] * 5000)]
    assert ids[-1] == short_hash("q") + "-5000"


# ------------------------------------------------------------------ reading again
def test_a_source_is_read_again_and_again():
    source = scan({"question": f"q{i}"} for i in range(3))
    assert list(source) == list(source)
    assert len(source) == 3


def test_a_row_of_a_gold_set_may_lack_its_question():
    rows = [{"question": "q", "reference": "r"}, {"reference": "r"}, {"question": "", "reference_points": ["p"]}]
    assert [sample.question for sample in scan(rows, gold=True)] == ["q", None, None]
    assert {p.row for p in problems(rows)} == {2, 3}
    with pytest.raises(DataError, match="neither question"):
        scan([{"question": "q"}, {"note": "x"}], gold=True)


def test_a_limit_looks_at_the_first_rows_only(tmp_path):
    path = write(tmp_path, "a.jsonl", lines({"question": "a"}, {"question": "b"}, {"question": 5}))
    source = scan(path, limit=2)
    assert [s.question for s in source] == ["a", "b"]
    assert source.count == 2


def test_a_file_that_changes_after_the_check_is_noticed(tmp_path):
    path = write(tmp_path, "a.jsonl", lines({"question": "a"}))
    source = scan(path, lang="en")
    path.write_text(lines({"question": 5}))
    with pytest.raises(DataError, match="changed after it was checked"):
        list(source)


def test_scanning_a_source_again_gives_the_same(tmp_path):
    source = scan(write(tmp_path, "a.csv", "question,answer\nq,a\n"))
    assert list(scan(source)) == list(source)


def test_a_sample_of_python_gets_its_language():
    (zh, en) = scan([Sample(id="1", question="年假几天？"), Sample(id="2", question="年假？", language="en")])
    assert (zh.language, en.language) == ("zh", "en")


WORDS = st.text(st.sampled_from("年假aQ1。 .[]\"'\n"), min_size=1, max_size=12).filter(str.strip)
TEXT = st.none() | WORDS
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(tuple)
CONTEXTS = st.lists(st.builds(Context, text=WORDS, id=TEXT, score=st.none() | st.floats(0, 1), source=TEXT), max_size=3).map(tuple)
META = st.dictionaries(WORDS, st.none() | WORDS | st.integers(0, 9) | st.booleans() | st.lists(WORDS), max_size=3)
SAMPLES = st.builds(
    Sample,
    id=WORDS,
    question=WORDS,
    answer=st.none() | st.just("") | WORDS,
    contexts=st.none() | CONTEXTS,
    reference=TEXT.filter(lambda text: text is None or not text.lstrip().startswith("[")),
    reference_points=st.none() | NAMES,
    reference_alternatives=st.none() | NAMES,
    reference_contexts=st.none() | NAMES,
    context_ids=st.none() | NAMES,
    context_scores=st.none() | st.lists(st.none() | st.floats(0, 1)).map(tuple),
    context_sources=st.none() | st.lists(TEXT).map(tuple),
    expected_behavior=st.sampled_from(["answer", "refuse", "clarify"]),
    history=st.none() | st.lists(META, max_size=2).map(tuple),
    error=TEXT,
    answer_raw=TEXT,
    citations=st.none() | st.lists(st.builds(Citation, at=st.integers(0, 9), context=TEXT | st.integers(0, 9)), max_size=2).map(tuple),
    latency_s=st.none() | st.floats(0, 9),
    usage=st.none() | META,
    language=st.sampled_from(["zh", "en"]),
    meta=META,
)


@given(st.lists(SAMPLES, min_size=1, max_size=3, unique_by=lambda s: s.id))
def test_what_is_written_reads_back_the_same(samples):
    rows = [json.loads(json.dumps(sample.to_dict())) for sample in samples]
    source = scan(rows)
    assert list(source) == samples
    assert list(scan(samples)) == samples
    assert scan(rows[::-1]).samples_fingerprint == source.samples_fingerprint


@given(SAMPLES)
def test_law_a_row_is_the_dump_of_its_sample_without_what_is_absent(sample):
    dumped = sample.model_dump(exclude_none=True)
    for chunk in dumped.get("contexts", ()):
        assert chunk.pop("text") is not None
    row = sample.to_dict()
    assert list(row) == [name for name in dumped if name != "meta" or sample.meta]
    for name, value in row.items():
        assert name == "contexts" or value == dumped[name]
    for chunk, held, rest in zip(row.get("contexts", ()), sample.contexts or (), dumped.get("contexts", ()), strict=True):
        assert chunk == ({"text": held.text, **rest} if rest else held.text)


def test_csv_and_jsonl_of_the_same_data_have_the_same_fingerprints(tmp_path):
    table = scan(write(tmp_path, "a.csv", 'question,answer,contexts,reference\n问,答,"[""c""]",r\n'))
    rows = scan(write(tmp_path, "a.jsonl", lines({"question": "问", "answer": "答", "contexts": ["c"], "reference": "r", "note": "x"})))
    assert (table.gold_fingerprint, table.samples_fingerprint) == (rows.gold_fingerprint, rows.samples_fingerprint)
    other = scan(write(tmp_path, "b.jsonl", lines({"question": "问", "answer": "别的", "contexts": ["c"], "reference": "r"})))
    assert other.gold_fingerprint == rows.gold_fingerprint
    assert other.samples_fingerprint != rows.samples_fingerprint


def test_citation_marks_are_taken_out_if_wanted():
    rows = [{"question": "q", "answer": "十天[1]。"}]
    (raw,), (clean,) = scan(rows), scan(rows, strip_citations=True)
    assert (raw.answer, raw.answer_raw) == ("十天[1]。", None)
    assert (clean.answer, clean.answer_raw, clean.citations) == ("十天。", "十天[1]。", (Citation(at=2, context=1),))
    assert scan(rows).samples_fingerprint != scan(rows, strip_citations=True).samples_fingerprint


# ------------------------------------------------------------------ notices
def test_near_misses_and_other_columns():
    source = scan([{"question": "q", "referense": "r", "dept": "hr", "context": "c"}], lang="en")
    assert source.notices == (
        "columns kept under meta: referense, dept, context",
        "column referense is not known and kept under meta; did you mean reference?",
        "column context is not known and kept under meta; did you mean contexts?",
    )
    assert "是否指 reference？" in "".join(scan([{"question": "q", "referense": "r"}], lang="zh").notices)


def test_dropped_parts_of_contexts_are_told():
    source = scan([{"question": "q", "contexts": [{"text": "a", "page": 1}]}], lang="en")
    assert source.notices == ("keys of context objects that are not kept: page",)


# ------------------------------------------------------------------ fit
GOLD_ONLY = [{"question": "q", "reference": "r", "referense": "x"}]


def test_a_preset_leaves_out_what_no_row_can_feed():
    source = scan([{"question": "q", "answer": "a"}], lang="en")
    assert fit(source, NEEDS, explicit=False) == (
        ["answer_relevancy"],
        ["faithfulness is left out: no row has contexts", "context_recall is left out: no row has contexts, reference"],
    )


def test_a_named_metric_needs_its_columns():
    with pytest.raises(DataError) as caught:
        fit(scan(GOLD_ONLY, lang="en"), NEEDS, explicit=True)
    assert [p.column for p in caught.value.problems] == ["answer", "contexts", None]
    first, second, third = (p.text for p in caught.value.problems)
    assert first.startswith("no row has answer, which is needed by: faithfulness, answer_relevancy.")
    assert second.startswith("no row has contexts, which is needed by: faithfulness, context_recall.")
    assert "The columns are: question, reference, referense" in first
    assert "ragstone collect" in third
    with pytest.raises(DataError) as caught:
        fit(scan([{"question": "q", "answer": "a"}]), NEEDS, explicit=True)
    assert "ragstone collect" not in str(caught.value)


def test_a_preset_that_keeps_nothing_is_refused():
    with pytest.raises(DataError, match="没有任何一行提供"):
        fit(scan(GOLD_ONLY, lang="zh"), NEEDS, explicit=False)


def test_everything_fits_when_some_row_has_it():
    source = scan([{"question": "q", "answer": ""}, {"question": "p", "contexts": [], "reference_points": ["r"]}])
    assert fit(source, NEEDS, explicit=True) == (list(NEEDS), [])


def test_a_file_of_failed_rows_is_no_data_error():
    source = scan([{"question": "q", "error": "timeout"}])
    assert fit(source, NEEDS, explicit=True) == (list(NEEDS), [])


def test_other_rows_than_those_that_were_checked_are_refused(tmp_path):
    path = write(tmp_path, "x.jsonl", lines(*({"question": f"q{i}"} for i in range(3))))
    source = scan(path, lang="en")
    assert len(list(source)) == 3
    write(tmp_path, "x.jsonl", lines({"question": "one row, as good as the others"}))
    with pytest.raises(DataError, match="changed after it was checked"):
        list(source)


@pytest.mark.parametrize("depth", [247, 250, 253, 260, 900])
def test_what_lies_too_deep_for_a_run_folder_is_refused_before_anything_is_written(depth):
    nested = "[" * depth + "]" * depth
    (found,) = problems([{"question": "q", "deep": json.loads(nested)}])
    assert found.row == 1
    assert "JSON cannot hold" in found.text


@pytest.mark.parametrize("column", ["anything", "contexts", "history", "meta"])
def test_a_value_that_holds_itself_is_refused(column):
    loop = [] if column != "meta" else {}
    loop.append(loop) if column != "meta" else loop.update(a=loop)
    (found,) = problems([{"question": "q", column: loop}])
    assert found.row == 1
    assert "JSON cannot hold" in found.text


@pytest.mark.parametrize("column", ["question", "标准答案", "response"])
def test_a_mapping_written_the_wrong_way_round_is_told(tmp_path, column):
    with pytest.raises(ConfigError, match="swapped"):
        scan([{"用户提问": "q"}], mapping={"用户提问": column}, lang="en")


@pytest.mark.parametrize("row", [{"id": "x", "frage": "q", "antwort": "a"}, {"frage": "q"}, {"id": "x", "提问": "q"}])
def test_unknown_columns_are_told_once_for_the_file_with_what_to_do(row):
    with pytest.raises(DataError) as caught:
        scan([row, {**row, "id": "y"} if "id" in row else row], lang="en")
    (problem,) = caught.value.problems
    assert "no column is known by name" in problem.text
    assert "--map" in problem.text
