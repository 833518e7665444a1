"""Settings of the Sphinx build; `sphinx-build -W docs docs/_build/html` needs no network."""

import warnings
from importlib import metadata

import matplotlib as mpl

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
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # MathJax in the pages themselves: formulas show without a network
]
exclude_patterns = ["_build", "examples"]
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# API pages: one page a module, found by walking the package; a new file needs no entry here.
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
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
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = "refsvm"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {
    "getting_started": [],
    "notation": [],
    "choosing": [],
    "data": [],
    "changelog": [],
    "contributing": [],
}
html_show_sourcelink = False
