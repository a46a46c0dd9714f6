import { baseStyle } from '../graph/page-style.js';

export const reportStyle: string = `${baseStyle}
:root { --good: light-dark(#0b6b4f, #5fd3a8); --bad: light-dark(#b3261e, #ff9a8f); }
header, main { max-width: 1180px; margin: 0 auto; padding: 16px 22px; }
header { padding-bottom: 0; }
header p { margin: 0; color: var(--soft); }
h2 { margin: 26px 0 8px; font-size: 16px; }
h3 { margin: 14px 0 0; font-size: 14px; overflow-wrap: anywhere; }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 8px 12px; text-align: right; vertical-align: top; border-top: 1px solid var(--line); white-space: nowrap; }
thead th { border-top: 0; font-size: 13px; color: var(--soft); background: var(--raised); }
th:first-child { text-align: left; white-space: normal; min-width: 9em; overflow-wrap: anywhere; }
td b, td small, td meter { display: block; margin-left: auto; }
td small { color: var(--soft); font-size: 12px; }
ol, ul { padding-left: 1.6em; margin: 6px 0; }
.differences { list-style: none; padding: 0; font-size: 14px; }
details > .differences { padding: 0 14px 10px; }
.questions { list-style: none; padding: 0; }
.questions > li { margin-bottom: 6px; }
main:has(#missed:checked) .complete { display: none; }
label { cursor: pointer; } input { accent-color: var(--focus); }
details { border: 1px solid var(--line); border-radius: 8px; background: var(--raised); }
summary { display: flex; flex-wrap: wrap; gap: 2px 14px; padding: 9px 12px; }
summary::before { content: '▸'; color: var(--soft); } details[open] > summary::before { content: '▾'; }
.question { flex: 1 1 26em; min-width: 0; font-weight: 600; overflow-wrap: anywhere; }
.marks { display: flex; flex-wrap: wrap; gap: 2px 12px; font-size: 13px; }
.good > .source, span.good { color: var(--good); } .bad { color: var(--bad); overflow-wrap: anywhere; }
section { padding: 0 14px 10px; } section p { margin: 4px 0; }
section li { margin: 8px 0; }
.source { font-size: 13px; color: var(--soft); overflow-wrap: anywhere; }
.text { margin: 0; max-height: 9em; overflow-y: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 14px; }
@media print { details { break-inside: avoid; } label { display: none; } }
`;
