/** Rows are rounded to integers in [−119, 119]: times 16 and a rest, both fit into 4 bits. */
const largestRowCode = 119;

/** Integers of a row are stored so much larger: `16 * (high + 8) + (low + 8)`. */
export const codeOfZero = 136;

export interface QuantisedRow {
  /** What one step of the integers stands for. */
  readonly scale: number;
  /** Length of the row itself. */
  readonly length: number;
  /** Length of what the rounding lost. */
  readonly lost: number;
}

/**
 * Rounds a row to integers, `codeOfZero` larger.
 *
 * @param factor - multiplies every number
 */
export function quantiseRow(vector: Float32Array, factor: number, codes: Uint8Array): QuantisedRow {
  const { scale, inverse } = scaleOf(vector, factor, largestRowCode);
  let length = 0;
  let lost = 0;
  for (let position = 0; position < vector.length; position += 1) {
    const number = vector[position] as number;
    // Rounded to the nearest: it is positive, so cutting it off rounds it down.
    const code = (number * inverse + (codeOfZero + 0.5)) | 0;
    const exact = number * factor;
    const missing = exact - (code - codeOfZero) * scale;
    length += exact * exact;
    lost += missing * missing;
    codes[position] = code;
  }
  return { scale, length: Math.sqrt(length), lost: Math.sqrt(lost) };
}

export interface QuantisedQuery {
  /** What one step of the integers stands for. */
  readonly scale: number;
  /** Length of the query itself. */
  readonly length: number;
  /** Sum of the integers. */
  readonly sum: number;
}

/** Rounds a query to integers up to `largestCode`. @param factor - multiplies every number */
export function quantiseQuery(
  vector: Float32Array,
  factor: number,
  largestCode: number,
  codes: Int16Array,
): QuantisedQuery {
  const { scale, inverse } = scaleOf(vector, factor, largestCode);
  let length = 0;
  let sum = 0;
  for (let position = 0; position < vector.length; position += 1) {
    const exact = (vector[position] as number) * factor;
    const code = Math.floor((vector[position] as number) * inverse + 0.5);
    length += exact * exact;
    sum += code;
    codes[position] = code;
  }
  return { scale, length: Math.sqrt(length), sum };
}

/** The number of largest size gets the largest code; `inverse` turns a number of the vector into its code. */
function scaleOf(vector: Float32Array, factor: number, largestCode: number): { scale: number; inverse: number } {
  let largest = 0;
  for (let position = 0; position < vector.length; position += 1) {
    const size = Math.abs(vector[position] as number);
    if (size > largest) largest = size;
  }
  const scale = (largest * factor) / largestCode;
  return { scale, inverse: scale === 0 ? 0 : factor / scale };
}
