// The server with one of everything, over stdio.
import { createFullServer } from './full-server.ts';

await createFullServer().startStdio();
