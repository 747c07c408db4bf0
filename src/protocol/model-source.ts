/**
 * Where a model comes from, by the kind of engine that serves it. The registry passes sources on and reads the tool format
 * only; `checkpoints/` and `app/` know what the other fields of a local one mean.
 */
import type { Quantization } from '../core/quant-mode.ts'
import type { ToolFormat } from '../core/tool-format.ts'

/** Files of this machine, or of the Hub, for an engine process of this server. */
export interface LocalModelSource {
  readonly kind: 'local'
  /** A `.gguf` file, a `.safetensors` file, a folder in the Hugging Face layout, or `hf:org/repo[:file]`. */
  readonly checkpoint: string
  /** Its config.json; null takes the one beside the checkpoint. */
  readonly modelConfig: string | null
  /** Its tokenizer.json; null takes the one beside the checkpoint. */
  readonly tokenizer: string | null
  /** What its weight matrices become; the files given stay as they are. */
  readonly quantization: Quantization
  /** How it writes tool calls; `auto` finds that from its chat template. */
  readonly toolFormat: ToolFormat
}

export type ModelSource = LocalModelSource

/** A source as it is given from code or by the API: only the checkpoint is required. */
export type RegisteredSource = Pick<LocalModelSource, 'checkpoint'> & Partial<LocalModelSource>

export function toModelSource(given: RegisteredSource): ModelSource {
  return {
    kind: 'local',
    modelConfig: null,
    tokenizer: null,
    quantization: 'none',
    toolFormat: 'auto',
    ...given,
  }
}
