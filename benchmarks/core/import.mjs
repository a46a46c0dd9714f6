// Prints the milliseconds that the first import of a module takes in a fresh process.
const started = performance.now();
await import(process.argv[2]);
console.log(performance.now() - started);
