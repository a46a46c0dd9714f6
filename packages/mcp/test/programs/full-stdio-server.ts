// The server with one of everything, over stdio.
import { createFullServer } from '../servers/full-server.ts';

await createFullServer().startStdio();
