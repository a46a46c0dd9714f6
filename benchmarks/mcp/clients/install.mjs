import { installPackages } from '../../install-packages.mjs';

const anchors = {
  mastra1: { client: 'mastra.mjs', packages: ['@mastra/mcp@1.18.0', '@mastra/core@1.71.0', 'zod@4.6.7'] },
  mastra2: { client: 'mastra.mjs', packages: ['@mastra/mcp@2.0.0', '@mastra/core@1.71.0', 'zod@4.6.7'] },
  'ai-sdk': { client: 'ai-sdk.mjs', packages: ['@ai-sdk/mcp@2.0.99', 'zod@4.6.7'] },
};

/** Installs third-party clients; `remove` deletes them. */
export function installClients() {
  const installed = Object.entries(anchors).map(([name, { client, packages }]) => ({
    name,
    ...installPackages(packages, [new URL(client, import.meta.url)]),
  }));
  return {
    folderOf: Object.fromEntries(installed.map(({ name, folder }) => [name, folder])),
    remove: () => installed.forEach(({ remove }) => remove()),
  };
}
