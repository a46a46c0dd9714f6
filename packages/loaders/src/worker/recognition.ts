import { unreadableDocument } from '../formats/document-loader.js';
import type { PageImage, RecognizeText } from '../formats/pdf/scanned-page.js';
import { deserializeError, type RecognitionMessage, type ToWorker } from './messages.js';

interface ImageRequest {
  readonly resolve: (images: PageImage[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls `ocr`, a function of the caller, for a worker. */
export class Recognition {
  /** Errors of `ocr`. They stay on this thread, and messages have their indexes. */
  readonly errors: unknown[] = [];
  readonly #recognize: RecognizeText | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #send: (message: ToWorker) => void;
  readonly #onChange: () => void;
  #call: number | undefined;
  #requests: ImageRequest[] = [];

  /** @param onChange - called when `isWaiting` may have changed */
  constructor(
    recognize: RecognizeText | undefined,
    signal: AbortSignal | undefined,
    send: (message: ToWorker) => void,
    onChange: () => void,
  ) {
    this.#recognize = recognize;
    this.#signal = signal;
    this.#send = send;
    this.#onChange = onChange;
  }

  /** Whether the worker waits for the function of the caller. */
  get isWaiting(): boolean {
    return this.#call !== undefined && this.#requests.length === 0;
  }

  receive(message: RecognitionMessage): void {
    if (message.type === 'recognize') void this.#run(message);
    else if (message.call === this.#call) {
      const request = this.#requests.shift();
      if (message.type === 'images') request?.resolve(message.images);
      else request?.reject(deserializeError(message.error, this.errors));
    }
    this.#onChange();
  }

  /** Ends the current call: its requests for images fail. */
  end(): void {
    this.#call = undefined;
    for (const { reject } of this.#requests.splice(0)) reject(tooLate());
  }

  async #run({ call, name, page }: RecognitionMessage & { type: 'recognize' }): Promise<void> {
    this.#call = call;
    const images = (): Promise<PageImage[]> => {
      if (this.#call !== call) return Promise.reject(tooLate());
      const response = new Promise<PageImage[]>((resolve, reject) => this.#requests.push({ resolve, reject }));
      this.#send({ type: 'images', call });
      this.#onChange();
      return response;
    };
    let message: ToWorker;
    try {
      const text = await this.#recognize?.({ name, page, images, signal: this.#signal });
      message = { type: 'recognized', text: text ?? '' };
    } catch (error) {
      message = { type: 'recognition failed', hookError: this.errors.push(error) - 1 };
    }
    if (this.#call !== call) return;
    this.end();
    this.#send(message);
    this.#onChange();
  }
}

function tooLate(): Error {
  return unreadableDocument('The page', 'its images are available until `ocr` returns.');
}
