/** Holds others at `passed` until it is opened. */
export class Gate {
  open = (): void => {};
  readonly passed: Promise<void> = new Promise((resolve) => {
    this.open = resolve;
  });
}
