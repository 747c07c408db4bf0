/**
 * Where a model comes from, by the kind of engine that serves it. The registry passes sources on and reads the tool format and
 * the quantization of local ones only; `checkpoints/`, `engines/remote/` and `app/` know what the other fields mean.
 */
import type { Quantization } from '../core/choices/quant-mode.ts'
import type { SecretText } from '../core/text/secret-text.ts'
import type { ToolFormat } from '../core/choices/tool-format.ts'

/** Files of this machine, or of the Hub, for an engine process of this server. */
export interface LocalModelSource {
  readonly kind: 'local'
  /** A `.gguf` file, a `.safetensors` file, a folder in the Hugging Face layout, or `hf:org/repo[:file]`. */
  readonly checkpoint: string
  /** Its config.json; null takes the one beside the checkpoint. */
  readonly modelConfig: string | null
  /** Its tokenizer.json or tekken.json; null takes the one beside the checkpoint. */
  readonly tokenizer: string | null
  /** What its weight matrices become; the files given stay as they are. */
  readonly quantization: Quantization
  /** A smaller checkpoint of the same vocabulary that guesses its next tokens; null for none. */
  readonly draftCheckpoint: string | null
  /** How it writes tool calls; `auto` finds that from its chat template. */
  readonly toolFormat: ToolFormat
}

/** A model that other servers serve over OpenAI's API: vLLM, SGLang, llama-server, Ollama, another Sluice. */
export interface RemoteModelSource {
  readonly kind: 'openai'
  /** At least one, as `http://host:8000/v1`; with `dns+` in front, every address of the host is an endpoint. */
  readonly endpoints: readonly string[]
  /** Sent as a bearer token; null for none. */
  readonly apiKey: SecretText | null
  /** Its id there; null takes the first that the endpoints list. */
  readonly model: string | null
}

/** A LoRA adapter of a model that is registered, which serves under an id of its own in the engine of that model. */
export interface AdapterModelSource {
  readonly kind: 'adapter'
  /** The id or alias of the model that it is for. */
  readonly base: string
  /** A GGUF file, a folder as PEFT saves it, or `hf:org/repo[:file.gguf]`. */
  readonly adapter: string
  /** Multiplies what it adds to the weights. */
  readonly scale: number
}

export type ModelSource = LocalModelSource | RemoteModelSource | AdapterModelSource

/** A local source as it is given from code or by the API: only the checkpoint is required. */
export type LocalModelOptions = Pick<LocalModelSource, 'checkpoint'> & Partial<LocalModelSource>

/** As given: its scale is 1 where none is. */
type AdapterModelOptions = Omit<AdapterModelSource, 'scale'> & Partial<Pick<AdapterModelSource, 'scale'>>

/** A source as it is given from code or by the API. */
export type RegisteredSource = LocalModelOptions | RemoteModelSource | AdapterModelOptions

export function toModelSource(given: RegisteredSource): ModelSource {
  if (given.kind === 'openai') return given
  return given.kind === 'adapter' ? { scale: 1, ...given } : toLocalSource(given)
}

export function toLocalSource(given: LocalModelOptions): LocalModelSource {
  return {
    kind: 'local',
    modelConfig: null,
    tokenizer: null,
    quantization: 'none',
    draftCheckpoint: null,
    toolFormat: 'auto',
    ...given,
  }
}
