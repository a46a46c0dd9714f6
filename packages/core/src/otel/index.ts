export { instrument, type InstrumentOptions, type MeterLike, type TracerLike } from './instrument.js';
