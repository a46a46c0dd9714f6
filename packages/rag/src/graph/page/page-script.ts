/** The script of the page: draws the graph and connects it with the list. Everything from the view is used as text alone. */
export const pageScript = `'use strict';
{
  const view = JSON.parse(document.getElementById('view').textContent);
  const question = 'question';
  // Ids are the application's and may be anything: in the page every passage goes by its place.
  const anchorOf = new Map(view.nodes.map(({ id }, index) => [id, 'passage-' + index]));
  const nodes = view.nodes.map((node) => ({ ...node, id: anchorOf.get(node.id) }));
  const toEdge = (edge) => ({ ...edge, from: anchorOf.get(edge.from), to: anchorOf.get(edge.to) });
  const rankOf = new Map(view.ranking.map((rank, position) => [anchorOf.get(rank.id), { score: rank.score, path: rank.path.map(toEdge), position }]));
  const entryOf = new Map([...document.querySelectorAll('details[id]')].map((entry) => [entry.id, entry]));
  const shorten = (text, length) => (text.length > length ? text.slice(0, length - 1).trimEnd() + '\\u2026' : text);
  const kindOf = (node) => (node.seedScore !== undefined ? 'seed' : rankOf.has(node.id) ? 'reached' : 'near');
  const pairOf = (edge) => JSON.stringify([edge.from, edge.to].sort().concat(edge.kind));

  // Passages of the ranking stand in a ring around the question, in its order; the layout moves them from there.
  const order = [...nodes].sort((a, b) => (rankOf.get(a.id)?.position ?? 1e9) - (rankOf.get(b.id)?.position ?? 1e9));
  const place = (node, index) => {
    const radius = { seed: 170, reached: 320, near: 430 }[kindOf(node)];
    const angle = index * 2.399963;
    return { x: radius * 1.4 * Math.cos(angle), y: radius * Math.sin(angle) };
  };
  const heaviest = Math.max(...view.edges.map(({ weight }) => weight), 1e-9);
  const elements = [
    { data: { id: question, label: shorten(view.query, 90), height: 22 + 16 * Math.ceil(Math.min(view.query.length, 90) / 22) }, classes: 'question', position: { x: 0, y: 0 } },
    ...order.map((node, index) => {
      const rank = rankOf.get(node.id);
      return {
        data: { id: node.id, label: (rank ? rank.position + 1 + '. ' : '') + shorten(node.title, 46), size: 16 + 30 * Math.sqrt(rank?.score ?? 0) },
        classes: kindOf(node),
        position: place(node, index),
      };
    }),
    ...view.edges.map(toEdge).filter(({ from, to }) => from && to).map((edge) => ({
      data: { id: 'edge ' + pairOf(edge), source: edge.from, target: edge.to, kind: edge.kind, reason: shorten(edge.kind + ': ' + edge.reason, 60), width: 1.2 + 3.3 * (edge.weight / heaviest) },
      classes: 'edge',
    })),
    ...nodes.filter(({ seedScore }) => seedScore !== undefined).map(({ id, seedScore }) => ({
      data: { id: 'match ' + id, source: question, target: id, width: 1 + 2.5 * seedScore },
      classes: 'match',
    })),
  ];

  document.body.classList.add('drawn');
  const graph = cytoscape({ container: document.getElementById('graph'), elements, style: [], layout: { name: 'preset' }, minZoom: 0.15, maxZoom: 3 });

  // light-dark() resolves only where it is used: a probe tells the color of the present scheme.
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const color = (name) => {
    probe.style.color = 'var(--' + name + ', var(--other))';
    return getComputedStyle(probe).color;
  };
  const paint = () => {
    const [ink, paper, soft] = ['ink', 'paper', 'soft'].map(color);
    const colors = new Map();
    const edgeColor = (kind) => {
      const name = /^[a-z]+$/.test(kind) ? kind : 'other';
      if (!colors.has(name)) colors.set(name, color(name));
      return colors.get(name);
    };
    const style = [
      { selector: 'node', style: { width: 'data(size)', height: 'data(size)', label: 'data(label)', color: ink, 'font-size': 12, 'font-family': getComputedStyle(document.body).fontFamily, 'text-wrap': 'wrap', 'text-max-width': '130px', 'text-valign': 'bottom', 'text-margin-y': 5, 'text-background-color': paper, 'text-background-opacity': 0.82, 'text-background-padding': '2px', 'text-background-shape': 'roundrectangle', 'border-width': 2, 'border-color': paper, 'z-index': 1 } },
      { selector: 'node.question', style: { shape: 'round-rectangle', width: 186, height: 'data(height)', 'background-color': color('question'), color: color('question-ink'), 'text-valign': 'center', 'text-margin-y': 0, 'text-max-width': '170px', 'font-weight': 600, 'text-background-opacity': 0, 'border-width': 0, 'z-index': 2 } },
      ...['seed', 'reached', 'near'].map((kind) => ({ selector: 'node.' + kind, style: { 'background-color': color(kind) } })),
      { selector: 'node.near', style: { color: soft, 'z-index': 0, 'font-size': 11, 'text-wrap': 'ellipsis', 'text-max-width': '110px' } },
      { selector: 'node.near.chosen', style: { 'text-wrap': 'wrap', 'text-max-width': '130px', 'z-index': 2 } },
      { selector: 'edge', style: { 'curve-style': 'bezier', width: 'data(width)', 'line-opacity': 0.75 } },
      { selector: 'edge.edge', style: { 'line-color': (edge) => edgeColor(edge.data('kind')), 'font-size': 11, color: ink, 'text-background-color': paper, 'text-background-opacity': 0.9, 'text-background-padding': '2px', 'text-wrap': 'wrap', 'text-max-width': '170px' } },
      { selector: 'edge.match', style: { 'line-color': soft, 'line-style': 'dashed', 'line-opacity': 0.55 } },
      { selector: '.faint', style: { opacity: 0.16 } },
      { selector: 'edge.told', style: { label: 'data(reason)', 'line-opacity': 1, 'z-index': 9 } },
      { selector: 'node.chosen', style: { 'border-width': 4, 'border-color': ink } },
      { selector: '.off', style: { display: 'none' } },
    ];
    graph.style(style);
  };
  // Labels are readable at their own size: passages get the room of the window, and more of it only when they are many.
  const fill = () => {
    const box = graph.nodes().boundingBox({ includeLabels: false, includeOverlays: false });
    const [roomWidth, roomHeight] = [Math.max(graph.width(), 320), Math.max(graph.height(), 320)];
    const growth = Math.max(1, Math.sqrt((view.nodes.length * 20000) / (roomWidth * roomHeight)));
    const width = roomWidth * growth - 180;
    const height = roomHeight * growth - 140;
    graph.nodes().positions((node) => ({
      x: ((node.position('x') - box.x1) / Math.max(box.w, 1)) * width,
      y: ((node.position('y') - box.y1) / Math.max(box.h, 1)) * height,
    }));
    graph.fit(undefined, 24);
    if (graph.zoom() > 1) graph.zoom({ level: 1, renderedPosition: { x: graph.width() / 2, y: graph.height() / 2 } });
  };
  paint();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  graph.layout({ name: 'cose', animate: false, randomize: false, nodeDimensionsIncludeLabels: true, idealEdgeLength: () => 110, nodeRepulsion: () => 900000, edgeElasticity: () => 90, nodeOverlap: 24, gravity: 0.35, numIter: 1500, componentSpacing: 90, fit: false }).run();
  fill();

  let chosen;
  const edgesOfPath = (id) => {
    const pairs = new Set((rankOf.get(id)?.path ?? []).map((step) => 'edge ' + pairOf(step)));
    const steps = graph.edges().filter((edge) => pairs.has(edge.id()));
    const nodes = steps.connectedNodes().union(graph.getElementById(id));
    return steps.union(graph.edges('.match').filter((edge) => nodes.contains(edge.target())));
  };
  const show = (id) => {
    graph.elements().removeClass('faint told chosen');
    if (id === undefined || id === question) return;
    const node = graph.getElementById(id);
    const path = edgesOfPath(id);
    const lit = node.closedNeighborhood().union(path).union(path.connectedNodes());
    graph.elements().not(lit).addClass('faint');
    path.filter('.edge').addClass('told');
    node.addClass('chosen');
  };
  const choose = (id, { fromGraph = false } = {}) => {
    chosen = id;
    show(id);
    for (const [other, entry] of entryOf) if (other !== id) entry.open = false;
    const entry = entryOf.get(id);
    if (!entry) return;
    entry.parentElement.hidden = false;
    entry.open = true;
    if (fromGraph) entry.scrollIntoView({ block: 'nearest' });
  };

  graph.on('tap', 'node', ({ target }) => choose(target.id(), { fromGraph: true }));
  graph.on('tap', 'edge.edge', ({ target }) => { show(); graph.elements().not(target.union(target.connectedNodes())).addClass('faint'); target.addClass('told'); });
  graph.on('tap', ({ target }) => { if (target === graph) choose(undefined); });
  graph.on('mouseover', 'node', ({ target }) => { if (chosen === undefined) show(target.id()); });
  graph.on('mouseover', 'edge.edge', ({ target }) => target.addClass('told'));
  graph.on('mouseout', 'node, edge', () => show(chosen));
  for (const [id, entry] of entryOf) {
    // A click toggles by itself; what is left is to show the passage in the graph.
    entry.addEventListener('toggle', () => { if (entry.open && chosen !== id) choose(id); else if (!entry.open && chosen === id) choose(undefined); });
  }
  for (const link of document.querySelectorAll('a[href^="#passage-"]')) {
    const id = link.hash.slice(1);
    link.addEventListener('click', (event) => {
      event.preventDefault();
      choose(id, { fromGraph: true });
      entryOf.get(id)?.querySelector('summary').focus();
    });
  }
  addEventListener('keydown', (event) => { if (event.key === 'Escape') choose(undefined); });

  const texts = new Map(nodes.map((node) => [node.id, [node.title, node.source ?? '', node.text].join('\\n').toLowerCase()]));
  document.getElementById('search').addEventListener('input', ({ target }) => {
    const words = target.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const matches = [...texts].filter(([, text]) => words.every((word) => text.includes(word))).map(([id]) => id);
    const found = new Set(matches);
    for (const [id, entry] of entryOf) entry.parentElement.hidden = !found.has(id);
    show(chosen);
    if (words.length > 0) graph.nodes().filter((node) => node.id() !== question && !found.has(node.id())).addClass('faint');
    document.getElementById('matches').textContent = words.length > 0 ? found.size + (found.size === 1 ? ' passage' : ' passages') : '';
  });

  const kinds = document.getElementById('kinds');
  kinds.hidden = kinds.querySelectorAll('input').length === 0;
  kinds.addEventListener('change', ({ target }) => graph.edges('.edge').filter((edge) => edge.data('kind') === target.value).toggleClass('off', !target.checked));
  const zoom = document.getElementById('zoom');
  zoom.hidden = false;
  zoom.addEventListener('click', ({ target }) => {
    const { zoom: action } = target.dataset;
    const center = { x: graph.width() / 2, y: graph.height() / 2 };
    if (action === 'fit') graph.fit(undefined, 24);
    else if (action) graph.zoom({ level: graph.zoom() * (action === 'in' ? 1.3 : 1 / 1.3), renderedPosition: center });
  });
}
`;
