/**
 * Helpers that the packages of Quiver share. Not part of the public interface: they may change with any version.
 *
 * @internal
 * @module
 */
export { abortableItems, requireItems, runAhead } from './async-items.js';
export { acquireFileLock, withFileLock, type FileLock, type FileLockOptions } from './file-lock.js';
export { bootstrapMean, compareMeans, type Interval, type PairedDifference } from './intervals.js';
export { loadBuiltin } from './load-builtin.js';
export {
  anyValue,
  booleanValue,
  checkOptions,
  eitherOf,
  findNearestName,
  functionValue,
  ignoredOptions,
  invalidOptions,
  listOf,
  loggerValue,
  numberIn,
  objectOf,
  objectWith,
  oneOf,
  required,
  resolveAliases,
  signalValue,
  stringList,
  stringValue,
  valueThat,
  wholeNumber,
  type CheckOptionsSettings,
  type OptionCheck,
  type OptionChecks,
  unchecked,
} from './options.js';
export {
  createAddressGuard,
  isLoopbackAddress,
  isMetadataAddress,
  isPrivateAddress,
  type AddressGuard,
} from './private-address.js';
export { replaceFile } from './replace-file.js';
export { resolvePointer } from './schema/json-schema-index.js';
export { packageVersion } from './version.js';
