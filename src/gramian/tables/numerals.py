"""How numbers are written: decimal point or comma, thousands separators, signs of a missing value.

One rule for all text: a file has one decimal mark. A comma is taken for it only if some cell proves it ("1,5" does,
"1,234" may be a thousand). Thousands separators are refused, with the place, unless ``thousands`` names them.
"""

from __future__ import annotations

import re

#: What stands for a missing number. In columns of words these are words.
MISSING = (
    *("", "NA", "na", "N/A", "n/a", "NaN", "nan", "NAN", "-nan", "-NaN", "<NA>", "NaT"),
    *("NULL", "Null", "null", "None", "none", "?", ".", "-"),
    *("#N/A", "#NA", "#N/A N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!", "#SPILL!"),
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
#: Characters between groups of three digits: in the order asked, a comma is English, a point German, a blank French.
GROUPING = {",": ",", ".": r"\.", "'": "['\u2019]", " ": "[ \u00a0\u202f\u2009]"}
EXPONENT = r"(?:[eE][-+]?\d+)?"
WORD_NUMBERS = r"|[-+]?(?:inf|infinity|nan)"


def plain(decimal: str) -> str:
    """Regular expression of a number without thousands separators."""
    mark = re.escape(decimal)
    return rf"\s*(?:[-+]?(?:\d+(?:{mark}\d*)?|{mark}\d+){EXPONENT}{WORD_NUMBERS})\s*"


def grouped(separator: str, decimal: str) -> str:
    """Regular expression of a number with thousands separators."""
    return rf"\s*[-+]?\d{{1,3}}(?:{GROUPING[separator]}\d{{3}})+(?:{re.escape(decimal)}\d*)?\s*"


#: Every pair of a thousands separator and a decimal mark that differ.
CONVENTIONS = tuple((separator, decimal) for separator in GROUPING for decimal in ".," if separator != decimal)
#: Digits of other scripts are numbers to Python, but to no reader of tables.
FLAGS = re.IGNORECASE | re.ASCII
POINT, COMMA = re.compile(plain("."), FLAGS), re.compile(plain(","), FLAGS)
GROUPED = re.compile("|".join(grouped(separator, decimal) for separator, decimal in CONVENTIONS), FLAGS)
NUMERAL = re.compile("|".join(pattern.pattern for pattern in (POINT, COMMA, GROUPED)), FLAGS)
MAYBE_THOUSANDS = re.compile(grouped(",", "."), FLAGS)
#: What can only be a word: no number, date or truth value begins so.
WORD = re.compile(r"\s*(?!(?:true|false|inf|nan)\b)[^\W\d_][^,]*", re.IGNORECASE | re.DOTALL)


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number with a decimal point.

    >>> [is_number(cell) for cell in ("1", " -2.5e3 ", "nan", "", "1_000", "0x1F", "1,5")]
    [True, True, True, False, False, False, False]
    """
    return POINT.fullmatch(cell) is not None


def is_numeral(cell: str) -> bool:
    """Whether a cell reads as a number in some country.

    >>> [is_numeral(cell) for cell in ("1,5", "1.234,5", "1'234", "1 234", "12,34,5", "3-4")]
    [True, True, True, True, False, False]
    """
    return NUMERAL.fullmatch(cell) is not None


def proves_comma(cell: str) -> bool:
    """Whether a cell can only be a number with a decimal comma.

    >>> [proves_comma(cell) for cell in ("1,5", "1.234,5", "1,234", "1.5", "0,123")]
    [True, True, False, False, True]
    """
    if "," not in cell:
        return False
    if re.match(r"\s*[-+]?0,", cell) and COMMA.fullmatch(cell):
        return True  # no thousand begins with a zero
    either = COMMA.fullmatch(cell) or re.fullmatch(grouped(".", ","), cell)
    return bool(either) and not MAYBE_THOUSANDS.fullmatch(cell)


def trouble(cell: str, decimal: str) -> str:
    """Say why a cell that is a number to somebody is none here, and what to do."""
    here = "decimal commas" if decimal == "," else "a decimal point"
    if MAYBE_THOUSANDS.fullmatch(cell) and COMMA.fullmatch(cell):
        return "may be a decimal comma or a thousands separator; say decimal=',' or thousands=','"
    if COMMA.fullmatch(cell):
        return f"has a decimal comma, but numbers of this file have {here}; say decimal=',' or use one mark throughout"
    if POINT.fullmatch(cell):
        return f"has a decimal point, but numbers of this file have {here}; say decimal='.' or use one mark throughout"
    found = next((s for s, d in CONVENTIONS if re.fullmatch(grouped(s, d), cell)), ",")
    return f"has a thousands separator; take those out, or say thousands={found!r}"
