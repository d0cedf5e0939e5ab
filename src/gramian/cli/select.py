"""``gramian select``: how many components, or which kernel."""

from __future__ import annotations

from typing import Any

from gramian.cli import options as o
from gramian.cli.fit import source
from gramian.cli.inputs import Inputs, gather, select_code
from gramian.cli.options import Request
from gramian.cli.outputs import UsageError, in_options, remarks, some, tell, working
from gramian.registry import METHODS
from gramian.selection import HowMany, KernelChoice, how_many, select_kernel
from gramian.selection.kernels import ESTIMATORS
from gramian.tables import Standardizer

#: Methods whose components are counted, and those whose kernels are compared.
COUNTED_METHODS = [name for name, record in METHODS.items() if record.counted]
KERNEL_METHODS = [name for name in ESTIMATORS if name not in COUNTED_METHODS]
RIDGE_METHODS = ", ".join(name for name in COUNTED_METHODS if METHODS[name].takes("ridge"))
HELP = f"""Choose the number of components, or the kernel.

All criteria are printed side by side. A star marks the one that decides; -k auto of gramian fit asks the same one.
{" and ".join(KERNEL_METHODS)} compare kernels, and say how good the choice is on rows that were not used to make it.

\b
Methods:
{o.method_table({"how many components": COUNTED_METHODS, "which kernel": KERNEL_METHODS})}

\b
Example:
  gramian demo --output demo
  gramian select demo/wine.csv --scale
  gramian select demo/wine.csv --method factor-analysis
  gramian select demo/diabetes.csv --method pls --target progression
  gramian select demo/linnerud.csv --method cca --y-columns Weight,Waist,Pulse --ridge 0.1
  gramian select demo/iris.csv --method kernel-svm --label species
"""


@o.options(
    "table method scale columns target y_table label ids missing encode dates read kernel ridge criteria_seed memory "
    "threads quiet json",
    ridge=o.option(metavar="R", help=f"Penalty of {RIDGE_METHODS}; R,S for two views."),
    # Of the criteria, whatever the method takes.
    criteria_seed=o.option(
        "--seed", kind=int | None, metavar="N", help="Seed of random tables, permutations and folds."
    ),
)
def select(request: Request) -> None:
    """Read the table, ask how many components there are or which kernel is best, and print the answer."""
    request.check()
    if request.method not in (*COUNTED_METHODS, *KERNEL_METHODS):
        known = ", ".join((*COUNTED_METHODS, *KERNEL_METHODS))
        raise UsageError(f"--method {request.method} has nothing to select. Use one of {known}.")
    if request.missing == "em":
        raise UsageError("--missing em cannot be used here: criteria need complete rows. Use --missing drop.")
    with working(request) as bar:
        with bar.step("reading"):
            inputs = gather(request, imputes=False)
        X, options = _arguments(request, inputs)
        with bar.step("selecting"):
            if request.method in COUNTED_METHODS:
                answer: HowMany | KernelChoice = how_many(X, request.method, y=inputs.y, **options)
            else:
                answer = select_kernel(X, inputs.y, estimator=request.method, **options)
    table, code = inputs.table, select_code(request, inputs, _call(request, options))
    facts = {"source": table.source, "dropped": remarks(table), "method": request.method, "python": "\n".join(code)}
    told = in_options(str(answer))
    if request.quiet and not request.json:
        print(told)
    head = [source(request, inputs), *([f"set aside: {some(table.dropped)}"] if table.dropped else [])]
    text = "\n".join([*head, "", told, "", *code])
    tell(request, lambda: text, lambda: {**answer.to_dict(), **facts})


def _arguments(request: Request, inputs: Inputs) -> tuple[Any, dict[str, Any]]:
    """Rows, and the options that the criteria know; columns are scaled first if they do not know that."""
    X = Standardizer().fit_transform(inputs.X) if request.standardizes else inputs.X
    options: dict[str, Any] = {"random_state": request.criteria_seed}
    if request.record.has("scale"):
        options["scale"] = request.scale
    if request.method in KERNEL_METHODS and request.options:
        raise UsageError(
            f"--{next(iter(request.options))} is what is to be selected for {request.method}. Leave it out."
        )
    options |= request.options
    return X, {name: value for name, value in options.items() if value is not None}


def _call(request: Request, options: dict[str, Any]) -> str:
    X = "Standardizer().fit_transform(X)" if request.standardizes else "X"
    words = "".join(f", {name}={value!r}" for name, value in options.items())
    if request.method in COUNTED_METHODS:
        return f"how_many({X}, {request.method!r}{', y=y' if request.record.needs else ''}{words})"
    return f"select_kernel({X}, y, estimator={request.method!r}{words})"
