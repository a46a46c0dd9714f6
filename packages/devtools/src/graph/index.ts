/**
 * `@quiver/devtools/graph`: the neighborhood of a query in the graph of an index, as data and as an HTML page.
 *
 * @module
 */
export { graphToHtml } from './graph-to-html.js';
export type { GraphView, GraphViewEdge, GraphViewNode, GraphViewRank } from './graph-view.js';
export { viewGraph, type ViewGraphOptions } from './view-graph.js';
