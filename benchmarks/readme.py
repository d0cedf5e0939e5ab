"""Write the table of the README from the figures of the last ``make bench``: ``python -m benchmarks.readme``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.__main__ import RESULTS
from benchmarks.ratios import EVERYDAY, mean

README = Path(__file__).parents[1] / "README.md"
MARKS = re.compile(r"(<!-- bench -->\n).*?(<!-- /bench -->)", re.DOTALL)


#: Contests of parts, which the README leaves out.
HIDDEN = (
    *("K V", "kernel PCA, n = 2,000", "slow spectrum", "ten starts", "n = 5,000, k = 10", "ridge 0.001"),
    *("how many", "against a loop", "batches of 1,024", "CSV"),
    *("landmarks of", "pivoted Cholesky", "200,000 x 20", "1,000,000 x 20, float64", "ridge through"),
)


def shown(outcome: dict[str, Any]) -> bool:
    """Whether the README has that contest."""
    return not any(words in outcome["contest"] for words in HIDDEN)


def table(results: dict[str, Any]) -> str:
    """Markdown: our time and memory, and the best peer's as multiples of ours."""
    lines = ["| | gramian | memory above the data | fastest peer | its memory |", "|---|---|---|---|---|"]
    for outcome in filter(shown, results["contests"]):
        (_, ours), *peers = outcome["results"].items()
        others = [(name, peer) for name, peer in peers if not name.startswith(("bare", "gramian"))]
        time, memory = f"{ours['seconds']:.2g} s", f"{ours['peak_mb']:.0f} MB"
        if others:
            name, best = min(others, key=lambda pair: pair[1]["seconds"])
            rest = f"{best['seconds'] / ours['seconds']:.1f} x ({name}) | {best['peak_mb']:,.0f} MB"
        else:
            rest = f"{outcome['note']} | " if outcome["note"] else " | "
        lines.append(f"| {outcome['contest']} | {time} | {memory} | {rest} |")
    about, dates = results["about"], sorted({outcome["date"] for outcome in filter(shown, results["contests"])})
    return (
        "\n".join(lines)
        + f"\n\nBy `make bench`, {' and '.join(dates)}: medians, both sides turn by turn in one contest; "
        + f"{about['processors']} processors ({about['machine']}), scikit-learn {about['scikit-learn']}, "
        + f"NumPy {about['numpy']}. All contests are in `benchmarks/results.json`.\n"
    )


#: How the sweep writes its peers -> their names; all others are scikit-learn's.
PEERS = {
    **{"Faiss": "FAISS", "intel": "oneDAL", "zoo": "cca-zoo", "Ikpls": "ikpls", "Picard": "picard"},
    "Tslearn": "tslearn",
}


def plain(name: str) -> tuple[str, str]:
    """Estimator and verb of a call of the sweep, and the peer with the table, in words."""
    verb, rest = name.split(", ", 1)
    where, pair = rest.split(": ", 1)
    ours, peer = pair.split(" | ")
    verb = {"fit": "fit", "of rows": "answers for rows", "of one row": "answer for one row"}[verb]
    return f"{ours.split('(')[0]}, {verb}", f"{PEERS.get(peer.split('(')[0], 'scikit-learn')}, {where}"


def everyday(results: dict[str, Any]) -> str:
    """Markdown: the sweep of ordinary calls in a paragraph, with the worst five estimators."""
    calls = sorted(results["calls"], key=lambda call: call["ratio"])
    ratios, found = [call["ratio"] for call in calls], dict[str, str]()
    for call in calls:
        ours, peer = plain(call["call"])
        found.setdefault(ours, f"{ours}: {call['ratio']:.2f} ({peer})")
    worst = "; ".join([*found.values()][:5])
    return (
        f"\nThose are large problems. Of {len(calls)} ordinary calls at ordinary sizes (fit, transform, predict; "
        f"`make bench-everyday`, {results['about']['date']}) {sum(r < 1 for r in ratios)} take longer than the peer's; "
        f"the geometric mean of the ratios of times, peer / gramian, is {mean(ratios):.2f}, "
        f"and {mean(ratios[:-10]):.2f} without the ten best. The worst are {worst}. "
        "All are in `benchmarks/everyday.json`.\n"
    )


def figures() -> str:
    """All that stands between the marks."""
    text = table(json.loads(RESULTS.read_text()))
    return text + everyday(json.loads(EVERYDAY.read_text())) if EVERYDAY.exists() else text


def main() -> None:
    """Put the figures between their marks."""
    README.write_text(MARKS.sub(lambda m: m[1] + figures() + m[2], README.read_text()))


if __name__ == "__main__":
    main()
