/** How the list of models in a configuration file, or from code, is read. */
import { type Quantization, QUANTIZATIONS } from '../core/quant-mode.ts'
import { type ToolFormat, TOOL_FORMATS } from '../core/tool-format.ts'
import { choice, path, textLike, type ValueKind, ValueProblem } from './value-kinds.ts'

export const modelIdKind = textLike('id', 'at most 200 characters without spaces', (text) =>
  /^[^\s\p{C}]{1,200}$/u.test(text),
)

const FIELDS = ['id', 'checkpoint', 'modelConfig', 'tokenizer', 'quantization', 'toolFormat'] as const

/** A model of the list; null is absence. Reading the list fills in the defaults. */
export interface ConfiguredModel {
  readonly id: string
  /** A path, or `hf:org/repo[:file.gguf]`. */
  readonly checkpoint: string
  /** The path of its config.json. @default beside the checkpoint */
  readonly modelConfig?: string | null
  /** The path of its tokenizer.json. @default beside the checkpoint */
  readonly tokenizer?: string | null
  /** Applied when the checkpoint is loaded. @default none */
  readonly quantization?: Quantization
  /** How it writes tool calls. @default auto, which finds it from the chat template */
  readonly toolFormat?: ToolFormat
}

export const configuredModels: ValueKind<readonly ConfiguredModel[]> = {
  placeholder: null,
  expected: 'a list of models, each with id and checkpoint',
  parse: (given) => {
    if (!Array.isArray(given)) throw new ValueProblem('must be a list of models, each with id and checkpoint')
    const models = given.map(parseModel)
    const ids = models.map(({ id }) => id)
    const twice = ids.find((id, index) => ids.indexOf(id) !== index)
    if (twice !== undefined) throw new ValueProblem(`must not name the id '${twice}' twice`)
    if (ids.includes('default')) {
      throw new ValueProblem("must not name the id 'default', which always means the default model")
    }
    return Object.freeze(models)
  },
}

function parseModel(given: unknown, index: number): ConfiguredModel {
  const place = `model ${index + 1}`
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ValueProblem(`must hold objects with id and checkpoint, but ${place} is none`)
  }
  const values: Readonly<Record<string, unknown>> = { ...given }
  const unknown = Object.keys(values).find((name) => !FIELDS.some((field) => field === name))
  if (unknown !== undefined) {
    throw new ValueProblem(`must not have '${unknown}' in ${place}; its fields are ${FIELDS.join(', ')}`)
  }
  const read = <Value>(name: (typeof FIELDS)[number], kind: ValueKind<Value>): Value => {
    if (values[name] === undefined) throw new ValueProblem(`must have '${name}' in ${place}`)
    try {
      return kind.parse(values[name])
    } catch (error) {
      if (!(error instanceof ValueProblem)) throw error
      throw new ValueProblem(`is wrong in ${place}: its ${name} ${error.message}`)
    }
  }
  const readOptional = <Value>(name: (typeof FIELDS)[number], kind: ValueKind<Value>): Value | null =>
    values[name] === undefined || values[name] === null ? null : read(name, kind)
  return Object.freeze({
    id: read('id', modelIdKind),
    checkpoint: read('checkpoint', path()),
    modelConfig: readOptional('modelConfig', path()),
    tokenizer: readOptional('tokenizer', path()),
    quantization: readOptional('quantization', choice(QUANTIZATIONS)) ?? 'none',
    toolFormat: readOptional('toolFormat', choice(TOOL_FORMATS)) ?? 'auto',
  })
}
