/** From a model of the configuration, or a source that code gives, to the complete source that a registry keeps. */
import {
  type ConfiguredSource,
  hasDotSegment,
  parseSource,
  SOURCE_FIELDS,
  type SourceKind,
} from '../config/model-kinds.ts'
import { ValueProblem } from '../config/value-kinds.ts'
import { showValue, StartError } from '../core/errors.ts'
import { SecretText } from '../core/text/secret-text.ts'
import { type ModelSource, type RegisteredSource, toLocalSource } from '../protocol/model-source.ts'

export function toSource(configured: ConfiguredSource): ModelSource {
  if (configured.engine === 'adapter') {
    const { base, adapter, scale } = configured
    return { kind: 'adapter', base, adapter, scale: scale ?? 1 }
  }
  if (configured.engine === 'openai') {
    const { endpoints, apiKey, model = null } = configured
    return { kind: 'openai', endpoints, apiKey: toSecret(apiKey), model }
  }
  const { checkpoint, modelConfig = null, tokenizer = null, draftCheckpoint = null } = configured
  const { quantization = 'none', toolFormat = 'auto' } = configured
  return toLocalSource({ checkpoint, modelConfig, tokenizer, quantization, draftCheckpoint, toolFormat })
}

export function toSecret(text: string | null | undefined): SecretText | null {
  return typeof text === 'string' ? new SecretText(text) : null
}

/**
 * A source that code gives, checked as the fields of the option `models` are.
 * @throws StartError that names the field
 */
export function readRegisteredSource(id: string, given: RegisteredSource): ModelSource {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new StartError(
      `The source of '${id}' must be an object with a checkpoint, but was ${showValue(given)}.`,
      2,
    )
  }
  const { kind = 'local', apiKey, ...fields }: Record<string, unknown> = { ...given }
  if (!isSourceKind(kind)) {
    const kinds = Object.keys(SOURCE_FIELDS).join(', ')
    throw new StartError(
      `The kind of the source of '${id}' must be one of ${kinds}, but was ${showValue(kind)}.`,
      2,
    )
  }
  const isRead = apiKey instanceof SecretText
  // Text that was read before is not read again, as the name of a file or of a variable.
  const all = Object.entries(isRead ? fields : { ...fields, apiKey }).filter(
    ([, value]) => value !== undefined,
  )
  try {
    const source = toSource(parseSource(kind, Object.fromEntries(all), `the source of '${id}'`))
    return source.kind === 'openai' && isRead ? { ...source, apiKey } : source
  } catch (error) {
    if (!(error instanceof ValueProblem)) throw error
    throw new StartError(`registry.register ${error.message}.`, 2)
  }
}

/** A name that was taken from a file may hold spaces. @throws StartError */
export function refuseId(id: string): void {
  if (typeof id === 'string' && /^[^\p{C}]{1,255}$/u.test(id) && !hasDotSegment(id)) return
  throw new StartError(
    `The id of a model must be 1 to 255 characters, none of its segments '.' or '..', but was ${showValue(id)}.`,
    2,
  )
}

function isSourceKind(kind: unknown): kind is SourceKind {
  return typeof kind === 'string' && Object.hasOwn(SOURCE_FIELDS, kind)
}
