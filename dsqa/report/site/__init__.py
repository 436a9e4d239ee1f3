"""The whole report of a study: a website with a page for each notebook, and all of them as one document."""

from dsqa.report.site.build import SiteResult, build_site, shipped_notebooks

__all__ = ["SiteResult", "build_site", "shipped_notebooks"]
