import { escapeHtml, toScriptJson } from './escape-html.js';
import type { GraphView } from './graph-view.js';
import { pageBody } from './page-body.js';
import { pageScript } from './page-script.js';
import { pageStyle } from './page-style.js';
import { readViewer } from './read-viewer.js';

/**
 * Returns the neighborhood of a query as one HTML page without other files: passages, connections with their reasons, the ranking.
 * The page works from a disk, without a network. All texts are escaped, and the content security policy of the page allows only
 * its own scripts and no connections.
 *
 * The graph is drawn by the package `cytoscape`, an optional peer dependency that is copied into the page (0.4 MB).
 *
 * @throws `GRAPH_VIEWER_MISSING` when `cytoscape` is not installed
 * @example
 * await writeFile('graph.html', await graphToHtml(view));
 */
export async function graphToHtml(view: GraphView): Promise<string> {
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
${pageBody(view)}
<script type="application/json" id="view">${toScriptJson(view)}</script>
<script>${library}</script>
<script>${pageScript}</script>
</body>
</html>
`;
}

/** @see [Content Security Policy Level 3, section 2.3.1](https://www.w3.org/TR/CSP3/#framework-directive-source-list) */
async function sourceHash(source: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(source));
  return `'sha256-${Buffer.from(digest).toString('base64')}'`;
}
