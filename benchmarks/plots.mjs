// The plots of docs/reference/benchmarks.md: horizontal bars, one for each system, the best first.

/** `figures` end with `/`: every figure with this start is a bar, named after the system. */
const plots = {
  'bench-server.svg': {
    title: 'CPU time of a server per call, SDK 1 = 1 (less is better)',
    figures: 'server/sessions/echo@16/cpu-to-sdk1/',
  },
  'bench-client.svg': {
    title: 'CPU time of a client per call, SDK 1 = 1 (less is better)',
    figures: 'client/Calls/JSON, 16 in flight/cpu-to-sdk1/',
  },
  'bench-field.svg': {
    title: 'Questions with an answer among three passages of real files (more is better)',
    figures: 'field/held-out/hit@3/',
  },
};

const [width, left, right, top, line] = [720, 250, 60, 48, 30];

/** @returns the text of each plot by file name; no plot without figures */
export function drawPlots(all) {
  return Object.fromEntries(
    Object.entries(plots).flatMap(([file, { title, figures }]) => {
      const bars = Object.entries(all)
        .filter(([name]) => name.startsWith(figures))
        .map(([name, { value, best }]) => ({ system: name.slice(figures.length), value, best }))
        .toSorted((a, b) => (a.best === 'least' ? a.value - b.value : b.value - a.value));
      return bars.length === 0 ? [] : [[file, drawBars(title, bars)]];
    }),
  );
}

function drawBars(title, bars) {
  const largest = Math.max(...bars.map(({ value }) => value));
  const rows = bars.map(({ system, value }, index) => {
    const y = top + index * line;
    const length = ((width - left - right) * value) / largest;
    return (
      `<text x="${left - 10}" y="${y + 15}" text-anchor="end">${system}</text>` +
      `<rect class="${system.includes('Quiver') ? 'own' : 'other'}" x="${left}" y="${y}" width="${length.toFixed(1)}" height="20" rx="2"/>` +
      `<text x="${(left + length + 8).toFixed(1)}" y="${y + 15}">${value.toFixed(2)}</text>`
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top + bars.length * line + 10}" role="img" aria-label="${title}">
<style>
  svg { background: #fff; font: 14px system-ui, sans-serif; }
  text { fill: #57606a; } .title { fill: #1f2328; font-weight: 600; } .own { fill: #3b6fd4; } .other { fill: #b4bfcf; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #9198a1; } .title { fill: #f0f6fc; } .own { fill: #6f9bf0; } .other { fill: #495366; }
  }
</style>
<text class="title" x="16" y="26">${title}</text>
${rows.join('\n')}
</svg>
`;
}
