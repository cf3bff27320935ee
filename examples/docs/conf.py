"""How the site is built. Its sources begin at the root of the repository, so that READMEs are its pages."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [
    str(HERE),
    *(str(HERE.parents[1] / p) for p in ("processors", "concurrency", "palettes", "lab")),
]

project = "millstream"
author = "The millstream authors"
copyright = "the millstream authors, Apache License 2.0"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "site_extension",
]
root_doc = "examples/docs/index"
include_patterns = [
    "*.md",
    "processors/README.md",
    "concurrency/README.md",
    "palettes/README.md",
    "palettes/millstream/palettes/*/README.md",
    "lab/README.md",
    "lab/millstream/lab/*/README.md",
    "examples/README.md",
    "examples/docs/**.md",
    "tests/README.md",
]
html_theme = "furo"
html_title = "millstream"
html_static_path: list[str] = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#2a6f6b", "color-brand-content": "#2a6f6b"},
    "dark_css_variables": {"color-brand-primary": "#7fc7c1", "color-brand-content": "#7fc7c1"},
}
html_show_sphinx = False
html_copy_source = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
myst_fence_as_directive = ["mermaid"]

# Docstrings are written for readers of code: single backquotes are code, sections are numpy's.
default_role = "code"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False
napoleon_preprocess_types = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
autodoc_default_options = {"members": True}
add_module_names = False
python_use_unqualified_type_names = True
# Links inside READMEs to files that are no pages (programs, tests) stay links to files.
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]
