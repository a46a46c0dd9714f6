// Serves the fixtures over standard input and output.
import { createConformanceServer } from './server.ts';

await createConformanceServer().startStdio();
