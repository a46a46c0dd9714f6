import { RequestContext } from '@quiver/core/request-context';
import { createTool, isToolFailure } from '@quiver/core/tools';
import { z } from 'zod';

const greet = createTool({
  id: 'greet',
  description: 'Greets a person by name',
  inputSchema: z.object({ name: z.string(), polite: z.boolean().default(true) }),
  outputSchema: z.object({ greeting: z.string() }),
  execute: async ({ name, polite }) => ({ greeting: polite ? `Good morning, ${name}.` : `Hi ${name}` }),
});

const result = await greet.execute({ name: 'Ada' }, { requestContext: new RequestContext<{ tenantId: string }>() });
if (!isToolFailure(result)) {
  const greeting: string = result.greeting;
  void greeting;
}
