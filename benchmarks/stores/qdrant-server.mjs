// The stand-in for a Qdrant server of the tests, in a separate process, so that its time does not count as the client's.
import { FakeQdrant } from '../../packages/rag/src/stores/qdrant/fake-qdrant.fixture.ts';

process.send(await new FakeQdrant().listen());
