"""Formulas as MathML, which browsers draw by themselves: no script, no font and no network at view."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number


def mathml(tex: str, display: str) -> str:
    """Return a formula as a ``<math>`` element; one that cannot be read is an error, not a gap in the page."""
    # A prime as a superscript is tiny in most fonts; the sign itself has the right size and place.
    plain = tex.strip().replace("'", "\N{PRIME}").replace(r"\arg\min", r"\operatorname{arg}\min")
    try:
        found = convert(plain, display=display)
    except Exception as error:
        raise ExtensionError(f"the formula {tex!r} cannot be turned into MathML: {error!r}") from error
    if "\\" in found or "&amp;" in found:  # what is not understood is passed on as it stands
        raise ExtensionError(f"the formula {tex!r} has a command that is not known: use another.")
    return found


def visit_inline(writer: Any, node: nodes.math) -> None:
    """Write a formula in a line."""
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})</span>')
    writer.body.append(mathml(node.astext(), "block") + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
