import { libraryBuild } from '../../scripts/build/library-build.ts';

export default libraryBuild(import.meta.dirname);
