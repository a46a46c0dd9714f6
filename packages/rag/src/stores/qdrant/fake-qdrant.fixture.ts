import { text } from 'node:stream/consumers';
import { startServer } from '../../http-server.fixture.js';

interface Sparse {
  indices: number[];
  values: number[];
}

interface Point {
  id: string;
  vector: Record<string, number[] | Sparse>;
  payload: Record<string, unknown>;
}

interface Collection {
  vectors: Record<string, { size: number; distance: string }>;
  sparse: Record<string, { modifier?: string }>;
  indexes: Set<string>;
  points: Map<string, Point>;
}

/** A failed request: HTTP status and reason. */
class Failure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const largestBody = 32 * 1024 * 1024;

/** A server as its clients see it: the used part of the REST interface of version 1.18, its checks and its 32-bit vectors. */
export class FakeQdrant {
  readonly requests: { method: string; path: string; body: string; apiKey: string | undefined }[] = [];
  /** Called before a request is answered, with its path. */
  onRequest: (path: string) => Promise<void> | void = () => {};
  close = (): void => {};
  readonly #collections = new Map<string, Collection>();

  async listen(): Promise<string> {
    const { url, close } = await startServer(async (request, response) => {
      const { method = '', url: path = '/', headers } = request;
      const body = await text(request);
      this.requests.push({ method, path, body, apiKey: headers['api-key']?.toString() });
      await this.onRequest(path);
      const [status, answer] = this.#respond(method, path, body);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
    this.close = close;
    return url;
  }

  #respond(method: string, path: string, text: string): [number, unknown] {
    try {
      if (Buffer.byteLength(text) > largestBody) throw new Failure(413, 'Payload reached size limit.');
      const body = text === '' ? {} : JSON.parse(text);
      if (/\\ud[89a-f]/i.test(JSON.stringify(body).replaceAll('\\\\', '')))
        throw new Failure(400, 'Format error in JSON body: unexpected end of hex escape');
      return [
        200,
        { result: this.#answer(method, new URL(path, 'http://fake').pathname, body), status: 'ok', time: 0 },
      ];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return [error.status, { status: { error: error.message }, time: 0 }];
    }
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the bodies of all requests
  #answer(method: string, pathname: string, body: any): unknown {
    const [, , name, ...rest] = pathname.split('/').map(decodeURIComponent);
    if (name === undefined) return { collections: [...this.#collections.keys()].map((key) => ({ name: key })) };
    const route = `${method} ${rest.join('/')}`;
    if (route === 'PUT ') return this.#create(name, body);
    if (route === 'DELETE ') return this.#collections.delete(name);
    const collection = this.#collections.get(name);
    if (!collection) throw new Failure(404, `Not found: Collection \`${name}\` doesn't exist!`);
    const { points } = collection;
    switch (route) {
      case 'GET ':
        return { config: { params: { vectors: collection.vectors, sparse_vectors: collection.sparse } } };
      case 'PUT index':
        collection.indexes.add(body.field_name);
        return { status: 'completed' };
      case 'PUT points':
        for (const point of body.points) checkPoint(collection, point);
        for (const point of body.points) points.set(point.id, toStored(collection, point));
        return { status: 'completed' };
      case 'POST points':
        return body.ids.flatMap((id: string) => {
          const point = points.get(id);
          return point ? [select(point, body)] : [];
        });
      case 'POST points/delete':
        for (const id of body.points ?? matching(collection, body.filter).map((point) => point.id)) points.delete(id);
        return { status: 'completed' };
      case 'POST points/count':
        return { count: points.size };
      case 'POST points/scroll': {
        const found = matching(collection, body.filter)
          .filter(({ id }) => body.offset === undefined || id >= body.offset)
          .toSorted((a, b) => (a.id < b.id ? -1 : 1));
        return {
          points: found.slice(0, body.limit).map((point) => select(point, body)),
          next_page_offset: found[body.limit]?.id ?? null,
        };
      }
      case 'POST points/query': {
        const isDistance = collection.vectors[body.using]?.distance === 'Euclid';
        const toScore = scorerOf(collection, body);
        const found = matching(collection, body.filter)
          .flatMap((point) => {
            const score = toScore(point);
            return score === undefined ? [] : [{ ...select(point, body), score }];
          })
          .toSorted((a, b) => (isDistance ? a.score - b.score : b.score - a.score));
        return { points: found.slice(0, body.limit) };
      }
      default:
        throw new Failure(404, `no route ${route}`);
    }
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  #create(name: string, { vectors, sparse_vectors: sparse = {} }: any): boolean {
    if (this.#collections.has(name)) throw new Failure(409, `Wrong input: Collection \`${name}\` already exists!`);
    this.#collections.set(name, { vectors, sparse, indexes: new Set(), points: new Map() });
    return true;
  }
}

function isSparse(vector: number[] | Sparse): vector is Sparse {
  return !Array.isArray(vector);
}

function checkPoint({ vectors, sparse }: Collection, { id, vector }: Point): void {
  if (!uuid.test(id)) throw new Failure(400, `value ${id} is not a valid point ID`);
  for (const [name, value] of Object.entries(vector)) {
    if (isSparse(value)) {
      const isValid = sparse[name] && new Set(value.indices).size === value.values.length && value.values.length > 0;
      if (!isValid) throw new Failure(422, 'indices must be unique');
    } else if (vectors[name]?.size !== value.length) throw new Failure(400, 'Wrong input: Vector dimension error');
  }
}

/** Vectors have 32 bits, and the length 1 with the metric cosine. */
function toStored({ vectors }: Collection, { id, vector, payload }: Point): Point {
  const stored = Object.entries(vector).map(([name, value]): [string, number[] | Sparse] => {
    if (isSparse(value)) return [name, { ...value, values: value.values.map(Math.fround) }];
    const numbers = value.map(Math.fround);
    return [name, vectors[name]?.distance === 'Cosine' ? normalize(numbers) : numbers];
  });
  return { id, vector: Object.fromEntries(stored), payload };
}

function normalize(numbers: number[]): number[] {
  const square = Math.fround(dot(numbers, numbers));
  if (square < 1e-7 || Math.abs(square - 1) < 1e-6) return numbers;
  return numbers.map((value) => Math.fround(value / Math.sqrt(square)));
}

function dot(a: number[], b: number[]): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
function select({ id, payload, vector }: Point, body: any): Pick<Point, 'id'> & Partial<Point> {
  const pick = <Value>(values: Record<string, Value>, keys: string[]): Record<string, Value> =>
    Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)));
  return {
    id,
    payload: pick(payload, body.with_payload),
    ...(body.with_vector && { vector: pick(vector, body.with_vector) }),
  };
}

/** Returns the score of a point; `undefined` if it is not found. */
type Scorer = (point: Point) => number | undefined;

// oxlint-disable-next-line typescript/no-explicit-any -- as above
function scorerOf({ vectors, sparse, points }: Collection, { query, using }: any): Scorer {
  if (sparse[using]) return sparseScorer([...points.values()], using, query);
  const { distance, size } = vectors[using] ?? {};
  if (!distance) throw new Failure(400, `Wrong input: Not existing vector name error: ${using}`);
  if (query.length !== size) throw new Failure(400, 'Wrong input: Vector dimension error');
  const numbers = (query as number[]).map(Math.fround);
  const wanted = distance === 'Cosine' ? normalize(numbers) : numbers;
  return ({ vector }) => {
    const stored = vector[using] as number[];
    if (distance !== 'Euclid') return Math.fround(dot(stored, wanted));
    return Math.fround(Math.sqrt(stored.reduce((sum, value, at) => sum + (value - (wanted[at] as number)) ** 2, 0)));
  };
}

/** The modifier `idf` multiplies the weights of a query by the rarity of their terms. Points without a common term are not found. */
function sparseScorer(points: Point[], using: string, { indices, values }: Sparse): Scorer {
  const indexed = points.flatMap(({ vector }) => (vector[using] ? [vector[using] as Sparse] : []));
  const weights = indices.map((index, at) => {
    const count = indexed.filter((stored) => stored.indices.includes(index)).length;
    return (values[at] as number) * Math.log(1 + (indexed.length - count + 0.5) / (count + 0.5));
  });
  return ({ vector }) => {
    const stored = vector[using] as Sparse | undefined;
    const common = indices.map((index) => stored?.indices.indexOf(index) ?? -1);
    if (common.every((place) => place === -1)) return undefined;
    return common.reduce((sum, place, at) => sum + (weights[at] as number) * (stored?.values[place] ?? 0), 0);
  };
}

interface Condition {
  must?: Condition[];
  should?: Condition[];
  key?: string;
  match?: { any: string[] };
}

function matching(collection: Collection, filter: Condition = {}): Point[] {
  const passes = (condition: Condition, payload: Record<string, unknown>): boolean => {
    const { must = [], should, key, match, ...unknown } = condition;
    if (Object.keys(unknown).length > 0) throw new Failure(400, 'unknown field in a filter');
    if (key !== undefined) {
      // As in strict mode.
      if (!collection.indexes.has(key)) throw new Failure(400, `Index required but not found for "${key}"`);
      return match?.any.some((value) => (payload[key] as unknown[]).includes(value)) ?? false;
    }
    return must.every((part) => passes(part, payload)) && (should?.some((part) => passes(part, payload)) ?? true);
  };
  return [...collection.points.values()].filter(({ payload }) => passes(filter, payload));
}
