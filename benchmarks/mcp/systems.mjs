/** The measured servers: their names in the tables and their modes. The first server of a mode is the base of its ratios. */
export const names = {
  sdk1: 'SDK 1.32.2',
  sdk2: 'SDK 2.4.0',
  quiver: '**Quiver**',
  'quiver-json': '**Quiver**, JSON Schema tools',
  bare: 'bare `node:http`',
  'bare-zod': 'bare, with zod',
  mastra1: '@mastra/mcp 1.18.0',
  mastra2: '@mastra/mcp 2.0.0',
  fastmcp: 'fastmcp 4.20.16',
  sdk1Express: 'SDK 1.32.2, express',
  sdk2Express: 'SDK 2.4.0, express',
};

/** `[system, mode]`. SDK 1 does not support 2026-07-28, so that table contains its sessionless mode, which is the closest to it. */
export function systemsOf(mode, anchors) {
  const own = {
    'http-sse': ['sdk1', 'quiver'],
    stdio: ['sdk1', 'quiver', 'quiver-json', 'bare', 'bare-zod'],
  }[mode] ?? ['sdk1', 'quiver', 'bare'];
  const others = Object.keys(anchors).filter((name) => anchors[name].modes.includes(mode));
  return [...own, ...others].map((name) => ({ name, mode: mode === 'modern' && name === 'sdk1' ? 'stateless' : mode }));
}
