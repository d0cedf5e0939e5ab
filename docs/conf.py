"""How the documentation is built: ``make docs``, offline, warnings are errors."""

import re
import sys
from pathlib import Path

import matplotlib

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]
matplotlib.use("Agg")

import gramian  # noqa: E402
from gramian.kernels import dot_product, stationary  # noqa: E402
from gramian.registry import RECORDS  # noqa: E402

project = "gramian"
author = "The gramian developers"
copyright = "The gramian developers, BSD 3-Clause"
version = release = gramian.__version__

extensions = [
    "counts",
    "mathml",
    "walks",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "api/_*",
    "_ext",
    "_templates",
    "tutorials",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
templates_path = ["_templates"]

# Pages are Markdown; formulas stand between dollars.
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# Docstrings have two sections of their own. Types in them are words for people, not names to link.
napoleon_custom_sections = ["Definition", "Cost", ("Attributes", "params_style")]
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"

# Estimators of a page of the reference come from the registry, kernels from their modules. autosummary looks for lists
# in files, not in pages.
for _page in sorted({record.page for record in RECORDS}):
    _names = "".join(f"   {record.name}\n" for record in RECORDS if record.page == _page)
    (HERE / "api" / f"_{_page}.rst").write_text(
        f".. currentmodule:: gramian\n\n.. autosummary::\n   :toctree: generated\n\n{_names}"
    )
_names = "".join(f"   {name}\n" for name in stationary.__all__ + dot_product.__all__)
(HERE / "api" / "_kernels.rst").write_text(
    f".. currentmodule:: gramian.kernels\n\n.. autosummary::\n   :toctree: generated\n\n{_names}"
)
autosummary_generate = [str(path.relative_to(HERE)) for path in sorted((HERE / "api").glob("*.*"))]
autosummary_imported_members = True
add_module_names = False
nitpick_ignore_regex = [("py:.*", r"(numpy|scipy|sklearn|matplotlib|collections|typing|abc)\..*")]

html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"gramian {version}"
html_static_path = ["_static"]
html_css_files = ["gramian.css"]
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"

EXAMPLES = HERE.parent / "examples"
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE / "tutorials"), str(EXAMPLES)],
    "gallery_dirs": ["lessons", "gallery"],
    "filename_pattern": r"(lesson|plot)_.*\.py",
    "ignore_pattern": r"^(?!.*(lesson|plot)_).*\.py$",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 5,
    "remove_config_comments": True,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "backreferences_dir": None,
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
}


def only_rest_headers(app):
    """A README.md beside data is no header of a gallery; sphinx-gallery asks for all suffixes that Sphinx reads."""
    app.config.sphinx_gallery_conf["source_suffix"] = {".rst": "restructuredtext"}


def plain_words(app, what, name, obj, options, lines):
    """Docstrings inherited from scikit-learn link to pages of its own: keep the words. So are types of attributes."""
    if what in ("attribute", "data", "property"):
        lines[:] = [line.removeprefix(":type: ") for line in lines]
    if not (getattr(obj, "__module__", None) or "").startswith("gramian"):
        lines[:] = [re.sub(r":(?:ref|term|class|func|meth):`~?([^<`]*?) ?(?:<[^>]*>)?`", r"\1", line) for line in lines]


#: Drawn by ``make bench``, which takes longer than a build of these pages should.
FLAGSHIP = HERE / "pictures" / "kernel_pca_100000.png"
FIGURE = f"""
:::{{figure}} pictures/{FLAGSHIP.name}
:alt: Scores of 100,000 points on the first four kernel principal components

Kernel PCA of 100,000 points. The kernel matrix, 80 GB, is never formed.
:::
"""


def show_flagship(app, page, source):
    """Put the picture of 100,000 points on the first page, if it has been drawn."""
    if page == "index" and FLAGSHIP.exists():
        source[0] = source[0].replace("% flagship", FIGURE)


def setup(app):
    """Connect what the settings above cannot say."""
    app.connect("autodoc-process-docstring", plain_words)
    app.connect("source-read", show_flagship)
    app.connect("builder-inited", only_rest_headers, priority=100)
