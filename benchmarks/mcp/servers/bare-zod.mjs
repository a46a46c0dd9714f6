// The lower bound of servers whose tools have zod schemas: `bare.mjs` with the import of zod.
import { z } from 'zod';

z.object({ message: z.string() });
await import('./bare.mjs');
