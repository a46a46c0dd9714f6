export interface DrawnGraph {
  nodes: readonly { id: string; title?: string }[];
  edges: readonly { from: string; to: string; kind: string; weight: number; reason: string }[];
}

/**
 * A graph in the language of Graphviz: nodes with their titles or ids, edges with their reasons.
 *
 * @see [The DOT language](https://graphviz.org/doc/info/lang.html)
 */
export function graphToDot({ nodes, edges }: DrawnGraph): string {
  const lines = [
    ...nodes.map(({ id, title }) => `  ${quote(id)} [label=${quote(title ?? id)}];`),
    ...edges.map(
      ({ from, to, kind, weight, reason }) =>
        `  ${quote(from)} -- ${quote(to)} [class=${quote(kind)}, weight=${Math.max(1, Math.round(weight * 100))}, tooltip=${quote(reason)}];`,
    ),
  ];
  return `graph {\n${lines.join('\n')}\n}\n`;
}

/** A backslash stands for itself, too: it would begin an escape such as `\N`. */
function quote(text: string): string {
  return `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/\r\n?|\n/g, '\\n')}"`;
}
