import type { MCPServerResources } from '@quiver/mcp/server';
import { png } from './samples.ts';

/** A text resource, a binary resource, a resource for subscriptions, and a template. */
export const resources: MCPServerResources = {
  listResources: async () => [
    {
      uri: 'test://static-text',
      name: 'Static text',
      description: 'A text that never changes',
      mimeType: 'text/plain',
    },
    { uri: 'test://static-binary', name: 'Static image', description: 'A picture', mimeType: 'image/png' },
    {
      uri: 'test://watched-resource',
      name: 'Watched resource',
      description: 'Something to subscribe to',
      mimeType: 'text/plain',
    },
  ],
  resourceTemplates: async () => [
    {
      uriTemplate: 'test://template/{id}/data',
      name: 'Data by id',
      description: 'Made for every id',
      mimeType: 'application/json',
    },
  ],
  getResourceContent: async ({ uri, variables: { id } }) => {
    switch (uri) {
      case 'test://static-text':
        return { text: 'This is the content of the static text resource.' };
      case 'test://static-binary':
        return { blob: png };
      case 'test://watched-resource':
        return { text: 'Watched resource content' };
      default:
        return { text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
    }
  },
  completeVariable: async ({ value }) => ['123', '456'].filter((id) => id.startsWith(value)),
};
