/**
 * LoRA adapters of a model that an engine serves: what the engine is told of them. Only data, because it is sent to the engine
 * process. A sequence with an adapter runs in the same slots as one without.
 */

/** An adapter in GGUF. */
interface AdapterFile {
  /** The id that it serves under, for messages. */
  readonly modelId: string
  readonly path: string
  /** Multiplies what the adapter adds to the weights, beside its own alpha. */
  readonly scale: number
}

/** As an engine knows it: requests name the number, which is never given twice. */
export interface NumberedAdapter extends AdapterFile {
  readonly adapterId: number
}

/** What it adds to the model that it is for, as its header says. */
interface AdapterNumbers {
  readonly parameters: number
  readonly sizeBytes: number
}

export interface AdapterOptions extends AdapterFile, AdapterNumbers {}

/** One that an engine has loaded. */
export interface OpenedAdapter extends AdapterNumbers {
  readonly adapterId: number
}
