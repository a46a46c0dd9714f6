import { getDefaultLogger, setDefaultLogger } from '@quiver/core';
import { onTestFinished } from 'vitest';

/** Returns the lines that the default logger receives on these levels until the test is over. */
export function captureLog(...levels: ('info' | 'warn' | 'error')[]): string[] {
  const lines: string[] = [];
  const usual = getDefaultLogger();
  const capture = levels.map((level) => [level, (line: string) => void lines.push(line)] as const);
  setDefaultLogger({ ...usual, ...Object.fromEntries(capture) });
  onTestFinished(() => setDefaultLogger(usual));
  return lines;
}
