/** Returns an SVG chart of build time and memory by number of nodes, with logarithmic axes. */
export function drawGrowth(points) {
  const [width, height] = [720, 400];
  const frame = { left: 64, right: 64, top: 48, bottom: 48 };
  const x = scale(
    points.map(({ count }) => count),
    frame.left,
    width - frame.right,
  );
  const seconds = points.map(({ buildMs }) => buildMs / 1000);
  const megabytes = points.map(({ maxRssMb }) => maxRssMb);
  const y = (value) => scale([0.01, 100], height - frame.bottom, frame.top)(value);
  const yMemory = (value) => scale([10, 100_000], height - frame.bottom, frame.top)(value);
  const grid = [0.01, 0.1, 1, 10, 100].map(
    (value) =>
      `<line class="grid" x1="${frame.left}" x2="${width - frame.right}" y1="${y(value)}" y2="${y(value)}"/>` +
      `<text class="time" x="${frame.left - 8}" y="${y(value) + 4}" text-anchor="end">${value} s</text>` +
      `<text class="memory" x="${width - frame.right + 8}" y="${y(value) + 4}">${memoryLabel(value * 1000)}</text>`,
  );
  const labels = points.map(
    ({ count }) =>
      `<text x="${x(count)}" y="${height - frame.bottom + 20}" text-anchor="middle">${count / 1000}k</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Time and memory to build a graph of 1,000 nodes and more">
<style>
  svg { background: #fff; font: 13px system-ui, sans-serif; }
  text { fill: #57606a; } .title { fill: #1f2328; font-weight: 600; } .small { font-size: 11px; }
  polyline { fill: none; stroke-width: 2; }
  .grid { stroke: #d8dee4; }
  text.time, tspan.time, circle.time { fill: #0b6e4f; } text.memory, tspan.memory, circle.memory { fill: #8250df; }
  polyline.time { stroke: #0b6e4f; } polyline.memory { stroke: #8250df; stroke-dasharray: 5 4; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #9198a1; } .title { fill: #f0f6fc; } .grid { stroke: #30363d; }
    text.time, tspan.time, circle.time { fill: #56d4a0; } text.memory, tspan.memory, circle.memory { fill: #d2a8ff; }
    polyline.time { stroke: #56d4a0; } polyline.memory { stroke: #d2a8ff; }
  }
</style>
<text class="title" x="${frame.left}" y="24">Building a graph, 384 dimensions: <tspan class="time">time</tspan> and <tspan class="memory">memory</tspan> by number of nodes</text>
${[...grid, ...labels].join('\n')}
${curve('memory', points, megabytes, x, yMemory)}
${curve('time', points, seconds, x, y)}
</svg>
`;
}

function curve(name, points, values, x, y) {
  const places = points.map(({ count }, n) => [x(count).toFixed(1), y(values[n]).toFixed(1)]);
  const dots = places.map(([left, top]) => `<circle class="${name}" cx="${left}" cy="${top}" r="3.5"/>`).join('');
  return `<polyline class="${name}" points="${places.join(' ')}"/>${dots}`;
}

function memoryLabel(megabytes) {
  return megabytes < 1000 ? `${megabytes} MB` : `${megabytes / 1000} GB`;
}

function scale(values, from, to) {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  return (value) => from + ((Math.log(value) - low) / (high - low)) * (to - from);
}
