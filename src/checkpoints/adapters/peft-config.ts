/**
 * What an `adapter_config.json` of PEFT says of a LoRA adapter. Everything that changes what the adapter computes is either carried
 * out or refused by name; fields that only say how it was trained are not looked at. Pure.
 */
import { badFile, quoted, shown } from '../files/file-errors.ts'
import {
  flagField,
  type JsonObject,
  listField,
  objectField,
  positiveNumberField,
} from '../files/json-file.ts'
import { BoundedPatterns, endPattern } from './bounded-patterns.ts'

export interface PeftConfig {
  /** Of most modules. */
  readonly alpha: number
  /** What a module's alpha is to be, where what it adds is multiplied by alpha / rank. */
  readonly alphaOf: (module: string, rank: number) => number
}

/** Ways to begin that change the base model's own weights, which an adapter for the weights as they were published does not know. */
const CHANGES_BASE = /^(?:pissa|olora|corda|loftq)/i

/** @throws StartError naming the field that cannot be carried out */
export function readPeftConfig(config: JsonObject): PeftConfig {
  const { fields, path } = config
  if (fields['peft_type'] !== 'LORA')
    throw badFile(path, `has the peft_type ${shown(fields['peft_type'])}; only LORA is served`)
  refuse(config)
  const alpha = positiveNumberField(config, 'lora_alpha')
  const isRankStabilized = flagField(config, 'use_rslora', false)
  const alphas = readPattern(config, 'alpha_pattern')
  return {
    alpha,
    alphaOf: (module, rank) => (alphas(module) ?? alpha) * (isRankStabilized ? Math.sqrt(rank) : 1),
  }
}

function refuse(config: JsonObject): void {
  const { fields, path } = config
  const no = (what: string): never => {
    throw badFile(
      path,
      `asks for ${what}, which is not served: merge it into its base model, and give that as a checkpoint`,
    )
  }
  if (flagField(config, 'use_dora', false)) no('DoRA ("use_dora")')
  if ((fields['bias'] ?? 'none') !== 'none') no(`biases ("bias": ${shown(fields['bias'])})`)
  if (flagField(config, 'lora_bias', false)) no('biases ("lora_bias")')
  if (flagField(config, 'fan_in_fan_out', false)) no('transposed layers ("fan_in_fan_out")')
  if (flagField(config, 'use_qalora', false)) no('QALoRA ("use_qalora")')
  const [saved] = listField(config, 'modules_to_save')
  if (saved !== undefined) no(`whole layers beside LoRA ("modules_to_save": ${shown(saved)})`)
  for (const name of ['trainable_token_indices', 'layer_replication', 'alora_invocation_tokens'])
    if (isGiven(fields[name])) no(quoted(name))
  const init = fields['init_lora_weights']
  if (typeof init === 'string' && CHANGES_BASE.test(init))
    no(`changed weights of its base model ("init_lora_weights": ${quoted(init)})`)
}

function isGiven(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : (value ?? false) !== false
}

/** The number of the first pattern that a module's name ends with, as PEFT looks for it. */
function readPattern(config: JsonObject, name: string): (module: string) => number | null {
  const { path } = config
  const fields = objectField(config, name)?.fields ?? {}
  const values = Object.keys(fields).map((key) => {
    if (!isPattern(key)) throw badFile(path, `is not usable: ${quoted(key)} of ${quoted(name)} is no pattern`)
    return [key, positiveNumberField({ path, fields }, key)] as const
  })
  const patterns = new BoundedPatterns()
  return (module) => {
    for (const [key, value] of values) {
      const ends = patterns.endsWith(module, key)
      if (ends === null)
        throw badFile(path, `is not usable: ${quoted(key)} of ${quoted(name)} takes too long to be searched`)
      if (ends) return value
    }
    return null
  }
}

function isPattern(key: string): boolean {
  try {
    endPattern(key)
    return true
  } catch {
    return false
  }
}
