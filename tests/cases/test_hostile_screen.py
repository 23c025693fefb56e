"""Whatever stands in samples, replies, names and errors moves no cursor, changes no colour, turns no line round, and is no page's code."""

import json
import re
from html.parser import HTMLParser

import orjson
import pytest
from support.fault_server import error, reply
from support.hostile_texts import HOSTILE
from support.told_rows import shared_out

import ragstone

pytestmark = pytest.mark.no_cover  # every line they run is run by others, and counting them takes longer than running them

DANGEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
TAGS = {
    "code",
    "details",
    "div",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "p",
    "ul",
    "li",
    "br",
    "style",
    "strong",
    "summary",
    "em",
    "span",
    "small",
}
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


SHOWN = {name: text for name, text in HOSTILE.items() if len(text) < 1500 or name == "long word"}
CONTROLS = ["ansi", "c1", "rtl", "carriage", "controls", "zero width", "bom", "line ends", "script", "rich markup"]


def short(text):
    return text[:100]


def ids():
    return {f"{short(text)} {number:02}": text for number, text in enumerate(SHOWN.values())}


def write(folder):
    """A run whose every text, name and number of a person or a judge is hostile."""
    folder.mkdir()
    samples, scores, replies = [], [], []
    for number, (id, text) in enumerate(ids().items()):
        columns = {
            "question": text,
            "answer": text,
            "contexts": [{"text": text, "id": short(text), "source": short(text)}],
            "reference": text,
        }
        samples.append({"id": id, **columns, "error": text if number % 9 == 0 else None, "meta": {"note": short(text), short(text): 1}})
        line = {"kind": "answer_claim", "id": "a1", "text": text, "verdict": "supported", "evidence": ["c1"], "reason": text, "quote": text}
        ok = {"sample_id": id, "metric": "faithfulness", "value": number / 100, "status": "ok", "reason": None, "verdicts": [line]}
        reason = short(text) if number % 5 == 0 else "bad_reply"
        failed = {
            "sample_id": id,
            "metric": "context_recall",
            "value": None,
            "status": "failed",
            "reason": reason,
            "questions": [f"k{number}"],
        }
        scores += [{**ok, "detail": {"merged": short(text), "anchor": text}}, failed]
        replies.append({"key": f"k{number}", "kind": "check_claims", "raw": text, "error": "bad_reply", "message": text})
    for name, rows in (("samples", samples), ("scores", scores), ("replies", replies)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    everything = " ".join(map(short, SHOWN.values()))
    manifest = {
        "run_id": everything,
        "version": everything,
        "signature": everything,
        "judge": {"model": everything, "endpoint": everything},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "run")


def harmless(*texts):
    for text in texts:
        found = DANGEROUS.search(text)
        assert found is None, (hex(ord(found[0])), text[max(0, found.start() - 60) : found.end() + 20])


@LANGUAGES
@pytest.mark.parametrize("args", [[], ["--failed"], ["--worst", "99"], ["--by", "note"]], ids=" ".join)
def test_a_run_on_the_screen(lab, folder, args, lang):
    code, out, err = lab.command(["show", "run", *args], lang=lang)
    assert code == 0
    harmless(out, err)


@LANGUAGES
def test_every_sample_on_the_screen(lab, folder, lang):
    for id in [id for id, text in ids().items() if DANGEROUS.search(text) or text in (HOSTILE["long word"], HOSTILE["rich markup"])]:
        code, out, err = lab.command(["show", "run", id, "--raw"], lang=lang)
        assert code == 0
        harmless(out, err)


def test_names_that_are_not_there(lab, folder):
    for text in map(HOSTILE.get, CONTROLS):
        for args in (["show", "run", f"!{text}"], ["show", f"./{text}"], ["show", "run", "--by", f"x{text}"]):
            _, out, err = lab.command(args)
            harmless(out, err)


@pytest.mark.parametrize("args", [["--failed"], ["--by", "note", "--worst", "99"]], ids=" ".join)
def test_a_document_is_json_and_holds_the_texts_as_they_are(lab, folder, args):
    _, out, _ = lab.command(["show", "run", "--json", *args])
    found = orjson.loads(out)
    assert not re.search("[\x00-\x09\x0b-\x1f]", out)
    if "--failed" in args:
        assert [cell["sample_id"] for cell in found["failed_cells"]] == list(ids())
        assert [cell["replies"][0]["raw"] for cell in found["failed_cells"]] == list(SHOWN.values())


class Page(HTMLParser):
    """Notes the tags of a page, and what could run."""

    def __init__(self):
        super().__init__()
        self.tags, self.wrong, self.text = set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.wrong += [(tag, name, value) for name, value in attrs if name.startswith("on") or name in ("src", "href", "srcdoc")]

    def handle_comment(self, data):
        self.wrong.append(("comment", data))

    def handle_data(self, data):
        self.text.append(data)


@LANGUAGES
def test_a_table_in_a_notebook_holds_no_tag_of_a_text(folder, lang, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    run = ragstone.load("run")
    for html in (run._repr_html_(), run.summary(by="note")._repr_html_()):
        page = Page()
        page.feed(html)
        assert (page.tags - TAGS, page.wrong) == (set(), [])
    assert "<script>alert(1)</script>" in "".join(page.text), "told as text"


# ------------------------------------------------------------------ while it runs
def test_what_an_endpoint_says_reaches_the_screen_as_text(lab):
    texts = list(SHOWN.values())
    rows = [shared_out(f"row-{n:02}", 1, 1) for n in range(len(texts))]

    def fault(call):
        number = int(re.search(r"row-(\d\d)", call.seen.user)[1])
        return error(500, texts[number]) if call.kind == "check_claims" else None

    done = lab.evaluate(rows, fault, "--retries", "0", cli=True)
    harmless(done.out, done.err)
    for lang in ("en", "zh"):
        code, out, err = lab.command(["show", str(done.folder), "--failed"], lang=lang)
        assert code == 0
        harmless(out, err)


@pytest.mark.parametrize("name", CONTROLS)
def test_what_stops_a_run_reaches_the_screen_as_text(lab, name):
    done = lab.evaluate([shared_out("r", 1, 1)], lambda call: error(401, HOSTILE[name]), finished=False, cli=True)
    assert done.code == 3
    harmless(done.out, done.err)


@pytest.mark.parametrize("name", CONTROLS)
def test_notices_about_a_file_are_text(lab, name):
    text = HOSTILE[name]
    row = shared_out("r", 1, 1).but(**{text: text}, contexts="plain text", id=text)
    with lab.server([shared_out("r", 1, 1)], lambda call: reply(call.good)) as server:
        source = lab.write([row, row, shared_out("r", 1, 1).but(contexts=None, answer=7)])
        command = ["evaluate", str(source), "--out", f"out {text}".replace("/", "_"), "--judge", "m", "--base-url", server.url]
        for more in ([], ["--map", f"answer={text}"], ["--metrics", f"{text}"], ["--judge", text]):
            _, out, err = lab.command([*command, *more])
            assert err
            harmless(out, err)
