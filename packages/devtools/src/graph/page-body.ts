import type { GraphView, GraphViewEdge, GraphViewNode, GraphViewRank } from './graph-view.js';

/** Most connections in the list of a passage. */
const listedEdges = 12;

/** Returns the page without its script: the query and every passage with the reasons why it was found. @param view - with anchors as ids */
export function pageBody(view: GraphView): string {
  const nodes = new Map(view.nodes.map((node) => [node.id, node]));
  const context = { nodes, edges: view.edges.toSorted((a, b) => b.weight - a.weight) };
  const ranked = new Set(view.ranking.map(({ id }) => id));
  const found = view.ranking.flatMap((rank, position) => {
    const node = nodes.get(rank.id);
    return node ? [passage(node, context, rank, position)] : [];
  });
  const others = view.nodes.filter(({ id }) => !ranked.has(id)).map((node) => passage(node, context));
  const {
    nodes: { length },
    edges,
    ranking,
  } = view;
  const summary = `A graph of ${length} passages and ${edges.length} connections. The list beside it holds the same: ${ranking.length} passages found, with the reasons.`;
  // The search found every passage, so that the graph adds nothing.
  const isDirect = ranking.length > 0 && ranking.every(({ path }) => path.every(({ kind }) => kind === 'title'));
  const kinds = [...new Set(view.edges.map(({ kind }) => kind))].toSorted();
  return `<header>
<p class="overline">Query</p>
<h1>${escapeHtml(view.query)}</h1>
</header>
<main>
<section class="stage" aria-label="Graph">
<div id="graph" role="img" aria-label="${summary}"></div>
<fieldset class="legend" id="kinds" hidden><legend>Connections</legend>
${kinds.map((kind) => `<label><input type="checkbox" value="${escapeHtml(kind)}" checked><i data-kind="${escapeHtml(kind)}"></i>${escapeHtml(kind)}</label>`).join('\n')}
</fieldset>
<p class="key" aria-hidden="true"><i class="seed"></i>matches the query<i class="reached"></i>found through connections<i class="near"></i>around them</p>
<div class="zoom" id="zoom" hidden><button type="button" data-zoom="in" aria-label="Zoom in">+</button><button type="button" data-zoom="out" aria-label="Zoom out">−</button><button type="button" data-zoom="fit">Fit</button></div>
</section>
<aside aria-label="Passages">
<search><label for="search">Search the passages</label><input id="search" type="search" autocomplete="off" placeholder="Words of a passage"></search>
<p id="matches" role="status"></p>
<h2>Found</h2>
${isDirect ? '<p class="note">These results match the query directly: no connection led to another passage.</p>\n' : ''}<ol id="found">${found.join('\n')}</ol>
${others.length > 0 ? `<h2>Around them</h2>\n<ul id="others">${others.join('\n')}</ul>` : ''}
</aside>
</main>`;
}

interface Context {
  readonly nodes: ReadonlyMap<string, GraphViewNode>;
  /** The heaviest first. */
  readonly edges: readonly GraphViewEdge[];
}

/** @param rank - of a passage that was found, with its position from 0 */
function passage(node: GraphViewNode, { nodes, edges }: Context, rank?: GraphViewRank, position = 0): string {
  const own = edges.filter(({ from, to }) => from === node.id || to === node.id);
  const isMatch = node.seedScore !== undefined || rank?.path.length === 0;
  const kind = isMatch ? 'seed' : rank ? 'reached' : 'near';
  const score = rank
    ? `<span class="score"><meter min="0" max="1" value="${rank.score.toFixed(4)}"></meter>${rank.score.toFixed(2)}</span>`
    : '';
  return `<li><details class="${kind}" id="${node.id}"><summary>${
    rank ? `<b>${position + 1}</b>` : ''
  }<span class="name"><span class="title">${escapeHtml(node.title)}</span>${
    node.source === undefined ? '' : `<span class="source">${escapeHtml(node.source)}</span>`
  }</span>${score}</summary>
${node.alsoIn === undefined ? '' : `<p class="more">Also in: ${escapeHtml(node.alsoIn.join('; '))}</p>`}
<p class="text">${escapeHtml(node.text)}</p>
${rank || node.seedScore !== undefined ? `<h3>Why</h3>${reasons(node, rank, nodes)}` : ''}
${
  own.length > 0
    ? `<h3>Connections</h3><ul class="edges">${own
        .slice(0, listedEdges)
        .map((edge) => connection(edge, node.id, nodes))
        .join('')}</ul>`
    : ''
}
${own.length > listedEdges ? `<p class="more">and ${own.length - listedEdges} more</p>` : ''}
</details></li>`;
}

function reasons({ seedScore }: GraphViewNode, rank: GraphViewRank | undefined, nodes: Context['nodes']): string {
  const steps = rank?.path ?? [];
  const direct = seedScore === undefined ? '' : `<p>It matches the query (${seedScore.toFixed(2)}).</p>`;
  if (steps.length === 0) return direct;
  const first = steps[0] as GraphViewEdge;
  const start = first.kind === 'title' ? '' : `<li>${linkTo(first.from, nodes)} matches the query</li>`;
  return `${direct}<ol class="path">${start}${steps
    .map(
      ({ to, kind, reason }) =>
        `<li><i data-kind="${escapeHtml(kind)}"></i>${escapeHtml(kind)}: ${escapeHtml(reason)} → ${linkTo(to, nodes)}</li>`,
    )
    .join('')}</ol>`;
}

function connection(edge: GraphViewEdge, id: string, nodes: Context['nodes']): string {
  const other = edge.from === id ? edge.to : edge.from;
  return `<li><i data-kind="${escapeHtml(edge.kind)}"></i>${linkTo(other, nodes)} <span>${escapeHtml(edge.kind)}: ${escapeHtml(edge.reason)}</span></li>`;
}

/** Works as a jump within the list where the script does not run. */
function linkTo(id: string, nodes: Context['nodes']): string {
  return `<a href="#${id}">${escapeHtml(nodes.get(id)?.title ?? '')}</a>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] as string);
}
