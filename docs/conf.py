"""Settings of the Sphinx build; `sphinx-build -W docs docs/_build/html` needs no network."""

import os
import re
import sys
import warnings
from importlib import metadata
from pathlib import Path
from types import GenericAlias

import matplotlib as mpl

os.environ["REFSVM_COMPILE_BESIDE"] = "0"  # pages show the same engines whatever is compiled already
sys.path.insert(0, str(Path(__file__).parent / "_ext"))  # the extensions that are these pages' own
import book
import formulas
import moved

mpl.use("agg")
# sphinx-gallery would print a warning of a tutorial into its page; here it ends the build instead.
warnings.filterwarnings("error", module="refsvm")

project = "refsvm"
author = "The refsvm developers"
copyright = "2026, The refsvm developers"  # noqa: A001 (the name is Sphinx's)
release = metadata.version("refsvm")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "formulas",  # as MathML, so that a page loads no program for them
    "sphinx.ext.viewcode",
    "sphinx_design",  # answers to exercises, folded
    "sphinx_gallery.gen_gallery",
    "stepper",  # SMO and the path of C, driven by the reader
    "rules",  # the table of all rules
    "layout",  # pictures of the folders, and the way of one solve through the files
    "lean",  # without the parts of styles and pages that no reader sees
    "moved",  # old addresses lead to the new ones
    "public_names",  # `SVC` and `refsvm.solve` in docstrings lead to their pages
    "book",  # shipped code on the page, folded answers, notebooks without reST
    "assignments",  # notebooks with blanks
    "closing",  # the box at the end of a chapter: steps, kernel rows and seconds on five sets
    "kit",  # slides, exercises and the zip for lecturers, made from the chapters
    "bibliography",  # years of papers lead to the bibliography
    "apparatus",  # terms and symbols are linked at first use; an index of the book
    "sphinxcontrib.bibtex",  # the bibliography
]
html_math_renderer = formulas.RENDERER
if formulas.RENDERER == "mathjax":
    extensions.append("sphinx-mathjax-offline")  # without a network
# Files that are included in a page, or are for maintainers; and pages of earlier builds, which a clone may still hold.
exclude_patterns = ["_build", "examples", "decisions", "lecturing", "lectures/[sR]*", "layout.md"]
exclude_patterns += [f"{page}.*" for page in (*moved.MOVED, *moved.IN_REPOSITORY)]
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# API pages: one page a module, found by walking the package; a new file needs no entry here.
autosummary_generate = True
autodoc_member_order = "bysource"
add_module_names = False
toc_object_entries = False  # a page of a module does not list its members once more
default_role = "py:obj"
autodoc_typehints = "none"
# Made by scikit-learn, with references into its own documentation.
autodoc_default_options = {"exclude-members": "set_fit_request, set_partial_fit_request, set_score_request"}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": ["../tutorials", "examples"],
    "gallery_dirs": ["gallery/tutorials", "gallery/examples"],
    "filename_pattern": r"/\d\d_",
    "ignore_pattern": r"(^|/)(?!\d\d_)[^/]*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "image_srcset": ["2x"],
    "image_scrapers": ("figures.scraper",),  # with descriptions in sentences, and as SVG
    "plot_gallery": "True",
    "first_notebook_cell": book.INSTALL,
    "write_computation_times": False,
    "default_thumb_file": str(
        Path(__file__).parent / "_static" / "favicon.svg"
    ),  # of a page without a picture
}

bibtex_bibfiles = ["refsvm.bib"]

html_theme = "pydata_sphinx_theme"
html_title = "refsvm"
html_static_path = ["_static", "../refsvm/display/static"]  # the second is the drawing code of notebooks, too
html_css_files = ["icons.css", "refsvm.css"]
html_js_files = ["edges.js"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,  # the six parts, one row at 1280 pixels
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["group", "page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"**": []}
html_show_sourcelink = False
html_use_index = False  # a page of 0.6 MB, which lists the names that the search finds


LONG_VALUE = 600  # characters; the types of compiled functions have thousands


def as_typed(line):
    """Escape what reST would read as markup: "T. Name" is no item of a list, |x| no substitution."""
    line = re.sub(r"^(\s*[A-Z])\. ", r"\1\\. ", line)
    if re.search(r"\\|>>>", line):  # LaTeX or code
        return line
    quoted_or_bars = r"(``.*?``|`[^`]*`)|\|(?=[^\s|])([^|`]*[^\s|])\|"
    return re.sub(quoted_or_bars, lambda found: found[1] or rf"\|{found[2]}\|", line)


def set_docstring(app, what, name, obj, options, lines):
    """Set a docstring as it is typed; an indented block before the first section is a formula.

    Sphinx calls this with the lines of each docstring, to be changed in place, before numpydoc sees them.
    """
    prose, *sections = re.split(r"(?m)^(?=\S+\n-{3,}$)", "\n".join(lines), maxsplit=1)
    # a block of lines indented by four, after a paragraph that is neither a directive nor an item of a list
    formula = r"(?m)^(?!\.\. |[-*] |.*::$)(\S.*\n\n)((?: {4}.*\n?|\n(?= {4}))+)"
    prose = re.sub(formula, r"\1.. code-block:: text\n\n\2", prose)
    lines[:] = [line if line.startswith(" ") else as_typed(line) for line in prose.split("\n")]
    if sections:
        examples = re.compile(r"(?ms)^(\s*>>>.*?(?:\n\s*$|\Z))")  # with what they print
        parts = enumerate(examples.split(sections[0]))
        typed = (part if k % 2 else "\n".join(map(as_typed, part.split("\n"))) for k, part in parts)
        lines[-1:] = "".join(typed).split("\n")


def skip_noise(app, what, name, obj, skip, options):
    """Leave out what fills pages: names of types, values of many lines, and "Alias for field number 3"."""
    noise = isinstance(obj, GenericAlias) or len(repr(obj)) > LONG_VALUE
    return True if noise or str(obj.__doc__).startswith("Alias for field number") else skip


def hide_oracles(app, module):
    """Return no source for the oracles of the assignments, because some of them answer an assignment."""
    return ("", {}) if module == "refsvm.testing.assignments" else None


def skip_unread(app, env):
    """Leave hidden modules, and modules that Sphinx cannot parse (with ** in a decorator), out of the sources."""
    modules = getattr(env, "_viewcode_modules", {})
    for name in [name for name, read in modules.items() if not read or not read[0]]:
        del modules[name]


def setup(app):
    """Connect the functions above."""
    app.connect("viewcode-find-source", hide_oracles)
    app.connect("env-updated", skip_unread)
    app.connect("autodoc-skip-member", skip_noise)
    app.connect("autodoc-process-docstring", set_docstring, priority=400)
