/**
 * Where a model comes from, by the kind of engine that serves it. The registry passes sources on and reads the tool format and
 * the quantization of local ones only; `checkpoints/`, `engines/remote/` and `app/` know what the other fields mean.
 */
import type { Quantization } from '../core/quant-mode.ts'
import type { SecretText } from '../core/text/secret-text.ts'
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

export type ModelSource = LocalModelSource | RemoteModelSource

/** A local source as it is given from code or by the API: only the checkpoint is required. */
export type LocalModelOptions = Pick<LocalModelSource, 'checkpoint'> & Partial<LocalModelSource>

/** A source as it is given from code or by the API. */
export type RegisteredSource = LocalModelOptions | RemoteModelSource

export function toModelSource(given: RegisteredSource): ModelSource {
  return isRemote(given) ? given : toLocalSource(given)
}

function isRemote(given: RegisteredSource): given is RemoteModelSource {
  return given.kind === 'openai'
}

export function toLocalSource(given: LocalModelOptions): LocalModelSource {
  return {
    kind: 'local',
    modelConfig: null,
    tokenizer: null,
    quantization: 'none',
    toolFormat: 'auto',
    ...given,
  }
}
