"""The style sheet of the report's page, and the script that sorts its tables. The series have eight colours that people with any colour vision
can distinguish (after Okabe and Ito).
"""

from __future__ import annotations

from collections.abc import Iterable

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5cc4", "#777777")

LIGHTER = {0: "#4ba3e3", 6: "#a894f0"}
"""On a dark page."""


def _colours(chosen: Iterable[tuple[int, str]]) -> str:
    return f":root{{{';'.join(f'--c{i}:{colour}' for i, colour in chosen)}}}"


_SERIES = (
    _colours(enumerate(COLOURS))
    + f"@media(prefers-color-scheme:dark){{{_colours(LIGHTER.items())}}}"
    + "".join(
        f".line.c{i}{{stroke:var(--c{i})}}.dot.c{i},.key.c{i}{{fill:var(--c{i});background:var(--c{i})}}"
        for i in range(len(COLOURS))
    )
)

STYLE = (
    """
:root{--ink:#1d2328;--soft:#5d6770;--rule:#e2e6ea;--page:#fff;--bad:#b3261e;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#9aa5ae;--rule:#333b42;--page:#15191d;--bad:#ff8a80}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:1360px;margin:2rem auto;padding:0 1.2rem}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin:2rem 0 .6rem}
.how{margin:.1rem 0;color:var(--soft)}.wrong{color:var(--bad);font-weight:600}
.wide{overflow-x:auto;margin-bottom:.5rem}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13.5px}
th,td{padding:.25rem .7rem;text-align:right;white-space:nowrap}.named td{border-top:1px solid var(--rule)}
th{color:var(--soft);font-weight:600}th button{all:unset;cursor:pointer}th button:hover,th button:focus-visible{color:var(--ink);text-decoration:underline}
th[aria-sort] button{color:var(--ink)}th[aria-sort=ascending] button::after{content:" ↑"}th[aria-sort=descending] button::after{content:" ↓"}
table:not(.sorted) .again td:nth-child(-n+2){color:transparent}table.sorted td{border-top:1px solid var(--rule)}th:first-child,td:first-child{text-align:left;padding-left:0}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr));gap:1.4rem 2.4rem;margin-top:1.6rem;align-items:start}
.maps{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:1rem 1.4rem;align-items:start}.maps img{width:100%;height:auto;display:block;border:1px solid var(--rule)}
h3{font-size:1rem;margin:1.4rem 0 .5rem}.maps figcaption{font-weight:400;margin:.3rem 0}a{color:inherit}
figure{margin:0}figcaption{font-weight:600;margin-bottom:.3rem}small{font-weight:400;color:var(--soft)}
svg{width:100%;height:auto;display:block}.grid{stroke:var(--rule)}.tick,.title{fill:var(--soft);font-size:12px}
.mid{text-anchor:middle}.end{text-anchor:end}.line{fill:none}.dot{fill-opacity:.8}
.legend{margin:.2rem 0 0 62px;font-size:13px;display:flex;flex-wrap:wrap;gap:.2rem 1rem}
.key{display:inline-block;width:.75em;height:.75em;border-radius:50%;margin-right:.4em}
"""
    + _SERIES
)

SCRIPT = """
for (const table of document.querySelectorAll("table")) table.tHead.addEventListener("click", event => {
  const head = event.target.closest("th")
  if (!head) return
  const falls = head.getAttribute("aria-sort") === "ascending", column = head.cellIndex
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort")
  head.setAttribute("aria-sort", falls ? "descending" : "ascending")
  const rows = [...table.tBodies[0].rows].map(row => {
    const cell = row.cells[column], worth = cell.dataset.worth
    return {row, text: cell.textContent, worth: worth === undefined ? null : Number(worth)}
  })
  const compare = (a, b) => a.worth !== null && b.worth !== null ? a.worth - b.worth : a.text.localeCompare(b.text)
  const isLast = each => each.worth === null && (each.text === "" || each.text === "–")
  rows.sort((a, b) => isLast(a) - isLast(b) || (falls ? compare(b, a) : compare(a, b)))
  table.classList.add("sorted")
  table.tBodies[0].append(...rows.map(each => each.row))
})
"""
"""Sorts figures by value, words alphabetically, and missing cells last."""
