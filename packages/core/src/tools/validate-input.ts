import { validate, type Schema, type ValidationResult } from '../schema/index.js';
import { repairInput } from './repair-input.js';

type Outcome = ValidationResult<unknown>;

/**
 * Checks an input as it was given; only if that fails, the usual mistakes of models are repaired and the first repair that the
 * schema accepts counts. The issues are always those of the original input.
 */
export function validateInput(schema: Schema, input: unknown): Outcome | Promise<Outcome> {
  const first = validate(schema, input);
  if (first instanceof Promise) return first.then((result) => (result.ok ? result : repair(schema, input, result)));
  return first.ok ? first : repair(schema, input, first);
}

async function repair(schema: Schema, input: unknown, failed: Outcome & { ok: false }): Promise<Outcome> {
  for (const candidate of repairInput(input, failed.issues)) {
    const repaired = await validate(schema, candidate);
    if (repaired.ok) return repaired;
  }
  return failed;
}
