"""``gramian fit``: the same numbers as Python, the same text each time."""

import json
import re

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from gramian import PCA, KernelPCA, config, settings
from gramian.cli.findings import SCREEN_LINES
from gramian.models import inspect
from gramian.tables import Standardizer, read_table, write_scores

CASES = {
    "pca": ([], PCA()),
    "pca -k 2": (["-k", "2"], PCA(2)),
    "pca share": (["-k", "0.9"], PCA(0.9)),
    "pca scale whiten": (["--scale", "--whiten", "-k", "3"], PCA(3, scale=True, whiten=True)),
    "pca solver": (["--solver", "power", "--seed", "5", "-k", "2"], PCA(2, solver="power", random_state=5)),
    "kernel": (["--method", "kernel-pca"], KernelPCA(2)),
    "kernel text": (
        ["--method", "kernel-pca", "--kernel", "rbf(sigma=3) + 0.1*linear", "-k", "4"],
        KernelPCA(4, kernel="rbf(sigma=3) + 0.1*linear"),
    ),
    "kernel landmarks": (
        ["--method", "kernel-pca", "--kernel", "rbf(sigma=3)", "--landmarks", "12"],
        KernelPCA(2, kernel="rbf(sigma=3)", landmarks=12),
    ),
    "kernel scale": (
        ["--method", "kernel-pca", "--scale", "--kernel", "laplacian(gamma=0.2)"],
        make_pipeline(Standardizer(), KernelPCA(2, kernel="laplacian(gamma=0.2)")),
    ),
}


@pytest.mark.parametrize(("options", "model"), CASES.values(), ids=CASES)
def test_scores_are_those_of_python(gramian, options, model):
    code, out, err = gramian("fit", "flowers.csv", *options, "-o", "scores.csv")
    assert (code, err) == (0, "")
    expected = model.fit_transform(read_table("flowers.csv").values)
    written = read_table("scores.csv")
    np.testing.assert_allclose(written.values, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert written.columns == tuple(f"PC{at + 1}" for at in range(expected.shape[1]))
    assert written.labels == read_table("flowers.csv").labels
    assert len(out.splitlines()) <= SCREEN_LINES + 2


@pytest.mark.parametrize(("options", "model"), CASES.values(), ids=CASES)
def test_the_code_it_prints_does_the_same(gramian, options, model):
    _, out, _ = gramian("fit", "flowers.csv", *options, "--columns", "d,a,b,c", "--threads", "1", "--memory", "1GB")
    first, second = out.splitlines()[-2:]
    assert first.startswith("Python ")
    names = {}
    with config():  # takes back what the printed code sets
        exec(first.removeprefix("Python").strip() + "\n" + second.strip(), names)
        assert (settings().threads, settings().memory) == (1, 10**9)
    expected = model.fit_transform(read_table("flowers.csv", ["d", "a", "b", "c"]).values)
    np.testing.assert_allclose(names["scores"], expected, rtol=0, atol=1e-12)


def test_text_for_people(gramian):
    options = ["--method", "kernel-pca", "--kernel", "rbf(sigma=3)", "--solver", "dense", "-k", "2", "-o", "s.csv"]
    code, out, err = gramian("fit", "flowers.csv", *options)
    out = re.sub(r"\d[\d.e-]* s;", "SECONDS;", out)
    out = re.sub(r"residuals <= \S+,", "residuals <= TINY,", out)
    assert (code, err) == (0, "")
    assert out == GOLDEN


GOLDEN = """\
KernelPCA   rbf(sigma=3)   60 x 4   2 components   48.4 % of variance

                      PC1     PC2
eigenvalue          9.374   7.864
share of variance  26.3 %  22.1 %
cumulative share   26.3 %  48.4 %

mean scores by kind
k0 (20 rows)        0.012  -0.091
k1 (20 rows)        0.028  -0.033
k2 (20 rows)       -0.040   0.124

v-tests: these means in standard errors, rarely beyond 2 by chance
k0                   0.16   -1.37
k1                   0.38   -0.49
k2                  -0.54    1.86

table      flowers.csv: 60 rows, 4 columns
set aside  column 'kind' is text, kept as a label
chosen     2 components, as asked
computed   dense (as asked); SECONDS; residuals <= TINY, smallest relative gap 0.16 (components 1, 2)
written    scores to s.csv: 60 rows, columns kind, PC1, PC2
Python     from gramian import KernelPCA; from gramian.tables import read_table
           scores = KernelPCA(n_components=2, kernel='rbf(sigma=3)', solver='dense')\
.fit_transform(read_table('flowers.csv').values)
"""


def test_without_output_nothing_is_written_and_it_says_how(gramian, here):
    code, out, _ = gramian("fit", "flowers.csv")
    assert code == 0
    assert "written    nothing; -o scores.csv keeps the scores, --model FILE the model\n" in out
    assert [path.name for path in here.iterdir()] == ["flowers.csv"]


def test_json_is_one_object_with_all_facts(gramian):
    code, out, err = gramian("fit", "flowers.csv", "-k", "2", "--json", "-o", "s.csv")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    pca = PCA(2).fit(read_table("flowers.csv").values)
    assert facts["estimator"] == "PCA"
    assert (facts["n"], facts["d"], facts["n_components"]) == (60, 4, 2)
    np.testing.assert_allclose(facts["eigenvalues"], pca.singular_values_**2, rtol=1e-14)
    assert facts["columns"] == ["a", "b", "c", "d"]
    assert facts["labels"] == ["kind"]
    assert facts["dropped"] == ["column 'kind' is text, kept as a label"]
    assert facts["files"] == ["s.csv"]
    assert facts["source"] == "flowers.csv"
    assert "PCA(n_components=2)" in facts["python"]


def test_quiet_prints_nothing(gramian):
    assert gramian("fit", "flowers.csv", "--quiet", "-o", "s.csv") == (0, "", "")
    assert read_table("s.csv").values.shape == (60, 4)


def test_scores_to_standard_output_leave_the_text_to_standard_error(gramian, here):
    code, out, err = gramian("fit", "flowers.csv", "-k", "2", "-o", "-")
    assert code == 0
    (here / "s.csv").write_text(out)
    np.testing.assert_array_equal(read_table("s.csv").values, PCA(2).fit_transform(read_table("flowers.csv").values))
    assert err.startswith("PCA ")


def test_scores_can_be_fitted_again(gramian):
    gramian("fit", "flowers.csv", "-k", "2", "-o", "s.csv")
    assert gramian("fit", "s.csv", "-o", "t.csv")[0] == 0
    assert read_table("t.csv").labels == read_table("flowers.csv").labels


def test_how_the_number_of_components_was_chosen(gramian, tables):
    def chosen(*options):
        _, out, _ = gramian("fit", *options)
        return re.search(r"^chosen +(.*)$", out, flags=re.MULTILINE).group(1)

    assert chosen("flowers.csv") == "4 components, all there are; -k asks for fewer"
    assert chosen("flowers.csv", "-k", "1") == "1 component, as asked"
    assert chosen("flowers.csv", "-k", "0.9") == "2 components, the fewest that explain 90 % of the variance"
    assert chosen("flowers.csv", "--method", "kernel-kmeans") == "8 clusters, the default; -k asks for another number"
    assert chosen("diabetes.csv", "--method", "pls", "--target", "progression", "-k", "auto") == (
        "2 components: the fewest within one standard error of the least error, which 3 have"
    )


@pytest.mark.parametrize(("spread", "told"), [(20, True), (2, False)])
def test_a_column_with_most_of_the_variance_is_named(gramian, here, spread, told):
    X = np.random.default_rng(0).standard_normal((50, 4)) * [1, 1, spread, 1]
    np.savetxt(here / "u.csv", X, delimiter=",", header="a,b,c,d", comments="")
    _, _, err = gramian("fit", "u.csv", "-q")
    assert ("'c' has 99" in err) == told
    assert ("of the variance of all 4 columns" in err) == told
    assert gramian("fit", "u.csv", "-q", "--scale")[2] == ""


def test_two_files_are_two_views(gramian, tables):
    men = read_table("linnerud.csv")
    write_scores("x.csv", men.values[:, :3], men.columns[:3], {"name": [f"m{at}" for at in range(20)]})
    write_scores("y.csv", men.values[:, 3:], men.columns[3:])
    gramian("fit", "linnerud.csv", "--method", "cca", "--y-columns", "Weight:Pulse", "-o", "one.csv", "-q")
    code, out, _ = gramian("fit", "x.csv", "--y-table", "y.csv", "--method", "cca", "-o", "two.csv")
    assert code == 0
    assert "table      x.csv: 20 rows, 3 columns; y.csv: 3 columns\n" in out
    np.testing.assert_array_equal(read_table("two.csv").values, read_table("one.csv").values)
    assert read_table("two.csv").labels == {"name": [f"m{at}" for at in range(20)]}


def test_a_numeric_column_may_be_a_label(gramian, here):
    (here / "t.csv").write_text("a,b,group\n1,2,0\n3,5,1\n4,4,0\n2,7,1\n")
    assert gramian("fit", "t.csv", "--label", "group", "-o", "s.csv", "-q")[0] == 0
    assert (here / "s.csv").read_text().splitlines()[0] == "group,PC1,PC2"
    assert gramian("fit", "t.csv", "--method", "kernel-prototypes", "--label", "group", "-o", "p.csv", "-q")[0] == 0
    assert (here / "p.csv").read_text().splitlines()[0] == "group,predicted_group"


def test_row_ids_are_carried_to_the_scores(gramian, here):
    (here / "t.csv").write_text("who,a,b\n7,1,2\n9,3,5\n8,4,4\n")
    assert gramian("fit", "t.csv", "--ids", "who", "-o", "s.csv", "-q")[0] == 0
    assert [line.split(",")[0] for line in (here / "s.csv").read_text().splitlines()] == ["who", "7", "9", "8"]


def test_missing_values_are_dropped_or_expected_or_refused(gramian, here):
    rows = np.random.default_rng(0).standard_normal((30, 3)).round(3).astype(str)
    rows[4, 1] = rows[9, 2] = ""
    (here / "t.csv").write_text("a,b,c\n" + "\n".join(map(",".join, rows)) + "\n")
    code, _, err = gramian("fit", "t.csv")
    assert (code, err) == (
        1,
        "error: t.csv: line 6, column 'b': the value is missing (2 such values in all). Impute them "
        "(--missing em), drop those rows (--missing drop), or choose other columns.\n",
    )
    _, out, _ = gramian("fit", "t.csv", "--missing", "drop", "-o", "s.csv")
    assert "t.csv: 28 rows, 3 columns" in out
    assert "2 of 30 rows were dropped: values are missing in 'b' (1), 'c' (1)" in out
    assert len(read_table("s.csv").values) == 28
    assert gramian("fit", "t.csv", "--missing", "em", "-k", "1", "-o", "s.csv", "--model", "m.st", "-q")[0] == 0
    assert len(read_table("s.csv").values) == 30
    assert gramian("transform", "m.st", "t.csv", "-o", "t2.csv", "-q") == (0, "", "")
    np.testing.assert_allclose(read_table("t2.csv").values, read_table("s.csv").values, rtol=0, atol=1e-9)


def test_categories_are_encoded_as_asked_and_remembered(gramian, here):
    assert gramian("fit", "flowers.csv", "--encode", "kind", "-o", "s.csv", "--model", "m.st", "-q")[0] == 0
    assert inspect("m.st").columns == ("kind=k0", "kind=k1", "kind=k2", "a", "b", "c", "d")
    lines = (here / "flowers.csv").read_text().splitlines()
    (here / "few.csv").write_text("\n".join(line for line in lines if not line.startswith("k1")) + "\n")
    assert gramian("transform", "m.st", "few.csv", "-o", "t.csv", "-q") == (0, "", "")
    kept = [not line.startswith("k1") for line in lines[1:]]
    np.testing.assert_allclose(read_table("t.csv").values, read_table("s.csv").values[kept], rtol=0, atol=1e-12)


def test_how_a_file_is_written_may_be_said(gramian, here):
    (here / "t.csv").write_text("a/b\n1/2\n3/5\n4/4\n")
    assert gramian("fit", "t.csv", "-q")[0] == 1
    assert gramian("fit", "t.csv", "-q", "--read", "separator=/", "-o", "s.csv") == (0, "", "")
    _, out, _ = gramian("fit", "t.csv", "--read", "separator=/")
    assert "read_table('t.csv', separator='/')" in out


def test_uneven_columns_are_warned_of_unless_scaled(gramian, here):
    (here / "u.csv").write_text("a,b\n1,10000\n2,30000\n4,20000\n")
    assert gramian("fit", "u.csv", "-q") == (
        0,
        "",
        "warning: standard deviations of columns differ by a factor of 6,547 (from 'a' to 'b'), so the largest decide "
        "the result; --scale divides each column by its standard deviation.\n",
    )
    assert gramian("fit", "u.csv", "-q", "--scale") == (0, "", "")


def test_a_precomputed_gram_matrix_is_not_called_uneven(gramian):
    gram = np.diag([1.0, 2.0, 1e-5, 3.0])
    np.save("gram.npy", gram)
    assert gramian("fit", "gram.npy", "--method", "kernel-pca", "--kernel", "precomputed", "-q") == (0, "", "")


def test_library_warnings_are_one_line_each(gramian, here):
    (here / "twice.csv").write_text("a,b\n1,2\n2,4\n3,6\n")
    code, out, err = gramian("fit", "twice.csv", "-k", "2")
    assert code == 0
    assert err == "warning: X has rank 1: the last 1 of 2 components have zero variance. Use -k 1 or fewer.\n"
    assert len(out.splitlines()) <= SCREEN_LINES + 2


def test_many_columns_set_aside_are_counted(gramian, here):
    (here / "t.csv").write_text("a,b,c,d,x\nu,u,u,u,1\nv,v,v,v,2\n")
    _, out, _ = gramian("fit", "t.csv")
    assert "; and 1 more (--json lists them)\n" in out
    assert len(out.splitlines()) <= SCREEN_LINES + 2


def test_seed_memory_and_threads_reach_the_fit(gramian, monkeypatch):
    seen = []
    fit_transform = KernelPCA.fit_transform

    def spy(self, X, y=None):
        seen.append((self.random_state, self.solver, settings().memory, settings().threads))
        return fit_transform(self, X, y)

    monkeypatch.setattr(KernelPCA, "fit_transform", spy)
    options = ["--seed", "5", "--solver", "dense", "--memory", "1GB", "--threads", "1"]
    assert gramian("fit", "flowers.csv", "--method", "kernel-pca", *options, "-o", "s.csv")[0] == 0
    assert seen == [(5, "dense", 10**9, 1)]
