import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { startServer } from '../../http-server.fixture.js';

type Metadata = Record<string, string | number | boolean | string[]>;

interface FakeRecord {
  id: string;
  values: number[];
  sparseValues?: { indices: number[]; values: number[] };
  metadata?: Metadata;
  isWaiting: boolean;
}

interface FakeIndex {
  description: object;
  metric: string;
  dimension: number;
  namespaces: Map<string, Map<string, FakeRecord>>;
}

/** The service as its clients see it: the REST interface of 2026-07, its limits, and its delay. */
export class FakePinecone {
  readonly requests: { path: string; body: string }[] = [];
  /** Records that are written while it is `false` are not found until it is `true`. */
  isIndexing = true;
  /** Milliseconds until a request is answered. */
  latency = 0;
  /** Pending requests, without those of clients that disconnected. */
  waiting = 0;
  url = '';
  close = (): void => {};
  #indexes = new Map<string, FakeIndex>();

  async listen(): Promise<string> {
    const { url, close } = await startServer(async (request, response) => {
      const body = await text(request);
      this.requests.push({ path: request.url ?? '', body });
      const reply = (): void => {
        const [status, answer] = this.#answer(request, body);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer));
      };
      if (this.latency === 0) return reply();
      this.waiting += 1;
      const timer = setTimeout(reply, this.latency);
      response.on('close', () => {
        this.waiting -= 1;
        clearTimeout(timer);
      });
    });
    Object.assign(this, { url, close });
    return url;
  }

  #answer(request: IncomingMessage, text: string): [number, unknown] {
    const url = new URL(request.url ?? '/', 'http://fake');
    if (!request.headers['api-key'] || request.headers['x-pinecone-api-version'] !== '2026-07')
      return failure(401, 'key');
    // oxlint-disable-next-line typescript/no-explicit-any -- the bodies of all requests
    const body: any = text === '' ? {} : JSON.parse(text);
    if ((request.url ?? '').length > 8192) return failure(414, 'the address is too long');
    const [, first, second, third] = url.pathname.split('/');
    if (first === 'indexes') return this.#control(request.method ?? '', second, body);
    // The service gives each index a host; here it is the first part of the path.
    const index = this.#indexes.get(first ?? '');
    if (!index) return failure(404, `no index at ${url.pathname}`);
    return this.#data(
      index,
      [second, third].filter(Boolean).join('/'),
      url.searchParams,
      body,
      Buffer.byteLength(text),
    );
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  #control(method: string, name: string | undefined, body: any): [number, unknown] {
    if (method === 'POST') {
      if (this.#indexes.has(body.name)) return failure(409, 'exists');
      const { dimension, metric } = body.schema.fields._values;
      const description = {
        name: body.name,
        host: `${this.url}/${body.name}`,
        status: { ready: true, state: 'Ready' },
        deletion_protection: 'disabled',
        deployment: { ...body.deployment, environment: 'fake' },
        schema: body.schema,
      };
      this.#indexes.set(body.name, { description, metric, dimension, namespaces: new Map() });
      return [201, description];
    }
    if (name === undefined)
      return [200, { indexes: [...this.#indexes.values()].map(({ description }) => description) }];
    const index = this.#indexes.get(name);
    if (!index) return failure(404, 'not found');
    if (method !== 'DELETE') return [200, index.description];
    this.#indexes.delete(name);
    return [202, {}];
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  #data(index: FakeIndex, path: string, params: URLSearchParams, body: any, bytes: number): [number, unknown] {
    const namespace = params.get('namespace') ?? body.namespace ?? '__default__';
    const records = index.namespaces.get(namespace) ?? new Map<string, FakeRecord>();
    const visible = [...records.values()].filter(({ isWaiting }) => !isWaiting || this.isIndexing);
    switch (path) {
      case 'vectors/upsert': {
        const problem = limitsOf(index, body.vectors, bytes);
        if (problem) return failure(400, problem);
        for (const vector of body.vectors) records.set(vector.id, { ...vector, isWaiting: !this.isIndexing });
        index.namespaces.set(namespace, records);
        return [200, { upsertedCount: body.vectors.length }];
      }
      case 'query': {
        if (body.topK > 10_000) return failure(400, 'topK');
        const sign = index.metric === 'euclidean' ? 1 : -1;
        const matches = visible
          .filter(({ metadata = {} }) => !body.filter || passes(body.filter, metadata))
          .map((record) => ({ record, score: scoreOf(index.metric, record, body) }))
          .toSorted((a, b) => sign * (a.score - b.score))
          .slice(0, body.topK)
          .map(({ record: { id, values, metadata }, score }) => ({
            id,
            score,
            ...(body.includeValues && { values }),
            ...(body.includeMetadata && { metadata }),
          }));
        return [200, { matches, namespace, usage: { readUnits: 1 } }];
      }
      case 'vectors/fetch': {
        const ids = new Set(params.getAll('ids'));
        const found = visible.filter(({ id }) => ids.has(id)).map((record) => [record.id, record]);
        return [200, { vectors: Object.fromEntries(found), namespace, usage: { readUnits: 1 } }];
      }
      case 'vectors/list': {
        const after = params.get('paginationToken') ?? '';
        const ids = visible
          .map(({ id }) => id)
          .filter((id) => id > after)
          .toSorted();
        const page = ids.slice(0, Number(params.get('limit') ?? 100));
        const pagination = ids.length > page.length ? { pagination: { next: page.at(-1) } } : {};
        return [200, { vectors: page.map((id) => ({ id })), ...pagination, namespace, usage: { readUnits: 1 } }];
      }
      case 'vectors/delete': {
        if (!index.namespaces.has(namespace)) return failure(404, 'namespace');
        if (body.ids?.length > 1000) return failure(400, 'ids');
        if (body.deleteAll) records.clear();
        for (const id of body.ids ?? []) records.delete(id);
        return [200, {}];
      }
      case 'describe_index_stats': {
        const counts = [...index.namespaces].map(([name, { size }]) => [name, { vectorCount: size }]);
        return [200, { namespaces: Object.fromEntries(counts), dimension: index.dimension, totalVectorCount: 0 }];
      }
      default:
        return failure(404, path);
    }
  }
}

function failure(status: number, message: string): [number, unknown] {
  return [status, { status, error: { code: String(status), message } }];
}

function limitsOf(index: FakeIndex, vectors: FakeRecord[], bytes: number): string | undefined {
  if (vectors.length > 1000 || bytes > 2_097_152) return 'request too large';
  for (const { values, sparseValues, metadata = {} } of vectors) {
    if (sparseValues && index.metric !== 'dotproduct') return 'sparse values';
    if (values.length !== index.dimension || values.every((value) => value === 0)) return 'values';
    if (Buffer.byteLength(JSON.stringify(metadata)) > 40_960) return 'metadata size';
    for (const value of Object.values(metadata) as unknown[]) {
      const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
      if (!isList && !['string', 'number', 'boolean'].includes(typeof value)) return 'metadata type';
    }
  }
  return undefined;
}

function scoreOf(
  metric: string,
  record: FakeRecord,
  { vector, sparseVector }: { vector: number[]; sparseVector?: { indices: number[]; values: number[] } },
): number {
  const dot = (a: number[], b: number[]): number => a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
  const { values, sparseValues } = record;
  if (metric === 'euclidean') return values.reduce((sum, value, at) => sum + (value - (vector[at] as number)) ** 2, 0);
  if (metric === 'cosine') return dot(values, vector) / Math.sqrt(dot(values, values) * dot(vector, vector));
  const weights = new Map(sparseValues?.indices.map((index, at) => [index, sparseValues.values[at] as number]));
  const sparse = sparseVector?.indices.reduce(
    (sum, index, at) => sum + (weights.get(index) ?? 0) * (sparseVector.values[at] as number),
    0,
  );
  return dot(values, vector) + (sparse ?? 0);
}

/** The operators of the service; anything else is an error there too. */
function passes(filter: object, metadata: Metadata): boolean {
  return Object.entries(filter).every(([key, condition]) => {
    if (key === '$and') return (condition as object[]).every((part) => passes(part, metadata));
    if (key === '$or') return (condition as object[]).some((part) => passes(part, metadata));
    const value = metadata[key];
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return Object.entries(condition as object).every(([operator, operand]) => {
      if (operator === '$eq') return values.includes(operand);
      if (operator === '$in') return values.some((item) => (operand as unknown[]).includes(item));
      if (typeof value !== 'number') return false;
      if (operator === '$gt') return value > operand;
      if (operator === '$gte') return value >= operand;
      if (operator === '$lt') return value < operand;
      if (operator === '$lte') return value <= operand;
      throw new Error(`unknown operator ${operator}`);
    });
  });
}
