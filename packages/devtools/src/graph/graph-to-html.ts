import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { GraphView, GraphViewEdge } from './graph-view.js';
import { escapeHtml, pageBody } from './page-body.js';
import { pageScript } from './page-script.js';
import { pageStyle } from './page-style.js';

/**
 * Returns the neighborhood of a query as one HTML page without other files: passages, connections with their reasons, the ranking.
 * The page works from a disk, without a network. All texts are escaped, and the content security policy of the page allows only
 * its own scripts and no connections.
 *
 * The graph is drawn by the package `cytoscape`, which is copied into the page (0.4 MB).
 *
 * @example
 * await writeFile('graph.html', await graphToHtml(view));
 */
export async function graphToHtml(view: GraphView): Promise<string> {
  const anchored = withAnchors(view);
  const library = await readViewer();
  const hashes = await Promise.all([library, pageScript].map(sourceHash));
  const policy = [
    "default-src 'none'",
    `script-src ${hashes.join(' ')}`,
    `style-src ${await sourceHash(pageStyle)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // The id tells cytoscape that its style sheet is there already: the policy forbids the one it would add.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(view.query)}</title>
<style id="__________cytoscape_stylesheet">${pageStyle}</style>
</head>
<body>
${pageBody(anchored)}
<script type="application/json" id="view">${toScriptJson(anchored)}</script>
<script>${library}</script>
<script>${pageScript}</script>
</body>
</html>
`;
}

/** Ids belong to the application and may be any text, so the page identifies a passage by its position. */
function withAnchors(view: GraphView): GraphView {
  const anchors = new Map(view.nodes.map(({ id }, position) => [id, `passage-${position}`]));
  const anchor = (id: string): string => anchors.get(id) ?? '';
  const toEdge = (edge: GraphViewEdge): GraphViewEdge => ({ ...edge, from: anchor(edge.from), to: anchor(edge.to) });
  return {
    query: view.query,
    nodes: view.nodes.map((node) => ({ ...node, id: anchor(node.id) })),
    edges: view.edges.map(toEdge).filter(({ from, to }) => from && to),
    ranking: view.ranking.map(({ id, score, path }) => ({ id: anchor(id), score, path: path.map(toEdge) })),
  };
}

/** @see [Content Security Policy Level 3, section 2.3.1](https://www.w3.org/TR/CSP3/#framework-directive-source-list) */
async function sourceHash(source: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(source));
  return `'sha256-${Buffer.from(digest).toString('base64')}'`;
}

/** Returns the source of `cytoscape`, escaped for a `script` element. */
async function readViewer(): Promise<string> {
  const source = await readFile(createRequire(import.meta.url).resolve('cytoscape/dist/cytoscape.min.js'), 'utf8');
  return source.replaceAll(/<\/script/gi, String.raw`<\/script`);
}

/** Converts a value to JSON that cannot end its `script` element. */
function toScriptJson(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', String.raw`\u003c`)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`);
}
