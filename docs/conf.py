"""How the documentation site is built: `make docs`; the pages are the Markdown files of this folder.

Everything is local: the theme brings its styles, fonts and search, formulas are MathML, and nothing is fetched when
the site is built or read.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]  # of this checkout, installed or not
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[1:2] + os.environ.get("PYTHONPATH", "").split(os.pathsep))

from sidelight._version import __version__  # noqa: E402

project = "Sidelight"
author = "The Sidelight developers"
copyright = author
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "docstrings",  # ours, in _ext
    "formulas",
    "repository",
    "terms",
]
exclude_patterns = ["_build", "decisions/0000-template.md"]
nitpicky = True
smartquotes = False  # a prime is no quotation mark
nitpick_ignore_regex = [
    # Types of other packages, of the standard library and of our own insides; public names must be found.
    (r"py:.*", r"(?!sidelight\.[A-Z]\w+$).*"),
]

# Pages: Markdown as git hosts show it. A dollar is a dollar; formulas are typeset by _ext/formulas.py.
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["mystnb.unknown_mime_type"]

# Notebooks are text files in tutorials/, run when the site is built.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # where kernels are compiled first, on a busy machine
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_merge_streams = True

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
autodoc_type_aliases = dict.fromkeys(("Floats", "Longs", "Ints", "Indices", "Bools"), "numpy.ndarray")
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "Sidelight"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_depth": 2,
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "show_prev_next": True,
}
