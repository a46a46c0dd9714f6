import { afterEach, beforeEach } from 'vitest';
import { createLogger, getDefaultLogger, setDefaultLogger } from '../src/index.js';

/** The options of a tool whose description does not matter. */
export const named = (id = 't'): { id: string; description: string } => ({ id, description: 'x' });

/** Lines that a test logs: a list that is emptied before each test. */
export function collectLog(): readonly string[] {
  const lines: string[] = [];
  const usual = getDefaultLogger();
  beforeEach(() => {
    lines.length = 0;
    setDefaultLogger(createLogger({ level: 'debug', write: (line) => lines.push(line) }));
  });
  afterEach(() => setDefaultLogger(usual));
  return lines;
}
