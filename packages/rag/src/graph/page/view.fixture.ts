import type { GraphView, GraphViewEdge } from './graph-view.js';

const edge = (from: string, to: string, kind: string, reason: string, weight: number): GraphViewEdge => ({
  from,
  to,
  kind,
  reason,
  weight,
});

const toEngine = edge('lovelace', 'engine', 'phrase', '“analytical engine”', 1.1);
const toJacquard = edge('engine', 'jacquard', 'phrase', '“punched cards”', 0.9);
const toMenabrea = edge('notes', 'menabrea', 'link', 'notes.md links to menabrea.md', 1);

/** The neighborhood of a query whose answer is two steps away from the passages that match it. */
export const computing: GraphView = {
  query: 'Which machine gave the programs of Ada Lovelace their cards?',
  nodes: [
    {
      id: 'lovelace',
      title: 'Ada Lovelace',
      source: 'people/lovelace.md',
      seedScore: 0.82,
      text: 'Ada Lovelace wrote what is held to be the first program, for the analytical engine of Charles Babbage.',
    },
    {
      id: 'notes',
      title: 'Notes of the translator',
      source: 'works/notes.md',
      seedScore: 0.55,
      text: 'The notes of Ada Lovelace are longer than the article that she translated.',
    },
    {
      id: 'engine',
      title: 'The analytical engine',
      source: 'machines/engine.md',
      text: 'The analytical engine was to read its program from punched cards. It was never built as a whole.',
    },
    {
      id: 'jacquard',
      title: 'Jacquard loom',
      source: 'machines/loom.md',
      text: 'The Jacquard loom weaves patterns that are stored on punched cards.',
    },
    {
      id: 'menabrea',
      title: 'Luigi Menabrea',
      source: 'people/menabrea.md',
      text: 'Menabrea described the engine after the lectures of Turin.',
    },
    {
      id: 'babbage',
      title: 'Charles Babbage',
      source: 'people/babbage.md',
      text: 'Charles Babbage designed two engines.',
    },
    {
      id: 'difference',
      title: 'Difference engine no. 2',
      source: 'machines/difference.md',
      text: 'It computes tables of polynomials by differences.',
    },
    {
      id: 'hollerith',
      title: 'Herman Hollerith',
      source: 'people/hollerith.md',
      text: 'Hollerith counted a census with punched cards.',
    },
    {
      id: 'turin',
      title: 'Lectures of Turin',
      source: 'works/turin.md',
      text: 'In 1840 Babbage explained his engine in Turin.',
    },
  ],
  edges: [
    toEngine,
    toJacquard,
    toMenabrea,
    edge('lovelace', 'notes', 'sequence', 'the passage before', 0.7),
    edge('lovelace', 'babbage', 'phrase', '“charles babbage”', 0.8),
    edge('babbage', 'difference', 'similarity', 'similarity 0.71', 0.71),
    edge('babbage', 'turin', 'relation', 'explained in', 1),
    edge('engine', 'babbage', 'phrase', '“engine”', 0.4),
    edge('jacquard', 'hollerith', 'phrase', '“punched cards”', 0.6),
    edge('menabrea', 'turin', 'triple', 'heard the lectures of', 0.8),
    edge('engine', 'difference', 'similarity', 'similarity 0.77', 0.77),
  ],
  ranking: [
    { id: 'lovelace', score: 1, path: [] },
    { id: 'engine', score: 0.71, path: [toEngine] },
    { id: 'notes', score: 0.55, path: [] },
    { id: 'jacquard', score: 0.38, path: [toEngine, toJacquard] },
    { id: 'menabrea', score: 0.22, path: [toMenabrea] },
  ],
};

const attack = `</script><script>window.attacked=1</script><img src=x onerror="window.attacked=2">"'&\u2028`;

/** Every text of it tries to leave its place in the page. */
export const hostile: GraphView = {
  query: attack,
  nodes: [
    { id: attack, title: attack, text: attack, source: attack, seedScore: 0.9 },
    { id: '__proto__', title: 'constructor', text: '</textarea></style><svg/onload=window.attacked=3>' },
  ],
  edges: [edge(attack, '__proto__', `x" onmouseover="window.attacked=4`, attack, 1)],
  ranking: [
    { id: attack, score: 1, path: [] },
    { id: '__proto__', score: 0.5, path: [edge(attack, '__proto__', attack, attack, 1)] },
  ],
};
