"""Make `reference.docx`, the look of reports in Word, from the one that pandoc brings.

Run from the root of the repository: ``python reports/word/make_reference.py``.
"""

from __future__ import annotations

import io
import re
import subprocess
import zipfile
from pathlib import Path

import pypandoc

TARGET = Path(__file__).with_name("reference.docx")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
INK, SOFT, LINE, WASH = "1C2126", "545B64", "BFC4CA", "F2F4F6"
_BARS = {"note": SOFT, "tip": "14532D", "important": "14508C", "warning": "6B4700", "caution": "8A1C1C"}


def _paragraph(
    identifier: str, name: str, based_on: str, *, layout: str = "", letters: str = "", own: bool = True
) -> str:
    custom = ' w:customStyle="1"' if own else ""
    return (
        f'<w:style w:type="paragraph"{custom} w:styleId="{identifier}"><w:name w:val="{name}"/>'
        f'<w:basedOn w:val="{based_on}"/><w:qFormat/><w:pPr>{layout}</w:pPr><w:rPr>{letters}</w:rPr></w:style>'
    )


def _size(points: float, colour: str = "", *, bold: bool = False) -> str:
    """Return run properties in the order that the schema wants."""
    half = round(2 * points)
    return (
        ("<w:b/>" if bold else "")
        + (f'<w:color w:val="{colour}"/>' if colour else "")
        + f'<w:sz w:val="{half}"/><w:szCs w:val="{half}"/>'
    )


def _gap(before: int, after: int, line: int = 0) -> str:
    """Return spacing in twentieths of a point; `line` in 240ths of a line."""
    lines = f' w:line="{line}" w:lineRule="auto"' if line else ""
    return f'<w:spacing w:before="{before}" w:after="{after}"{lines}/>'


def _heading(level: int, points: float, before: int) -> str:
    layout = f'<w:keepNext/><w:keepLines/>{_gap(before, 80)}<w:outlineLvl w:val="{level - 1}"/>'
    letters = _size(points, INK, bold=True)
    return _paragraph(f"Heading{level}", f"heading {level}", "Normal", layout=layout, letters=letters, own=False)


def _callout(kind: str) -> tuple[str, str]:
    bar = f'<w:pBdr><w:left w:val="single" w:sz="24" w:space="8" w:color="{_BARS[kind]}"/></w:pBdr>'
    box = f'<w:shd w:val="clear" w:color="auto" w:fill="{WASH}"/>'
    name = f"Callout {kind.title()}"
    edge = '<w:ind w:left="200" w:right="100"/>'
    title = _paragraph(
        f"Callout{kind.title()}Title", f"{name} Title", "BodyText",
        layout=f"<w:keepNext/>{bar}{box}{_gap(160, 0)}{edge}", letters="<w:b/>",
    )  # fmt: skip
    body = _paragraph(f"Callout{kind.title()}", name, "BodyText", layout=f"{bar}{box}{_gap(0, 0, 276)}{edge}")
    return title, body


_LINES = "".join(
    f'<w:{side} w:val="single" w:sz="{width}" w:space="0" w:color="{colour}"/>'
    for side, width, colour in (("top", 8, SOFT), ("bottom", 4, LINE), ("insideH", 4, LINE))
)
_TABLE = (
    '<w:style w:type="table" w:default="1" w:styleId="Table"><w:name w:val="Table"/><w:basedOn w:val="TableNormal"/>'
    f'<w:qFormat/><w:tblPr><w:tblInd w:w="0" w:type="dxa"/><w:tblBorders>{_LINES}</w:tblBorders><w:tblCellMar>'
    '<w:top w:w="40" w:type="dxa"/><w:left w:w="70" w:type="dxa"/><w:bottom w:w="40" w:type="dxa"/>'
    '<w:right w:w="70" w:type="dxa"/></w:tblCellMar></w:tblPr><w:trPr><w:cantSplit/></w:trPr>'
    f'<w:tblStylePr w:type="firstRow"><w:tcPr><w:shd w:val="clear" w:color="auto" w:fill="{WASH}"/>'
    '<w:vAlign w:val="bottom"/></w:tcPr></w:tblStylePr></w:style>'
)
_RULE = f'<w:pBdr><w:bottom w:val="single" w:sz="6" w:space="6" w:color="{LINE}"/></w:pBdr>'

STYLES = [
    _TABLE,
    _paragraph("Title", "Title", "Normal", layout=_gap(0, 60), letters=_size(22, INK, bold=True), own=False),
    _paragraph("Subtitle", "Subtitle", "Normal", layout=f"{_RULE}{_gap(0, 240)}", letters=_size(12, SOFT), own=False),
    _heading(1, 18, 360),
    _heading(2, 15, 360),
    _heading(3, 12.5, 260),
    _heading(4, 11, 200),
    _paragraph("BodyText", "Body Text", "Normal", layout=_gap(80, 100, 276), own=False),
    _paragraph("Compact", "Compact", "BodyText", layout=_gap(20, 20)),
    _paragraph("Caption", "Caption", "Normal", layout=_gap(80, 100), letters=_size(9, SOFT), own=False),
    _paragraph("TableCaption", "Table Caption", "Caption", layout=f"<w:keepNext/>{_gap(200, 80)}"),
    _paragraph("ImageCaption", "Image Caption", "Caption", layout=_gap(60, 200)),
    _paragraph("TableText", "Table Text", "Normal", layout=_gap(0, 0), letters=_size(8.5)),
    _paragraph("TableHeading", "Table Heading", "TableText", layout="<w:keepNext/>", letters="<w:b/>"),
    _paragraph(
        "TableNote", "Table Note", "Normal", layout=f"{_gap(20, 180)}<w:contextualSpacing/>", letters=_size(8, SOFT)
    ),
    _paragraph(
        "SourceCode", "Source Code", "Normal",
        layout=f'<w:shd w:val="clear" w:color="auto" w:fill="{WASH}"/>{_gap(80, 80)}',
        letters=f'<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/>{_size(8)}',
    ),
    *(style for kind in _BARS for style in _callout(kind)),
]  # fmt: skip

_DEFAULTS = (
    '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" '
    f'w:cs="Calibri"/>{_size(10.5)}<w:lang w:val="en-GB" w:eastAsia="en-GB" w:bidi="ar-SA"/></w:rPr></w:rPrDefault>'
    '<w:pPrDefault><w:pPr><w:spacing w:after="100"/></w:pPr></w:pPrDefault></w:docDefaults>'
)
_PAGE = (
    '<w:footerReference w:type="default" r:id="rIdFooter"/><w:pgSz w:w="11906" w:h="16838"/>'
    '<w:pgMar w:top="1134" w:right="1134" w:bottom="1247" w:left="1134" w:header="567" w:footer="567" w:gutter="0"/>'
)


def _field(code: str) -> str:
    return f'<w:fldSimple w:instr=" {code} "><w:r><w:rPr>{_size(8, SOFT)}</w:rPr><w:t>1</w:t></w:r></w:fldSimple>'


_FOOTER = (
    f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:ftr {_NAMESPACES}><w:p><w:pPr><w:jc w:val="center"/>'
    f'</w:pPr>{_field("PAGE")}<w:r><w:rPr>{_size(8, SOFT)}</w:rPr><w:t xml:space="preserve"> / </w:t></w:r>'
    f'{_field("NUMPAGES")}</w:p></w:ftr>'
)  # fmt: skip


def _styles(xml: str) -> str:
    xml = re.sub(r"<w:docDefaults>.*?</w:docDefaults>", lambda _: _DEFAULTS, xml, flags=re.DOTALL)
    for style in STYLES:
        [identifier] = re.findall(r'w:styleId="(\w+)"', style)
        xml = re.sub(rf'<w:style [^>]*w:styleId="{identifier}".*?</w:style>', "", xml, flags=re.DOTALL)
        xml = xml.replace("</w:styles>", f"{style}</w:styles>")
    return xml


def make() -> bytes:
    """Return the file; the same bytes for the same pandoc."""
    command = [pypandoc.get_pandoc_path(), "--print-default-data-file", "reference.docx"]
    default = subprocess.run(command, capture_output=True, check=True).stdout
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(default)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        parts = {name: old.read(name).decode() for name in old.namelist()}
        parts["word/styles.xml"] = _styles(parts["word/styles.xml"])
        parts["word/document.xml"] = re.sub(
            r"<w:sectPr>.*?</w:sectPr>", f"<w:sectPr {_NAMESPACES}>{_PAGE}</w:sectPr>", parts["word/document.xml"],
            flags=re.DOTALL,
        )  # fmt: skip
        parts["word/footer1.xml"] = _FOOTER
        parts["word/_rels/document.xml.rels"] = parts["word/_rels/document.xml.rels"].replace(
            "</Relationships>",
            '<Relationship Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footer" '
            'Id="rIdFooter" Target="footer1.xml"/></Relationships>',
        )
        parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(
            "</Types>",
            '<Override PartName="/word/footer1.xml" ContentType="application/vnd.openxmlformats-officedocument.'
            'wordprocessingml.footer+xml"/></Types>',
        )
        for name, text in parts.items():
            new.writestr(zipfile.ZipInfo(name, _EPOCH), text, zipfile.ZIP_DEFLATED)
    return made.getvalue()


if __name__ == "__main__":
    TARGET.write_bytes(make())
