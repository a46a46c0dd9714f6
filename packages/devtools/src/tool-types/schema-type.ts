import {
  arrayOf,
  docComment,
  intersection,
  neverType,
  operand,
  propertyName,
  quote,
  single,
  union,
  unknownType,
  type TypeText,
} from './type-text.js';
import { resolvePointer } from '@quiver/core/internal';
import { isObject } from '../json.js';

type Schema = Record<string, unknown>;

/** Type that references point to. */
interface NamedType {
  readonly name: string;
  readonly schema: unknown;
  /** Types that it refers to other than in members of objects and arrays. TypeScript refuses a cycle of them. */
  readonly direct: Set<NamedType>;
}

/** Place of a schema in the text. */
interface Place {
  readonly indent: string;
  readonly depth: number;
  /** Named type whose alternatives or conditions are written. */
  readonly owner?: NamedType | undefined;
}

const maxDepth = 24;
const maxParts = 5000;
const maxNamedTypes = 200;
const maxLiteralLength = 1000;
/** Alternatives that an intersection multiplies to. TypeScript refuses 100 000 of them. */
const maxAlternatives = 1000;

/**
 * Writes one JSON Schema as a type. The work is linear in the size of the schema and bounded: schemas beyond the bounds, and those that
 * cannot be expressed (`not`, `if`, references to other documents), become `unknown`.
 */
export class SchemaType {
  readonly #root: unknown;
  readonly #toName: (hint: string) => string;
  readonly #named = new Map<unknown, NamedType>();
  readonly #alternatives = new Map<unknown, number>();
  #parts = 0;

  /** @param toName - returns a unique name for the target of a reference */
  constructor(root: unknown, toName: (hint: string) => string) {
    this.#root = root;
    this.#toName = toName;
  }

  /** Returns the type of the whole schema, whose further lines are indented. */
  write(indent: string): string {
    return this.#write(this.#root, { indent, depth: 0 }).text;
  }

  /** Returns the declarations of the types that references point to. */
  declarations(): string[] {
    const declarations: string[] = [];
    // The iteration includes the types that the declarations add.
    for (const named of this.#named.values()) {
      const { text } = this.#write(named.schema, { indent: '', depth: 0, owner: named });
      const description = isObject(named.schema) ? describeSchema(named.schema) : [];
      declarations.push(`${docComment(description, '')}export type ${named.name} = ${text};\n`);
    }
    return declarations;
  }

  #write(schema: unknown, place: Place): TypeText {
    if (schema === false) return neverType;
    this.#parts += 1;
    if (!isObject(schema) || place.depth > maxDepth || this.#parts > maxParts) return unknownType;
    const inner = { ...place, depth: place.depth + 1 };
    const conditions = [
      this.#reference(schema['$ref'], place.owner),
      this.#literals(schema) ?? this.#values(schema, inner),
      ...['anyOf', 'oneOf'].flatMap((key) => {
        const alternatives = listOf(schema[key]);
        return alternatives.length > 0 ? [union(alternatives.map((each) => this.#write(each, inner)))] : [];
      }),
      ...listOf(schema['allOf']).map((each) => this.#write(each, inner)),
    ];
    const isJoined = conditions.filter((type) => type !== unknownType).length > 1;
    const isTooLarge = isJoined && this.#countAlternatives(schema, 0) > maxAlternatives;
    const type = isTooLarge ? unknownType : intersection(conditions);
    return schema['nullable'] === true ? union([type, single('null')]) : type;
  }

  #reference(pointer: unknown, owner: NamedType | undefined): TypeText {
    if (pointer === undefined) return unknownType;
    const target = resolvePointer(this.#root, String(pointer));
    if (target === false) return neverType;
    if (!isObject(target)) return unknownType;
    const named = this.#named.get(target) ?? this.#declare(target, String(pointer));
    if (!named || (owner && reaches(named, owner))) return unknownType;
    owner?.direct.add(named);
    return single(named.name);
  }

  #declare(schema: object, pointer: string): NamedType | undefined {
    if (this.#named.size >= maxNamedTypes) return undefined;
    const name = this.#toName(pointer.slice(pointer.lastIndexOf('/') + 1));
    const named = { name, schema, direct: new Set<NamedType>() };
    this.#named.set(schema, named);
    return named;
  }

  #literals(schema: Schema): TypeText | undefined {
    const hasConst = Object.hasOwn(schema, 'const');
    if (!hasConst && !Array.isArray(schema['enum'])) return undefined;
    return union((hasConst ? [schema['const']] : listOf(schema['enum'])).map((value) => this.#literal(value, 0)));
  }

  #literal(value: unknown, depth: number): TypeText {
    this.#parts += 1;
    if (depth > maxDepth || this.#parts > maxParts) return unknownType;
    if (typeof value === 'string') return single(value.length > maxLiteralLength ? 'string' : quote(value));
    if (typeof value === 'number') return single(Number.isFinite(value) ? String(value) : 'number');
    if (typeof value === 'boolean' || value === null) return single(String(value));
    const literal = (member: unknown): string => this.#literal(member, depth + 1).text;
    if (Array.isArray(value)) return single(`[${value.map(literal).join(', ')}]`);
    if (!isObject(value)) return unknownType;
    const members = Object.entries(value).map(([name, member]) => `${propertyName(name)}: ${literal(member)}`);
    return single(members.length > 0 ? `{ ${members.join('; ')} }` : '{ [key: string]: never }');
  }

  /** Returns the types that `type` names, or that the other keywords imply. */
  #values(schema: Schema, place: Place): TypeText {
    const { type = impliedType(schema) } = schema;
    const names: unknown[] = Array.isArray(type) ? type : [type];
    return union(names.map((name) => this.#value(name, schema, place)));
  }

  #value(name: unknown, schema: Schema, place: Place): TypeText {
    if (name === 'array') return this.#array(schema, { ...place, owner: undefined });
    if (name === 'object') return this.#object(schema, { ...place, owner: undefined });
    const isSimple = ['string', 'number', 'boolean', 'null'].includes(String(name));
    return isSimple ? single(String(name)) : name === 'integer' ? single('number') : unknownType;
  }

  /** Writes an array, or a tuple. Its elements are required, unless `minItems` specifies another number; it has no others, unless their schema is there. */
  #array({ prefixItems, items, additionalItems, minItems }: Schema, place: Place): TypeText {
    const elements = Array.isArray(prefixItems) ? prefixItems : items;
    if (!Array.isArray(elements)) return arrayOf(this.#write(items, place));
    const rest = elements === items ? additionalItems : items;
    const required = typeof minItems === 'number' ? minItems : elements.length;
    const texts = elements.map((element, index) => {
      const type = this.#write(element, place);
      return index < required ? type.text : `${operand(type)}?`;
    });
    if (rest !== undefined && rest !== false) texts.push(`...${arrayOf(this.#write(rest, place)).text}`);
    return single(`[${texts.join(', ')}]`);
  }

  #object(schema: Schema, place: Place): TypeText {
    const properties = new Map(isObject(schema['properties']) ? Object.entries(schema['properties']) : []);
    const required = requiredNames(schema);
    const indent = `${place.indent}  `;
    const member = ([name, property]: [string, unknown]): string => {
      const mark = required.has(name) ? '' : '?';
      const { text } = this.#write(property, { ...place, indent });
      const comment = isObject(property) ? docComment(describeSchema(property), indent) : '';
      return `${comment}${indent}${propertyName(name)}${mark}: ${text};\n`;
    };
    const undeclared = [...required].filter((name) => !properties.has(name));
    const members = [...[...properties].map(member), ...undeclared.map((name) => member([name, undefined]))];
    const { additionalProperties: additional, patternProperties } = schema;
    const patterns = isObject(patternProperties) ? Object.values(patternProperties) : [];
    if (members.length === 0) {
      // A combined schema names the properties elsewhere.
      if (patterns.length === 0 && !isObject(additional) && isCombined(schema)) return unknownType;
      const values = [...patterns, additional === undefined ? true : additional];
      const value = union(values.map((each) => this.#write(each, { ...place, indent })));
      return single(`{ [key: string]: ${value.text} }`);
    }
    // The type of an index must include the types of all properties.
    if (additional === true || isObject(additional) || patterns.length > 0)
      members.push(`${indent}[key: string]: unknown;\n`);
    return single(`{\n${members.join('')}${place.indent}}`);
  }

  /** Returns how many alternatives the type of a schema has at most, `Infinity` where that takes too long to find out. */
  #countAlternatives(schema: unknown, depth: number): number {
    if (!isObject(schema)) return 1;
    const known = this.#alternatives.get(schema);
    if (known !== undefined) return known;
    if (depth > maxDepth) return Infinity;
    // Schemas that contain themselves.
    this.#alternatives.set(schema, Infinity);
    const count = (each: unknown): number => this.#countAlternatives(each, depth + 1);
    const sum = (list: readonly unknown[]): number => list.reduce<number>((total, each) => total + count(each), 0) || 1;
    const factors = [
      Math.max(listOf(schema['enum']).length, listOf(schema['type']).length, 1),
      sum(listOf(schema['anyOf'])),
      sum(listOf(schema['oneOf'])),
      ...listOf(schema['allOf']).map(count),
      ...(schema['$ref'] === undefined ? [] : [count(resolvePointer(this.#root, String(schema['$ref'])))]),
    ];
    const alternatives = factors.reduce((a, b) => a * b, schema['nullable'] === true ? 2 : 1);
    this.#alternatives.set(schema, alternatives);
    return alternatives;
  }
}

/** Limits that a comment shows, by keyword. */
const limits: Readonly<Record<string, string>> = {
  format: 'Format',
  pattern: 'Pattern',
  minimum: 'Minimum',
  exclusiveMinimum: 'Greater than',
  maximum: 'Maximum',
  exclusiveMaximum: 'Less than',
  multipleOf: 'Multiple of',
  minLength: 'Minimum length',
  maxLength: 'Maximum length',
  minItems: 'Minimum of items',
  maxItems: 'Maximum of items',
  minProperties: 'Minimum of properties',
  maxProperties: 'Maximum of properties',
  default: 'Default',
};

/** Returns the description of a schema, and its limits, as lines. */
function describeSchema(schema: Schema): string[] {
  const { title, description, deprecated } = schema;
  const alternatives = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])].filter(isObject);
  const found = [schema, ...alternatives].flatMap(readLimits);
  return [
    ...[title, description].filter((text) => typeof text === 'string'),
    ...(found.length > 0 ? [`${[...new Set(found)].join('. ')}.`] : []),
    ...(deprecated === true ? ['@deprecated'] : []),
  ];
}

function readLimits(schema: Schema): string[] {
  const isWhole = schema['type'] === 'integer' ? ['Integer'] : [];
  const found = Object.entries(limits).flatMap(([key, label]) => {
    const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
    // Larger values have no place in a comment.
    const isShown = ['string', 'number', 'boolean'].includes(typeof value) || value === null;
    // Some libraries state it for every integer.
    const isUnlimited = typeof value === 'number' && Math.abs(value) === Number.MAX_SAFE_INTEGER;
    return isShown && !isUnlimited ? [`${label}: ${typeof value === 'string' ? `\`${value}\`` : String(value)}`] : [];
  });
  return [...isWhole, ...(schema['uniqueItems'] === true ? ['Unique items'] : []), ...found];
}

function impliedType(schema: Schema): string | undefined {
  const { properties, patternProperties, additionalProperties, items, prefixItems } = schema;
  const members = [properties, patternProperties, additionalProperties];
  if (members.some(isObject) || requiredNames(schema).size > 0) return 'object';
  return items !== undefined || prefixItems !== undefined ? 'array' : undefined;
}

function isCombined(schema: Schema): boolean {
  return ['$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => schema[key] !== undefined);
}

function requiredNames({ required }: Schema): Set<string> {
  return new Set(listOf(required).filter((name) => typeof name === 'string'));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns whether a named type refers to another one directly, also through others. */
function reaches(from: NamedType, to: NamedType): boolean {
  const seen = new Set([from]);
  // The iteration includes the types that it adds.
  for (const named of seen) {
    if (named === to) return true;
    for (const next of named.direct) seen.add(next);
  }
  return false;
}
