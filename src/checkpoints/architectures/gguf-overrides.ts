/**
 * `--model-config` with a GGUF file: the metadata of the file that a config.json overrides. Only settings that do not
 * change the weights (context length, rotary base and scaling, epsilon) may differ; sizes must agree. The file is not
 * changed: the engine passes the overrides to llama.cpp when it loads the model.
 */
import type { MetadataOverride } from '../../protocol/runner-options.ts'
import { badFile, quoted } from '../files/file-errors.ts'
import type { GgufModel } from '../gguf/gguf-file.ts'
import { gguf, type GgufScalar, type GgufValue } from '../gguf/gguf-format.ts'
import { planArchitecture } from './hf-architectures.ts'
import type { JsonObject } from '../files/json-file.ts'

/** Without the architecture's prefix. */
const OVERRIDABLE_KEYS: ReadonlySet<string> = new Set([
  'context_length',
  'attention.layer_norm_rms_epsilon',
  'rope.freq_base',
  'rope.scaling.type',
  'rope.scaling.factor',
  'rope.scaling.original_context_length',
  'rope.scaling.attn_factor',
  'rope.scaling.yarn_beta_fast',
  'rope.scaling.yarn_beta_slow',
])
const ROPE_FACTORS: ReadonlySet<string> = new Set(['rope_freqs.weight', 'rope_factors_long.weight'])

/** @throws StartError when the config belongs to a model of another architecture or size. */
export function metadataOverrides(config: JsonObject, model: GgufModel): MetadataOverride[] {
  const plan = planArchitecture(config)
  const { architecture, metadata, path, tensors } = model
  if (plan.ggufName !== architecture) {
    throw badFile(
      config.path,
      `does not fit ${path}: its architecture is ${plan.ggufName}, the file's ${architecture}`,
    )
  }
  const hasFactors = (names: readonly { readonly name: string }[]) =>
    names.some(({ name }) => ROPE_FACTORS.has(name))
  if (hasFactors(plan.tensors) !== hasFactors(tensors)) {
    throw badFile(
      config.path,
      `does not fit ${path}: rope scaling by frequency is part of the weights and cannot be overridden`,
    )
  }
  const scalingType = `${architecture}.rope.scaling.type`
  const wanted = new Map<string, GgufValue>([
    // A config without scaling, for a file that has some.
    ...(metadata.has(scalingType) ? [[scalingType, gguf.string('none')] as const] : []),
    ...plan.metadata,
  ])
  return Array.from(wanted).flatMap(([key, value]): MetadataOverride[] => {
    const present = metadata.get(key)
    if (value.type === 'array' || sameNumber(value, present)) return []
    if (OVERRIDABLE_KEYS.has(key.slice(architecture.length + 1))) return [toOverride(key, value)]
    if (present === undefined) return []
    throw badFile(config.path, `does not fit ${path}: ${quoted(key)} would be ${value.value}`)
  })
}

function toOverride(key: string, { type, value }: GgufScalar): MetadataOverride {
  if (typeof value === 'string') return { key, type: 'string', value }
  if (typeof value === 'boolean') return { key, type: 'bool', value }
  return { key, type: type.startsWith('float') ? 'float' : 'int', value: Number(value) }
}

/** Files write the same number in different widths. */
function sameNumber(value: GgufScalar, present: GgufValue | undefined): boolean {
  if (present === undefined || present.type === 'array') return false
  if (typeof value.value !== 'number') return value.value === present.value
  return Math.fround(value.value) === Math.fround(Number(present.value))
}
