"""What was done, and the program that does it again."""

from __future__ import annotations

import re
from typing import Any

from gramian.construction import construction, unwritten
from gramian.reports.contents import Code, Facts, Section
from gramian.reports.program import program
from gramian.reports.sentences import method_in_words, say
from gramian.reports.subject import Subject


def done(subject: Subject) -> Section:
    """The method in words, and the summary of the fit."""
    summary = subject.estimator.summary_
    lines = [("data", subject.source)] if subject.source else []
    if subject.piped:
        lines.append(("first", "columns were centred and divided by their standard deviations"))
    lines += [("fitted", rounded(", ".join(summary.title[1:]))), *summary.lines, ("call", construction(subject.model))]
    parts: list[Any] = [Facts("Summary", _named_lines(lines))]
    return Section("What was done", method_in_words(subject.estimator), parts)


def code(subject: Subject) -> Section:
    """The program."""
    if subject.refits:
        says = [say("program"), *([] if unwritten(subject.model) else [say("seeds")])]
    else:
        says = [say("program_of_model" if subject.X is None else "program_of_other_rows")]
    return Section("Code", says, [Code("Python", program(subject))])


def rounded(text: str) -> str:
    """Text in which no number has more than four digits behind the point.

    >>> rounded("rbf(gamma=0.0295981723785551), 215 x 100")
    'rbf(gamma=0.0296), 215 x 100'
    """
    return re.sub(r"\d+\.\d{5,}", lambda found: f"{float(found[0]):.4g}", text)


def _named_lines(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Lines without a label go on the one before."""
    found: list[tuple[str, str]] = []
    for label, text in lines:
        if not label and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {text}")
        else:
            found.append((label, text))
    return found
