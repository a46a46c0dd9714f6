/** Colors and font of every HTML page. */
export const baseStyle = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#ffffff, #14171c); --raised: light-dark(#f6f7f9, #1c2027); --line: light-dark(#dfe3e8, #2e343e);
  --ink: light-dark(#1b2430, #e8ecf1); --soft: light-dark(#566273, #a3aebd); --focus: light-dark(#1a5fd0, #7db0ff);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; }
.overline { margin: 0; font-size: 12px; letter-spacing: .08em; text-transform: uppercase; color: var(--soft); }
h1 { margin: 0; font-size: 20px; font-weight: 650; line-height: 1.3; overflow-wrap: anywhere; }
.note { margin: 4px 0 8px; font-size: 14px; color: var(--soft); }
meter { width: 64px; height: 9px; background: var(--line); border: 0; border-radius: 5px; }
meter::-webkit-meter-bar { height: 9px; background: var(--line); border: 0; border-radius: 5px; }
meter::-webkit-meter-optimum-value { background: var(--focus); border-radius: 5px; }
meter::-moz-meter-bar { background: var(--focus); }
summary { cursor: pointer; list-style: none; border-radius: 8px; }
summary::-webkit-details-marker { display: none; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 1px; }
`;

/** The style sheet of the page. Without a script the list fills the page, and the graph is not shown. */
export const pageStyle: string = `${baseStyle}
:root {
  --seed: light-dark(#1f66d6, #6ea8ff); --reached: light-dark(#c2480c, #ff9a5c); --near: light-dark(#8a95a5, #77828f);
  --phrase: light-dark(#7a3fc0, #bb93f0); --similarity: light-dark(#5f6b7a, #93a0b0); --sequence: light-dark(#0d7a68, #4cc9b0);
  --link: light-dark(#b0276f, #f07ab4); --relation: light-dark(#946200, #e0b04a); --triple: light-dark(#3a7a10, #93cf62);
  --other: light-dark(#5f6b7a, #93a0b0);
}
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; }
header { padding: 14px 22px 12px; border-bottom: 1px solid var(--line); }
h2 { margin: 18px 0 6px; font-size: 13px; font-weight: 650; color: var(--soft); }
h3 { margin-top: 12px; margin-bottom: 4px; font-size: 12px; font-weight: 650; color: var(--soft); }
main { flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(0, 1fr) minmax(320px, 400px); }
body:not(.drawn) main { grid-template-columns: minmax(0, 720px); justify-content: center; }
body:not(.drawn) .stage { display: none; }
.stage { position: relative; display: flex; flex-direction: column; min-width: 0; min-height: 0; }
#graph { position: relative; flex: 1; order: 1; min-height: 0; }
aside { overflow-y: auto; padding: 16px 18px 32px; background: var(--raised); border-left: 1px solid var(--line); }
search { display: grid; gap: 4px; }
search label { font-size: 12px; font-weight: 650; color: var(--soft); }
input[type=search] { font: inherit; width: 100%; padding: 7px 10px; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; }
#matches { margin: 4px 0 0; font-size: 13px; color: var(--soft); }
ol, ul { margin: 0; padding: 0; list-style: none; }
#found > li, #others > li { margin-bottom: 6px; }
details { background: var(--paper); border: 1px solid var(--line); border-left: 4px solid var(--near); border-radius: 8px; }
details.seed { border-left-color: var(--seed); }
details.reached { border-left-color: var(--reached); }
details > :not(summary) { margin-left: 12px; margin-right: 12px; }
details > :last-child { margin-bottom: 12px; }
summary { display: flex; align-items: center; gap: 10px; padding: 8px 12px; }
summary b { min-width: 1.3em; font-variant-numeric: tabular-nums; color: var(--soft); }
.name { flex: 1; min-width: 0; }
.title { display: block; font-weight: 600; line-height: 1.35; overflow-wrap: anywhere; }
details:not([open]) :is(.title, .source) { overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.score { display: flex; align-items: center; gap: 6px; font-size: 13px; font-variant-numeric: tabular-nums; color: var(--soft); }
meter::-webkit-meter-optimum-value { min-width: 7px; }
meter::-moz-meter-bar { min-width: 7px; }
.source { display: block; font-size: 12px; line-height: 1.35; color: var(--soft); overflow-wrap: anywhere; }
.text { margin-top: 6px; margin-bottom: 0; max-height: 16em; overflow-y: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.path, .edges, details p { font-size: 14px; }
.path li, .edges li { padding: 2px 0; overflow-wrap: anywhere; }
.edges span, .more { color: var(--soft); }
a { color: var(--focus); text-underline-offset: 2px; }
i[data-kind], .key i { display: inline-block; width: 18px; height: 0; margin-right: 7px; vertical-align: middle; border-top: 3px solid var(--other); border-radius: 2px; }
i[data-kind=phrase] { border-color: var(--phrase); } i[data-kind=similarity] { border-color: var(--similarity); }
i[data-kind=sequence] { border-color: var(--sequence); } i[data-kind=link] { border-color: var(--link); }
i[data-kind=relation] { border-color: var(--relation); } i[data-kind=triple] { border-color: var(--triple); }
.legend { margin: 0; padding: 8px 16px 0; display: flex; flex-wrap: wrap; gap: 0 14px; border: 0; font-size: 13px; }
.legend[hidden], .zoom[hidden] { display: none; }
.legend legend { float: left; padding: 0; line-height: 24px; font-size: 12px; font-weight: 650; color: var(--soft); }
.legend label { clear: both; display: flex; align-items: center; min-height: 24px; cursor: pointer; }
.legend input { margin: 0 8px 0 0; accent-color: var(--focus); }
.key { order: 2; margin: 0; display: flex; flex-wrap: wrap; gap: 4px 6px; align-items: center; padding: 0 150px 14px 16px; font-size: 13px; color: var(--soft); }
.key i { width: 11px; height: 11px; margin: 0 0 0 10px; border: 0; border-radius: 50%; background: var(--near); }
.key i:first-child { margin-left: 0; } .key .seed { background: var(--seed); } .key .reached { background: var(--reached); }
.zoom { position: absolute; right: 14px; bottom: 12px; display: flex; gap: 4px; }
button { font: inherit; min-width: 34px; height: 34px; padding: 0 9px; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; cursor: pointer; }
button:hover { background: var(--raised); }
li[hidden] { display: none; }
@media (max-width: 820px) {
  html, body { height: auto; }
  main { display: block; }
  .stage { height: 82vh; }
  aside { border-left: 0; border-top: 1px solid var(--line); overflow: visible; }
}
@media print { .zoom, search, #matches { display: none; } }
`;
