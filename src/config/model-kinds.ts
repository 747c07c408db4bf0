/** How the list of models in a configuration file, or from code, is read. */
import { QUANTIZATIONS } from '../core/quant-mode.ts'
import { choice, path, textLike, type ValueKind, ValueProblem } from './value-kinds.ts'

export const modelIdKind = textLike('id', 'at most 200 characters without spaces', (text) =>
  /^[^\s\p{C}]{1,200}$/u.test(text),
)

const FIELDS = ['id', 'checkpoint', 'modelConfig', 'tokenizer', 'quantization'] as const

export const configuredModels: ValueKind<readonly ReturnType<typeof parseModel>[]> = {
  placeholder: null,
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

function parseModel(given: unknown, index: number) {
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
  })
}
