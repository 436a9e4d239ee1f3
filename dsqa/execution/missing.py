"""What a missing import needs: the distribution that provides it, a version where one is asked for, or a guess."""

from __future__ import annotations

import difflib
import re
import sys

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dsqa.execution.interpreter import Environment

__all__ = ["asked_version", "distribution_of", "explain_missing"]

# import name: distribution, where the two differ
_RENAMED = {
    "attr": "attrs", "Bio": "biopython", "bs4": "beautifulsoup4", "Crypto": "pycryptodome",
    "cv2": "opencv-python-headless", "dateutil": "python-dateutil", "dns": "dnspython", "docx": "python-docx",
    "dotenv": "python-dotenv", "faiss": "faiss-cpu", "fitz": "PyMuPDF", "git": "GitPython",
    "imblearn": "imbalanced-learn", "IPython": "ipython", "jose": "python-jose", "jwt": "PyJWT",
    "Levenshtein": "python-Levenshtein", "magic": "python-magic", "mpl_toolkits": "matplotlib",
    "mpl_toolkits.basemap": "basemap", "MySQLdb": "mysqlclient", "OpenSSL": "pyOpenSSL", "PIL": "pillow",
    "pptx": "python-pptx", "psycopg2": "psycopg2-binary", "pylab": "matplotlib", "ruamel": "ruamel.yaml",
    "scikitplot": "scikit-plot", "serial": "pyserial", "skbio": "scikit-bio", "skimage": "scikit-image",
    "sklearn": "scikit-learn", "sklearn_extra": "scikit-learn-extra", "skopt": "scikit-optimize",
    "slugify": "python-slugify", "telegram": "python-telegram-bot", "umap": "umap-learn",
    "yaml": "PyYAML", "zmq": "pyzmq",
}  # fmt: skip
# Of these the import and the distribution have one name; what answers to data-science questions ask for.
_KNOWN = frozenset(
    """
    altair arch arviz autograd baseline bokeh boto3 cartopy catboost category_encoders chromadb contextily
    cufflinks dash dask datasets deap descartes distributed dtreeviz duckdb econml eli5 factor_analyzer fastapi
    fbprophet featuretools fiona flask folium gensim geopandas geopy ggplot gradio graphviz great_expectations
    gurobipy h2o hdbscan holoviews httpx hvplot hypothesis igraph ipywidgets jax jinja2 joblib jupyter kaggle
    keras kneed langchain lifelines lightgbm lime linearmodels llvmlite lxml matplotlib missingno mlflow mlxtend
    mplcursors mpld3 networkx nibabel nltk numba numexpr numpy openai openpyxl optuna ortools osmnx palettable
    pandas pandas_datareader pandas_profiling pandasql pandera panel patsy pingouin plotly plotnine pmdarima
    polars prettytable prince prophet psutil pulp pwlf pyarrow pycaret pydantic pydot pygal pyhive pymc pymc3
    pymongo pymysql pyodbc pypdf pyproj pyreadstat pyspark pytest pytorch_lightning quandl rasterio ray requests
    researchpy rfpimp rich ripser rpy2 scikit_posthocs scipy scrapy seaborn selenium sentence_transformers shap
    shapely simpy spacy sqlalchemy squarify stargazer statannot statannotations statsforecast statsmodels
    streamlit surprise sweetviz sympy tables tabulate tensorflow tensorflow_probability textblob theano
    tidypolars torch torchvision tqdm transformers tsfresh ujson usaddress vaex vega_datasets venn wandb wbdata
    wbgapi wordcloud xarray xgboost xlrd xlsxwriter xlwt ydata_profiling yellowbrick yfinance
    """.split()  # noqa: SIM905
)
# Standard modules that were taken out, and the Python they went with.
_REMOVED = {
    "distutils": "3.12", "imp": "3.12", "asynchat": "3.12", "asyncore": "3.12", "smtpd": "3.12", "cgi": "3.13",
    "cgitb": "3.13", "crypt": "3.13", "imghdr": "3.13", "pipes": "3.13", "telnetlib": "3.13", "lib2to3": "3.13",
    "audioop": "3.13", "chunk": "3.13", "sndhdr": "3.13", "uu": "3.13", "xdrlib": "3.13", "nntplib": "3.13",
}  # fmt: skip
# What some code imports where it means the name it goes by.
_NICKNAMES = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot", "sm": "statsmodels.api", "sns": "seaborn"}
_ASKED = r"(?:pip3?|conda)\s+install[^\n]*?[\s'\"]({name}\s*(?:[=<>~!]=?=?\s*[\w.*]+)(?:\s*,\s*[=<>~!]=?\s*[\w.*]+)*)"
_CLOSE = 0.8


def distribution_of(module: str) -> str | None:
    """Return the distribution that provides an import, or None where no package we know does."""
    top = module.partition(".")[0]
    renamed = _RENAMED.get(module) or _RENAMED.get(top)
    if renamed is not None:
        return renamed
    return top.replace("_", "-") if top in _KNOWN else None


def explain_missing(module: str, text: str, environment: Environment | None, declared: tuple[str, ...]) -> str:
    """Return what an import that is not there needs, in one phrase.

    Parameters
    ----------
    module
        The name that could not be imported, dots included.
    text
        The code, where a ``pip install name==version`` may say which version it was written for.
    environment
        What is installed.
    declared
        The study's own list of requirements.
    """
    top = module.partition(".")[0]
    installed = environment.packages if environment is not None else {}
    version = environment.version if environment is not None else ".".join(map(str, sys.version_info[:3]))
    if top in _REMOVED or top in sys.stdlib_module_names:
        gone = _REMOVED.get(top)
        why = f"taken out in Python {gone}" if gone else f"not in this build of Python {version}"
        return f"needs {module} (of the standard library, {why})"
    name = distribution_of(module)
    if name is None and canonicalize_name(top) in installed:
        name = top
    if name is None:
        known = sorted({*_KNOWN, *_RENAMED, *installed})
        near = [_NICKNAMES[top]] if top in _NICKNAMES else difflib.get_close_matches(top, known, 1, _CLOSE)
        guess = f"; perhaps {near[0]} is meant" if near else ""
        return f"needs {top} (no package that dsqa knows{guess})"
    have = installed.get(canonicalize_name(name))
    if have is not None:
        return f"needs {module}, which {name} {have} lacks"
    wanted = _wanted(name, top, text, declared)
    return f"needs {wanted}" if top == name else f"needs {wanted} (import {module})"


def asked_version(detail: str, text: str) -> str:
    """Return `explain_missing`'s phrase with the version that a response asks for outside its code.

    Installation commands are no code, and equal code with other commands beside it is run once.
    """
    named = re.match(r"needs ([\w.-]+)(?= \(import | at line |$)", detail)
    if named is None:
        return detail
    return f"needs {_asked(named[1], named[1], text) or named[1]}{detail[named.end() :]}"


def _wanted(name: str, top: str, text: str, declared: tuple[str, ...]) -> str:
    """Return the distribution, with the version that the study or the code asks for."""
    for requirement in declared:
        if canonicalize_name(Requirement(requirement).name) == canonicalize_name(name):
            return requirement
    return _asked(name, top, text) or name


def _asked(name: str, top: str, text: str) -> str | None:
    either = "|".join(re.escape(spelled) for spelled in dict.fromkeys((name, top, name.replace("-", "_"))))
    found = re.search(_ASKED.format(name=f"(?:{either})"), text, re.IGNORECASE)
    return re.sub(r"\s+", "", found.group(1)) if found else None
