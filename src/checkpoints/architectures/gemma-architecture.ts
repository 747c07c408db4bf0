/**
 * `Gemma2ForCausalLM` and `Gemma3ForCausalLM`: norms stored as the difference from one, on both sides of attention
 * and feed-forward network, layers with a sliding window between layers without, soft caps (Gemma 2), norms on the
 * heads of Q and K and a rotary base of their own for the sliding layers (Gemma 3).
 */
import type { ArchitecturePlan, MetadataEntry } from './architecture-plan.ts'
import { slidingLayers, slidingWindow } from './attention-window.ts'
import { type DecoderConfig, type DecoderTraits, readDecoderConfig } from './decoder-config.ts'
import {
  attentionTensors,
  feedForwardTensors,
  headNorms,
  type LayerTensor,
  planDecoder,
} from './decoder-plan.ts'
import { unconvertible } from '../files/file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { type JsonObject, objectField, positiveNumberField, wholeNumberField } from '../files/json-file.ts'

const GEMMA2: DecoderTraits = {
  ggufName: 'gemma2',
  activation: { field: 'hidden_activation', value: 'gelu_pytorch_tanh' },
  ropeScalings: ['none', 'linear'],
  hasFreeHeadSize: true,
  rotatesPartly: false,
  // llama.cpp's Gemma 2 has no output matrix of its own.
  requiredFlags: { attention_bias: false, tie_word_embeddings: true },
  defaults: { rmsEpsilon: 1e-6, ropeTheta: 10_000, hasTiedEmbeddings: true, headSize: 256 },
}
const GEMMA3: DecoderTraits = {
  ...GEMMA2,
  ggufName: 'gemma3',
  requiredFlags: { attention_bias: false, use_bidirectional_attention: false },
  defaults: { ...GEMMA2.defaults, ropeTheta: 1_000_000 },
}
const DEFAULT_WINDOW = 4096
const LOCAL_ROPE_THETA = 10_000
/** Layers of the one model of each family for which llama.cpp scales attention by hidden size over heads. */
const LAYERS_OF_27B: Readonly<Record<string, number>> = { gemma2: 46, gemma3: 62 }

export function planGemma2(config: JsonObject): ArchitecturePlan {
  const decoder = readDecoderConfig(config, GEMMA2)
  checkAttentionScale(config, decoder)
  return planGemma(decoder, [
    ...windowMetadata(config, decoder, 2),
    requiredCap(config, 'attn_logit_softcapping', 50),
    requiredCap(config, 'final_logit_softcapping', 30),
  ])
}

export function planGemma3(config: JsonObject): ArchitecturePlan {
  const decoder = readDecoderConfig(config, GEMMA3)
  checkAttentionScale(config, decoder)
  const { fields } = config
  if ((fields['attn_logit_softcapping'] ?? null) !== null) {
    throw unconvertible(config, 'Gemma 3 with "attn_logit_softcapping" is not known')
  }
  const pattern =
    fields['sliding_window_pattern'] === undefined ? '_sliding_window_pattern' : 'sliding_window_pattern'
  const period = wholeNumberField(config, pattern, { min: 1, max: 512, default: 6 })
  const metadata: MetadataEntry[] = [
    ...windowMetadata(config, decoder, period),
    ['rope.freq_base_swa', gguf.float32(localRopeTheta(config))],
  ]
  const finalCap = 'final_logit_softcapping'
  if ((fields[finalCap] ?? null) !== null) {
    metadata.push([finalCap, gguf.float32(positiveNumberField(config, finalCap))])
  }
  return planGemma(decoder, metadata, headNorms(decoder))
}

/** `ownNorms` are those that the architecture has beyond the shared table. */
function planGemma(
  decoder: DecoderConfig,
  metadata: readonly MetadataEntry[],
  ownNorms: readonly LayerTensor[] = [],
): ArchitecturePlan {
  const addOne = { kind: 'add-one' } as const
  const shape = [decoder.hiddenSize]
  const norms: LayerTensor[] = [
    { gguf: 'attn_norm', hf: 'input_layernorm', shape },
    { gguf: 'post_attention_norm', hf: 'post_attention_layernorm', shape },
    { gguf: 'ffn_norm', hf: 'pre_feedforward_layernorm', shape },
    { gguf: 'post_ffw_norm', hf: 'post_feedforward_layernorm', shape },
    ...ownNorms,
  ]
  return planDecoder(decoder, {
    metadata,
    layer: [
      ...norms.map((row) => ({ ...row, change: addOne })),
      ...attentionTensors(decoder),
      ...feedForwardTensors(decoder),
    ],
    outputNormChange: addOne,
  })
}

/** The window, and the layers that have it: by `layer_types`, else all but every `period`-th. */
function windowMetadata(config: JsonObject, { layers }: DecoderConfig, period: number): MetadataEntry[] {
  const window = slidingWindow(config, DEFAULT_WINDOW)
  const sliding =
    slidingLayers(config, layers) ?? Array.from({ length: layers }, (_, layer) => (layer + 1) % period !== 0)
  if (window === null || !sliding.includes(true)) {
    throw unconvertible(config, 'a Gemma without sliding layers is not known')
  }
  return [
    ['attention.sliding_window', gguf.uint32(window)],
    ['attention.sliding_window_pattern', gguf.bools(sliding)],
  ]
}

/** llama.cpp always applies both caps of Gemma 2. */
function requiredCap(config: JsonObject, name: string, defaultValue: number): MetadataEntry {
  if (config.fields[name] === null) {
    throw unconvertible(config, `"${name}" must be a number above 0`)
  }
  return [name, gguf.float32(positiveNumberField(config, name, defaultValue))]
}

/** llama.cpp reads no attention scale for these: it takes the head size, except for the largest model. */
function checkAttentionScale(config: JsonObject, decoder: DecoderConfig): void {
  const { ggufName, layers, headSize, hiddenSize, heads } = decoder
  const expected = layers === LAYERS_OF_27B[ggufName] ? Math.floor(hiddenSize / heads) : headSize
  const scalar = positiveNumberField(config, 'query_pre_attn_scalar', 256)
  if (scalar === expected) return
  throw unconvertible(
    config,
    `"query_pre_attn_scalar" must be ${expected} for ${layers} layers, but is ${scalar}`,
  )
}

function localRopeTheta(config: JsonObject): number {
  const parameters = objectField(config, 'rope_parameters')
  const local = parameters === null ? null : objectField(parameters, 'sliding_attention')
  return local === null
    ? positiveNumberField(config, 'rope_local_base_freq', LOCAL_ROPE_THETA)
    : positiveNumberField(local, 'rope_theta', LOCAL_ROPE_THETA)
}
