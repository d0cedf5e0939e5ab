"""``gramian fit``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gramian.cli import options as o
from gramian.cli.fit import fit as fit_table
from gramian.cli.foresee import foresee
from gramian.cli.report import as_json, as_text
from gramian.cli.request import FitRequest

HELP = """Fit a table; write scores and the model.

TABLE ends in .csv, .tsv, .txt, .parquet, .npy or another ending that is read; - reads CSV from standard input. Numeric
columns are used; text columns are labels and go to the output unchanged. A folder or a pattern of files, and a table
that is larger than the memory, is read block by block by the methods that need its rows but once; of text columns
nothing is kept then. With --scheduler the workers of a dask cluster read the files, one each at a time, and add up what
a fit needs.

\b
Methods:
  of a table          pca, kernel-pca, probabilistic-pca, factor-analysis, ica, random-projection, kernel-kmeans
  with --target       pls, pcr, kernel-ridge, kernel-knn-regression
  with --label        kernel-svm, kernel-knn, kernel-prototypes
  of two views        cca, pls-canonical, pls-svd, kernel-cca (with --y-columns or --y-table)

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale -o scores.csv --model wine.safetensors
  gramian fit demo/digits.csv --method kernel-pca --dry-run
  gramian fit demo/digits.csv --method kernel-pca --kernel "rbf(sigma=25)" -k 2 -o digits.csv
  gramian fit demo/diabetes.csv --method pls --target progression -k auto --model pls.safetensors
  gramian fit demo/linnerud.csv --method cca --y-columns Weight,Waist,Pulse -o pairs.csv
  gramian fit demo/iris.csv --method kernel-svm --label species -o species.csv
"""


def fit(
    table: o.TableFile,
    method: o.Method = "pca",
    components: o.Components = None,
    output: o.Output = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="FILE", help="File for the fitted model (.safetensors).")
    ] = None,
    scale: o.Scale = None,
    columns: o.ColumnNames = None,
    target: o.Targets = None,
    y_table: o.SecondTable = None,
    label: o.Label = None,
    ids: o.Ids = None,
    missing: o.Missing = None,
    encode: o.Encode = None,
    dates: o.Dates = None,
    read: o.Read = None,
    stream: o.Stream = False,
    scheduler: o.Scheduler = None,
    kernel: o.Kernel = None,
    kernel_y: Annotated[str | None, typer.Option(metavar="TEXT", help="Kernel of the second view.")] = None,
    landmarks: Annotated[
        int | None,
        typer.Option(metavar="N", help="Landmarks that stand for all rows of a kernel method; exact without."),
    ] = None,
    preimage: Annotated[
        str | None, typer.Option(metavar="NAME", help="How gramian inverse finds rows of kernel-pca, such as auto.")
    ] = None,
    whiten: Annotated[bool, typer.Option("--whiten", help="Give scores unit variance (pca).")] = False,
    rotation: Annotated[
        str | None, typer.Option(metavar="NAME", help="Rotation of factors, such as varimax or oblimin.")
    ] = None,
    ridge: Annotated[
        str | None, typer.Option(metavar="R", help="Penalty of kernel-ridge, cca and kernel-cca; R,S for two views.")
    ] = None,
    c: Annotated[float | None, typer.Option("--C", metavar="C", help="Price of errors of kernel-svm.")] = None,
    solver: Annotated[str | None, typer.Option(metavar="NAME", help="Solver; chosen by itself if not given.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of iterative solvers.")] = None,
    memory: o.Memory = None,
    threads: o.Threads = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what the fit would cost; fit and write nothing.")
    ] = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> o.Job:
    """Return the job of ``gramian fit``."""
    special = {
        "kernel": kernel,
        "kernel-y": kernel_y,
        "landmarks": landmarks,
        "preimage": preimage,
        "whiten": whiten,
        "rotation": rotation,
        "ridge": o.read_ridge(ridge),
        "C": c,
        "solver": solver,
        "seed": seed,
    }
    request = FitRequest(
        table=table,
        method=method,
        n_components=o.read_components(components),
        output=output,
        model_file=model,
        scale=scale,
        missing=missing,
        columns=o.names(columns),
        targets=o.names(target),
        y_table=y_table,
        label=label,
        ids=ids,
        encode=o.names(encode),
        dates=o.names(dates),
        stream=stream,
        scheduler=scheduler,
        dialect=o.read_dialect(read),
        options=o.given(**special),
        settings=o.given(memory=memory, threads=threads),
    )

    def job() -> None:
        o.check_streams(json=json, output=output)
        if dry_run:
            foresee(request, json=json, quiet=quiet)
            return
        fitted = fit_table(request, quiet=quiet or json)
        if json:
            print(as_json(fitted))
        elif not quiet:
            print(as_text(fitted), file=sys.stderr if output == "-" else sys.stdout)

    return job
