/**
 * The text half of models that also take images: `Gemma3ForConditionalGeneration` and `Mistral3ForConditionalGeneration`.
 * Its config is `text_config`, its tensors have a prefix of their own, and those of the other half are left out.
 */
import type { ArchitecturePlan } from './architecture-plan.ts'
import { shown, unconvertible } from '../files/file-errors.ts'
import { planGemma3 } from './gemma-architecture.ts'
import { type JsonObject, objectField } from '../files/json-file.ts'
import { planMinistral3, planMistral3 } from './llama-architecture.ts'

/** transformers' values for what a published config leaves out. */
const GEMMA3_DEFAULTS = {
  vocab_size: 262_208,
  hidden_size: 2304,
  intermediate_size: 9216,
  num_hidden_layers: 26,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 256,
  max_position_embeddings: 131_072,
}

export function planGemma3Text(config: JsonObject): ArchitecturePlan {
  const text = textConfig(config, 'gemma3_text')
  return { ...planGemma3({ ...text, fields: { ...GEMMA3_DEFAULTS, ...text.fields } }), textName }
}

export function planMistral3Text(config: JsonObject): ArchitecturePlan {
  const { fields = {} } = objectField(config, 'text_config') ?? {}
  const isMinistral = fields['model_type'] === 'ministral3'
  return isMinistral
    ? { ...planMinistral3(textConfig(config, 'ministral3')), textName }
    : { ...planMistral3(textConfig(config, 'mistral')), textName }
}

function textConfig(config: JsonObject, type: string): JsonObject {
  const { quantization_config, tie_word_embeddings } = config.fields
  const { fields = {} } = objectField(config, 'text_config') ?? {}
  const given = fields['model_type'] ?? type
  if (given !== type) {
    throw unconvertible(config, `"model_type" of its "text_config" must be "${type}", but is ${shown(given)}`)
  }
  return {
    path: config.path,
    fields: {
      ...(quantization_config !== undefined && { quantization_config }),
      ...(tie_word_embeddings !== undefined && { tie_word_embeddings }),
      ...fields,
    },
  }
}

/** Old and new prefixes of transformers. */
const PREFIXES: readonly (readonly [stored: string, ofText: string])[] = [
  ['model.language_model.', 'model.'],
  ['language_model.model.', 'model.'],
  ['language_model.lm_head.', 'lm_head.'],
]
const OF_IMAGES = /^(?:model\.)?(?:vision_tower|multi_modal_projector)\./

/** The name that a stored tensor has in a model of text alone; null for one that reads images. */
function textName(stored: string): string | null {
  if (OF_IMAGES.test(stored)) return null
  const [prefix, ofText] = PREFIXES.find(([start]) => stored.startsWith(start)) ?? ['', '']
  return ofText + stored.slice(prefix.length)
}
