import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { projects } from './vitest.workspace.ts';

// Many tests wait for timers, sockets and child processes: with one more worker than processors, those are busy in the meantime.
const maxWorkers = availableParallelism() + 1;

export default defineConfig({ test: { projects, maxWorkers, globalSetup: './scripts/test-scratch.ts' } });
