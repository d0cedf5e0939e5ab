"""``gramian report``: a page about a model, with rows or without."""

import json
import re
import shlex
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "data"


def text_of(path):
    return re.sub(r"<script>.*?</script>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_a_model_alone_has_a_report(gramian, here):
    assert gramian("fit", "flowers.csv", "-k", "2", "--model", "m.st", "-q")[0] == 0
    code, out, err = gramian("report", "m.st", "-o", "r.html")
    assert (code, err) == (0, "")
    assert "table" not in out.split()
    assert "r.html: " in out
    assert "made without rows" in text_of(here / "r.html")


@pytest.mark.slow
def test_the_code_on_the_page_reads_the_same_rows_and_fits_the_same(gramian, here):
    assert gramian("fit", "flowers.csv", "-k", "2", "--columns", "b:d", "--scale", "--model", "m.st", "-q")[0] == 0
    assert gramian("report", "m.st", "flowers.csv", "--label", "kind", "-o", "r.html", "-q") == (0, "", "")
    code = re.search(r"<code>(.*?)</code>", text_of(here / "r.html"), flags=re.DOTALL).group(1)
    code = code.replace("&#39;", "'").replace("&#34;", '"')
    assert "read_table('flowers.csv', columns=['b:d'], labels=['kind'])" in code
    space = {}
    exec(code, space)
    from gramian import load

    assert (space["model"].components_ == load("m.st").components_).all()
    assert (here / "r.html").stat().st_size > 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fit", "report", "picture"),
    [
        ("fit iris.csv --method kernel-svm --label species --scale --model m.st", "iris.csv", "Map"),
        ("fit diabetes.csv --method pls --target progression -k 2 --model m.st", "diabetes.csv", "Cross-validation"),
        (
            "fit linnerud.csv --method cca --y-columns Weight,Waist,Pulse --model m.st",
            "linnerud.csv",
            "Pair 1 of scores",
        ),
        (
            f"fit {EXAMPLES}/nutrimouse_gene.csv --y-table {EXAMPLES}/nutrimouse_lipid.csv --method cca --ridge 0.1 "
            "-k 2 --model m.st",
            f"{EXAMPLES}/nutrimouse_gene.csv --y-table {EXAMPLES}/nutrimouse_lipid.csv",
            "Pair 2 of scores",
        ),
    ],
    ids=["labels", "target", "two views", "two files"],
)
def test_targets_labels_and_views_are_found(gramian, tables, fit, report, picture):
    assert gramian(*shlex.split(fit), "-q")[0] == 0
    code, out, err = gramian("report", "m.st", *shlex.split(report), "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["files"] == ["report.html"]
    assert {"What was done", "Code"} <= set(facts["sections"])
    assert picture in text_of(tables / "report.html")


def test_a_table_without_the_target_is_reported_on_all_the_same(gramian, here):
    assert gramian("fit", "flowers.csv", "--method", "pls", "--target", "d", "-k", "2", "--model", "m.st", "-q")[0] == 0
    lines = [line.split(",") for line in (here / "flowers.csv").read_text().splitlines()]
    at = lines[0].index("d")
    (here / "new.csv").write_text("\n".join(",".join(line[:at] + line[at + 1 :]) for line in lines))
    code, _, err = gramian("report", "m.st", "new.csv", "-q")
    assert code == 0
    assert err == "note: new.csv has no d: the report cannot compare predictions with them.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["report", "none.st"], 1, "none.st: No such file or directory"),
        (["report", "flowers.csv"], 1, "it is not a model file"),
        (["report", "m.st", "--label", "kind"], 2, "--label goes with a table"),
        (["report", "m.st", "--test", "flowers.csv"], 2, "--test goes with a table"),
        (["report", "m.st", "flowers.csv", "--test", "flowers.csv"], 2, "PCA predicts nothing; use --supplementary"),
        (["report", "m.st", "flowers.csv", "--supplementary", "a"], 2, "the model was fitted to that column"),
        (["report", "m.st", "flowers.csv", "--supplementary", "none"], 1, "there is no column 'none'"),
        (
            ["report", "m.st", "flowers.csv", "--supplementary", "kind", "--missing", "drop"],
            2,
            "does not go with columns",
        ),
        (["report", "m.st", "flowers.csv", "-o", "m.st"], 2, "is a file that is read"),
        (["report", "m.st", "flowers.csv", "-o", "none/r.html"], 1, "there is no such folder"),
        (["report", "m.st", "flowers.csv", "-o", "-", "--json"], 2, "both write to standard output"),
        (["report", "m.st", "flowers.csv", "--label", "sort"], 1, "sort"),
    ],
)
def test_misuse_is_refused_in_one_line_and_nothing_is_written(gramian, here, arguments, code, complaint):
    assert gramian("fit", "flowers.csv", "-k", "2", "--model", "m.st", "-q")[0] == 0
    found, out, err = gramian(*arguments)
    assert (found, out) == (code, "")
    assert complaint in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in here.iterdir()) == ["flowers.csv", "m.st"]
