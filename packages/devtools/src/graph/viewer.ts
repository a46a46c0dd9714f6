// The script of the page. It runs in a browser: scripts/build-viewer.mjs bundles it into page-script.ts. It draws the graph and
// connects it with the list of passages. Everything from the view is used as text only.
import type { Core, EdgeCollection } from 'cytoscape';
import type { GraphView, GraphViewEdge } from './graph-view.js';

/** The library is a script of the page. */
declare const cytoscape: typeof import('cytoscape');

const view = JSON.parse(element('view').textContent) as GraphView;
const query = 'query';
/** Distance from the query at first, by the class of the entry of a passage. */
const radii: Readonly<Record<string, number>> = { seed: 170, reached: 320, near: 430 };
const nodeOf = new Map(view.nodes.map((node) => [node.id, node]));
const rankOf = new Map(view.ranking.map((rank, position) => [rank.id, { ...rank, position }]));
const entryOf = new Map(
  Array.from(document.querySelectorAll<HTMLDetailsElement>('details[id]'), (entry) => [entry.id, entry]),
);

document.body.classList.add('drawn');
const graph = cytoscape({
  container: element('graph'),
  elements: createElements(),
  style: [],
  layout: { name: 'preset' },
  minZoom: 0.15,
  maxZoom: 3,
});
// light-dark() resolves only where it is used: a probe has the color of the current scheme.
const probe = document.createElement('span');
probe.hidden = true;
document.body.append(probe);
paint();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
let chosen: string | undefined;
connectGraphAndList();
connectSearch();
connectControls();
fillWindow();

function element(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).trimEnd()}\u2026` : text;
}

function edgeId({ from, to, kind }: GraphViewEdge): string {
  return `edge ${JSON.stringify([...[from, to].sort(), kind])}`;
}

/** Places the passages of the ranking in a ring around the query, in its order; the layout moves them from there. */
function createElements(): cytoscape.ElementDefinition[] {
  const heaviest = Math.max(...view.edges.map(({ weight }) => weight), 1e-9);
  const queryHeight = 22 + 16 * Math.ceil(Math.min(view.query.length, 90) / 22);
  return [
    { data: { id: query, label: shorten(view.query, 90), height: queryHeight }, classes: 'query' },
    ...[...entryOf].map(([id, { className }], index) => {
      const rank = rankOf.get(id);
      const radius = radii[className] ?? 0;
      const angle = index * 2.399963;
      return {
        data: {
          id,
          label: `${rank ? `${rank.position + 1}. ` : ''}${shorten(nodeOf.get(id)?.title ?? '', 46)}`,
          size: 16 + 30 * Math.sqrt(rank?.score ?? 0),
        },
        classes: className,
        position: { x: radius * 1.4 * Math.cos(angle), y: radius * Math.sin(angle) },
      };
    }),
    ...view.edges.map((edge) => ({
      data: {
        id: edgeId(edge),
        source: edge.from,
        target: edge.to,
        kind: edge.kind,
        reason: shorten(`${edge.kind}: ${edge.reason}`, 60),
        width: 1.2 + 3.3 * (edge.weight / heaviest),
      },
      classes: 'edge',
    })),
    ...view.nodes.flatMap(({ id, seedScore }) =>
      seedScore === undefined
        ? []
        : [{ data: { id: `match ${id}`, source: query, target: id, width: 1 + 2.5 * seedScore }, classes: 'match' }],
    ),
  ];
}

function color(name: string): string {
  probe.style.color = `var(--${name}, var(--other))`;
  return getComputedStyle(probe).color;
}

/** Sets the style sheet of the graph, whose colors are those of the page. */
function paint(): void {
  const [ink, paper, soft] = [color('ink'), color('paper'), color('soft')];
  graph.edges('.edge').forEach((edge) => {
    const kind: string = edge.data('kind');
    edge.data('color', color(/^[a-z]+$/.test(kind) ? kind : 'other'));
  });
  const label = `text-background-color: ${paper}; text-background-padding: 2px; text-wrap: wrap; color: ${ink}`;
  graph.style(`
    node { ${label}; width: data(size); height: data(size); label: data(label); font-size: 12; z-index: 1;
      font-family: ${getComputedStyle(document.body).fontFamily}; text-max-width: 130px; text-valign: bottom; text-margin-y: 5;
      text-background-opacity: 0.82; text-background-shape: roundrectangle; border-width: 2; border-color: ${paper}; }
    node.query { shape: round-rectangle; width: 186; height: data(height); background-color: ${ink}; z-index: 2;
      color: ${paper}; text-valign: center; text-margin-y: 0; text-max-width: 170px; font-weight: 600;
      text-background-opacity: 0; border-width: 0; }
    node.seed { background-color: ${color('seed')}; }
    node.reached { background-color: ${color('reached')}; }
    node.near { background-color: ${color('near')}; color: ${soft}; z-index: 0; font-size: 11; text-wrap: ellipsis; text-max-width: 110px; }
    node.near.chosen { text-wrap: wrap; text-max-width: 130px; z-index: 2; }
    edge { curve-style: bezier; width: data(width); line-opacity: 0.75; }
    edge.edge { ${label}; line-color: data(color); font-size: 11; text-background-opacity: 0.9; text-max-width: 170px; }
    edge.match { line-color: ${soft}; line-style: dashed; line-opacity: 0.55; }
    .faint { opacity: 0.16; }
    edge.told { label: data(reason); line-opacity: 1; z-index: 9; }
    node.chosen { border-width: 4; border-color: ${ink}; }
    .off { display: none; }`);
}

/** Labels are readable at their own size: the graph fills the window, and more of it only when there are many passages. */
function fillWindow(): void {
  // The controls above it take a part of its height.
  graph.resize();
  const [roomWidth, roomHeight] = [Math.max(graph.width(), 320), Math.max(graph.height(), 320)];
  const growth = Math.max(1, Math.sqrt((view.nodes.length * 20_000) / (roomWidth * roomHeight)));
  const layout = graph.layout({
    name: 'cose',
    animate: false,
    randomize: false,
    nodeDimensionsIncludeLabels: true,
    boundingBox: { x1: 0, y1: 0, w: roomWidth * growth - 180, h: roomHeight * growth - 140 },
    idealEdgeLength: () => 110,
    nodeRepulsion: () => 900_000,
    edgeElasticity: () => 90,
    nodeOverlap: 24,
    gravity: 0.35,
    numIter: 1500,
    componentSpacing: 90,
    fit: false,
  });
  layout.run();
  separateLabels();
  graph.fit(undefined, 24);
  if (graph.zoom() > 1) graph.zoom({ level: 1, renderedPosition: center() });
}

/** Moves nodes apart until neither they nor their labels overlap, or nearly so. The box of the query is one of them. */
function separateLabels(): void {
  const gap = 6;
  const boxes = graph.nodes().map((node) => {
    const { x1, y1, w, h } = node.boundingBox({ includeOverlays: false });
    const { x, y } = node.position();
    return { node, x: x1 + w / 2, y: y1 + h / 2, w: w + gap, h: h + gap, fromX: x - x1 - w / 2, fromY: y - y1 - h / 2 };
  });
  for (let round = 0, moved = true; moved && round < 200; round += 1) {
    moved = false;
    for (const [place, a] of boxes.entries()) {
      for (const b of boxes.slice(place + 1)) {
        const [overX, overY] = [(a.w + b.w) / 2 - Math.abs(a.x - b.x), (a.h + b.h) / 2 - Math.abs(a.y - b.y)];
        if (overX <= 0.5 || overY <= 0.5) continue;
        // The room of the wider side of the window is used first.
        const axis = overX / graph.width() < overY / graph.height() ? 'x' : 'y';
        const step = (Math.min(overX, overY) / 2) * (a[axis] < b[axis] ? -1 : 1);
        a[axis] += step;
        b[axis] -= step;
        moved = true;
      }
    }
  }
  for (const { node, x, y, fromX, fromY } of boxes) node.position({ x: x + fromX, y: y + fromY });
}

function center(): { x: number; y: number } {
  return { x: graph.width() / 2, y: graph.height() / 2 };
}

function edgesOfPath(id: string): EdgeCollection {
  const ids = new Set((rankOf.get(id)?.path ?? []).map(edgeId));
  const steps = graph.edges().filter((edge) => ids.has(edge.id()));
  const passed = steps.connectedNodes().union(graph.getElementById(id));
  return steps.union(graph.edges('.match').filter((edge) => passed.contains(edge.target()))).edges();
}

/** Highlights a passage with its neighbors and its path; without an id everything. */
function show(id?: string): void {
  graph.elements().removeClass('faint told chosen');
  if (id === undefined || id === query) return;
  const node = graph.getElementById(id);
  const path = edgesOfPath(id);
  const lit = node.closedNeighborhood().union(path).union(path.connectedNodes());
  graph.elements().not(lit).addClass('faint');
  path.filter('.edge').addClass('told');
  node.addClass('chosen');
}

function choose(id: string | undefined, { fromGraph = false } = {}): void {
  chosen = id;
  show(id);
  for (const [other, entry] of entryOf) if (other !== id) entry.open = false;
  const entry = id === undefined ? undefined : entryOf.get(id);
  if (!entry) return;
  (entry.parentElement as HTMLElement).hidden = false;
  entry.open = true;
  if (fromGraph) entry.scrollIntoView({ block: 'nearest' });
}

function connectGraphAndList(): void {
  graph.on('tap', 'node', ({ target }) => choose(target.id(), { fromGraph: true }));
  graph.on('tap', 'edge.edge', ({ target }) => {
    show();
    graph.elements().not(target.union(target.connectedNodes())).addClass('faint');
    target.addClass('told');
  });
  graph.on('tap', ({ target }: { target: Core }) => {
    if (target === graph) choose(undefined);
  });
  graph.on('mouseover', 'node', ({ target }) => {
    if (chosen === undefined) show(target.id());
  });
  graph.on('mouseover', 'edge.edge', ({ target }) => target.addClass('told'));
  graph.on('mouseout', 'node, edge', () => show(chosen));
  for (const [id, entry] of entryOf) {
    // A click toggles the entry itself.
    entry.addEventListener('toggle', () => {
      if (entry.open && chosen !== id) choose(id);
      else if (!entry.open && chosen === id) choose(undefined);
    });
  }
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href^="#passage-"]')) {
    const id = link.hash.slice(1);
    link.addEventListener('click', (event) => {
      event.preventDefault();
      choose(id, { fromGraph: true });
      entryOf.get(id)?.querySelector('summary')?.focus();
    });
  }
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') choose(undefined);
  });
}

function connectSearch(): void {
  const input = element('search') as HTMLInputElement;
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = view.nodes.filter(({ title, source = '', text }) => {
      const all = `${title}\n${source}\n${text}`.toLowerCase();
      return words.every((word) => all.includes(word));
    });
    const found = new Set(matches.map(({ id }) => id));
    for (const [id, entry] of entryOf) (entry.parentElement as HTMLElement).hidden = !found.has(id);
    show(chosen);
    element('matches').textContent = '';
    if (words.length === 0) return;
    const others = graph.nodes().filter((node) => node.id() !== query && !found.has(node.id()));
    others.addClass('faint');
    element('matches').textContent = `${found.size} ${found.size === 1 ? 'passage' : 'passages'}`;
  });
}

function connectControls(): void {
  const kinds = element('kinds');
  kinds.hidden = kinds.querySelectorAll('input').length === 0;
  kinds.addEventListener('change', ({ target }) => {
    const { value, checked } = target as HTMLInputElement;
    const edges = graph.edges('.edge').filter((edge) => edge.data('kind') === value);
    edges.toggleClass('off', !checked);
  });
  const zoom = element('zoom');
  zoom.hidden = false;
  zoom.addEventListener('click', ({ target }) => {
    const { zoom: action } = (target as HTMLElement).dataset;
    if (action === 'fit') graph.fit(undefined, 24);
    else if (action)
      graph.zoom({ level: graph.zoom() * (action === 'in' ? 1.3 : 1 / 1.3), renderedPosition: center() });
  });
}
