// A reporter of `node --test`: writes one line of JSON per test. `scripts/test-results.mjs` reads it.
export default async function* reportEvents(source) {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    // A suite counts only if it was skipped, or if a hook failed.
    const isSuite = data.details?.type === 'suite';
    if (isSuite && data.skip === undefined && data.details?.error?.failureType !== 'hookFailed') continue;
    const isSkipped = data.skip !== undefined || data.todo !== undefined;
    yield `${JSON.stringify({
      file: data.file ?? data.name,
      name: data.name,
      outcome: isSkipped ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed',
      error: data.details?.error?.cause?.message ?? data.details?.error?.message,
    })}\n`;
  }
}
