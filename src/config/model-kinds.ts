/** How the list of models in a configuration file, or from code, is read. */
import { type Quantization, QUANTIZATIONS } from '../core/choices/quant-mode.ts'
import { type Tier, TIERS } from '../core/tiers.ts'
import { type LoadTime, LOAD_TIMES } from '../core/choices/load-time.ts'
import { type ToolFormat, TOOL_FORMATS } from '../core/choices/tool-format.ts'
import { endpointUrl, modelName, upstreamSecret } from './upstream-kinds.ts'
import {
  choice,
  list,
  numberFrom,
  path,
  textLike,
  toggle,
  type ValueKind,
  ValueProblem,
} from './value-kinds.ts'

export const modelIdKind = textLike(
  'id',
  "at most 200 characters without spaces, none of its segments '.' or '..'",
  (text) => /^[^\s\p{C}]{1,200}$/u.test(text) && !hasDotSegment(text),
)

/** Whether clients would make another path of one with it. */
export function hasDotSegment(id: string): boolean {
  return id.split('/').some((segment) => segment === '.' || segment === '..')
}

/** The name, then the id of the model that it stands for. */
export const modelAlias = textLike('name=id', "a name, '=' and the id of a model", (text) =>
  /^(?!default=)[^\s\p{C}=]{1,200}=[^\s\p{C}]{1,200}$/u.test(text),
)

const endpoints: ValueKind<readonly string[]> = {
  ...list(endpointUrl),
  parse: (given) => {
    const urls = list(endpointUrl).parse(given)
    if (urls.length === 0) throw new ValueProblem('must hold at least one URL')
    return urls
  },
}

const POLICY_FIELDS = ['fallback', 'tiers', 'keys'] as const
/** Of each kind of source. */
export const SOURCE_FIELDS = {
  local: ['checkpoint', 'modelConfig', 'tokenizer', 'quantization', 'draftCheckpoint', 'toolFormat'],
  openai: ['endpoints', 'apiKey', 'model'],
  adapter: ['base', 'adapter', 'scale'],
} as const
const FIELDS = {
  local: ['id', ...SOURCE_FIELDS.local, 'load', 'pinned', ...POLICY_FIELDS],
  openai: ['id', 'engine', ...SOURCE_FIELDS.openai, ...POLICY_FIELDS],
  adapter: ['id', 'engine', ...SOURCE_FIELDS.adapter, ...POLICY_FIELDS],
} as const

export const keyIdKind = textLike('key id', 'the id of a key', (text) => /^[\w-]{1,100}$/.test(text))

/** Multiplies what an adapter adds; 0 would be its base model, which has an id of its own. */
const adapterScale = numberFrom({ min: -100, max: 100 })

/** Of the kind of engine that serves it. */
export type SourceKind = keyof typeof SOURCE_FIELDS

type FieldName = (typeof FIELDS)[SourceKind][number]

type Values = Readonly<Record<string, unknown>>

/** A model of the list; null is absence. Reading the list fills in the defaults. */
export type ConfiguredModel =
  | (ConfiguredPolicy & ConfiguredLocalSource & ConfiguredResidence)
  | (ConfiguredPolicy & ConfiguredRemoteSource)
  | (ConfiguredPolicy & ConfiguredAdapterSource)

export type ConfiguredSource = ConfiguredLocalSource | ConfiguredRemoteSource | ConfiguredAdapterSource

interface ConfiguredPolicy {
  readonly id: string
  /** The model that answers while this one cannot be reached. @default none */
  readonly fallback?: string | null
  /** Whose callers may use it, beside the holders of `keys`. @default all, where `keys` is not given either */
  readonly tiers?: readonly Tier[] | null
  /** Ids of keys that may use it. */
  readonly keys?: readonly string[] | null
}

/** A model that other servers serve over OpenAI's API. */
interface ConfiguredRemoteSource {
  readonly engine: 'openai'
  /** As `http://host:8000/v1`; `dns+http://name:8000/v1` is every address of the name. */
  readonly endpoints: readonly string[]
  /** Text, `env:NAME` or `@FILE`. @default none */
  readonly apiKey?: string | null
  /** Its id there. @default the first that an endpoint lists */
  readonly model?: string | null
}

/** A LoRA adapter of another model, in whose engine it runs. */
interface ConfiguredAdapterSource {
  /** May be left out where `adapter` is given in a configuration file. */
  readonly engine: 'adapter'
  /** The id of the model that it is for. */
  readonly base: string
  /** A GGUF file, a folder as PEFT saves it, or `hf:org/repo[:file.gguf]`. */
  readonly adapter: string
  /** Multiplies what it adds to the weights. @default 1 */
  readonly scale?: number | null
}

interface ConfiguredLocalSource {
  readonly engine?: undefined
  /** A path, or `hf:org/repo[:file.gguf]`. */
  readonly checkpoint: string
  /** The path of its config.json. @default beside the checkpoint */
  readonly modelConfig?: string | null
  /** The path of its tokenizer.json or tekken.json. @default beside the checkpoint */
  readonly tokenizer?: string | null
  /** Applied when the checkpoint is loaded. @default none */
  readonly quantization?: Quantization
  /** A smaller checkpoint of the same vocabulary that guesses its next tokens. @default none */
  readonly draftCheckpoint?: string | null
  /** How it writes tool calls. @default auto, which finds it from the chat template */
  readonly toolFormat?: ToolFormat
}

interface ConfiguredResidence {
  /** When it is loaded: as the server starts, or by the first request for it. @default start */
  readonly load?: LoadTime
  /** Whether it stays loaded when others need its room, and while nobody uses it. @default false */
  readonly pinned?: boolean
}

export const configuredModels: ValueKind<readonly ConfiguredModel[]> = {
  placeholder: null,
  expected: 'a list of models, each with id and checkpoint',
  parse: (given) => {
    if (!Array.isArray(given)) throw new ValueProblem('must be a list of models, each with id and checkpoint')
    const models = given.map((model, index) => parseModel(model, `model ${index + 1}`))
    const ids = models.map(({ id }) => id)
    const twice = ids.find((id, index) => ids.indexOf(id) !== index)
    if (twice !== undefined) throw new ValueProblem(`must not name the id '${twice}' twice`)
    if (ids.includes('default')) {
      throw new ValueProblem("must not name the id 'default', which always means the default model")
    }
    return Object.freeze(models)
  },
}

/** The fields as `POST /v1/admin/models` has them, `api_key` and the like, are the same. */
function withoutUnderscores(fields: object): Record<string, unknown> {
  const renamed = Object.entries(fields).map(([name, value]): [string, unknown] => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(renamed)
}

function engineOf(values: Values, place: string): SourceKind {
  const { engine } = values
  if (engine === 'openai' || engine === 'adapter') return engine
  if (engine !== undefined)
    throw new ValueProblem(`must have the engine 'openai' or 'adapter' in ${place}, or none`)
  return values['adapter'] === undefined ? 'local' : 'adapter'
}

function parseModel(given: unknown, place: string): ConfiguredModel {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ValueProblem(`must hold objects with id and checkpoint, but ${place} is none`)
  }
  const values: Values = withoutUnderscores(given)
  const engine = engineOf(values, place)
  refuseUnknownField(values, FIELDS[engine], place)
  const fields = new FieldReader(values, place)
  const common = {
    id: fields.read('id', modelIdKind),
    fallback: fields.readOptional('fallback', modelIdKind),
    tiers: fields.readOptional('tiers', list(choice(TIERS))),
    keys: fields.readOptional('keys', list(keyIdKind)),
  }
  const source = readSourceFields(engine, fields)
  if (source.engine !== undefined) return Object.freeze({ ...common, ...source })
  return Object.freeze({
    ...common,
    ...source,
    load: fields.readOptional('load', choice(LOAD_TIMES)) ?? 'start',
    pinned: fields.readOptional('pinned', toggle) ?? false,
  })
}

/**
 * What a model is loaded from, alone, as code gives it.
 * @param place how errors name it
 * @throws ValueProblem
 */
export function parseSource(engine: SourceKind, values: Values, place: string): ConfiguredSource {
  refuseUnknownField(values, SOURCE_FIELDS[engine], place)
  return readSourceFields(engine, new FieldReader(values, place))
}

function readSourceFields(engine: SourceKind, fields: FieldReader): ConfiguredSource {
  switch (engine) {
    case 'adapter':
      return {
        engine,
        base: fields.read('base', modelIdKind),
        adapter: fields.read('adapter', path()),
        scale: fields.readOptional('scale', adapterScale),
      }
    case 'openai':
      return {
        engine,
        endpoints: fields.read('endpoints', endpoints),
        apiKey: fields.readOptional('apiKey', upstreamSecret),
        model: fields.readOptional('model', modelName),
      }
    case 'local':
      return {
        checkpoint: fields.read('checkpoint', path()),
        modelConfig: fields.readOptional('modelConfig', path()),
        tokenizer: fields.readOptional('tokenizer', path()),
        quantization: fields.readOptional('quantization', choice(QUANTIZATIONS)) ?? 'none',
        draftCheckpoint: fields.readOptional('draftCheckpoint', path()),
        toolFormat: fields.readOptional('toolFormat', choice(TOOL_FORMATS)) ?? 'auto',
      }
  }
}

function refuseUnknownField(values: Values, fields: readonly string[], place: string): void {
  const unknown = Object.keys(values).find((name) => !fields.includes(name))
  if (unknown !== undefined) {
    throw new ValueProblem(`must not have '${unknown}' in ${place}; its fields are ${fields.join(', ')}`)
  }
}

/** Reads the fields of one object; null is absence where a field is optional. */
class FieldReader {
  readonly #values: Values
  readonly #place: string

  constructor(values: Values, place: string) {
    this.#values = values
    this.#place = place
  }

  read<Value>(name: FieldName, kind: ValueKind<Value>): Value {
    const given = this.#values[name]
    if (given === undefined) throw new ValueProblem(`must have '${name}' in ${this.#place}`)
    try {
      return kind.parse(given)
    } catch (error) {
      if (!(error instanceof ValueProblem)) throw error
      throw new ValueProblem(`is wrong in ${this.#place}: its ${name} ${error.message}`)
    }
  }

  readOptional<Value>(name: FieldName, kind: ValueKind<Value>): Value | null {
    const given = this.#values[name]
    return given === undefined || given === null ? null : this.read(name, kind)
  }
}
