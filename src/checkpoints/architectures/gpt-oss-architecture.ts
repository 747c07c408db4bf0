/**
 * `GptOssForCausalLM`: biases, attention sinks, a window in the layers that `layer_types` names, and experts in each layer,
 * whose gate and up are one matrix with rows in turns. Their weights are MXFP4, as published, which stays as it is, or
 * floats, as training leaves them.
 */
import type { ArchitecturePlan, RowPick, TensorPlan } from './architecture-plan.ts'
import { slidingLayers, slidingWindow } from './attention-window.ts'
import {
  type DecoderConfig,
  type DecoderTraits,
  readDecoderConfig,
  readExpertCount,
} from './decoder-config.ts'
import { attentionTensors, planDecoder } from './decoder-plan.ts'
import { badFile, shown, unconvertible } from '../files/file-errors.ts'
import { gguf } from '../gguf/gguf-format.ts'
import { type JsonObject, positiveNumberField, wholeNumberField } from '../files/json-file.ts'

const GPT_OSS: DecoderTraits = {
  ggufName: 'gpt-oss',
  activation: { field: 'hidden_act', value: 'silu' },
  ropeScalings: ['none', 'linear', 'yarn'],
  hasFreeHeadSize: true,
  rotatesPartly: false,
  requiredFlags: { attention_bias: true, tie_word_embeddings: false },
  defaults: { rmsEpsilon: 1e-5, ropeTheta: 150_000, hasTiedEmbeddings: false, headSize: 64 },
  quantMethod: 'mxfp4',
  roundsYarnBorders: true,
}
/** transformers' scaling where the config has none. */
const DEFAULT_ROPE = {
  rope_type: 'yarn',
  factor: 32,
  beta_fast: 32,
  beta_slow: 1,
  truncate: false,
  original_max_position_embeddings: 4096,
}
const DEFAULT_WINDOW = 128
/** What llama.cpp's graph has as constants. */
const ACTIVATION = { swiglu_alpha: 1.702, swiglu_limit: 7 } as const
const MXFP4_BLOCK = 32

interface Experts {
  readonly count: number
  readonly areMxfp4: boolean
}

export function planGptOss(config: JsonObject): ArchitecturePlan {
  const withRope = withDefaultRope(config)
  const decoder = readDecoderConfig(withRope, GPT_OSS)
  checkActivation(config)
  const experts = readExperts(config, decoder)
  const used = wholeNumberField(config, 'num_experts_per_tok', { min: 1, max: experts.count, default: 4 })
  const { hiddenSize, heads, layers } = decoder
  const sliding =
    slidingLayers(config, layers) ?? Array.from({ length: layers }, (_, layer) => layer % 2 === 0)
  const window = slidingWindow(config, DEFAULT_WINDOW)
  if (window === null) throw unconvertible(config, '"sliding_window" must be a number')
  const plan = planDecoder(decoder, {
    metadata: [
      ['attention.sliding_window', gguf.uint32(window)],
      ['attention.sliding_window_pattern', gguf.bools(sliding)],
      ['expert_count', gguf.uint32(experts.count)],
      ['expert_used_count', gguf.uint32(used)],
      ['expert_feed_forward_length', gguf.uint32(decoder.feedForwardSize)],
    ],
    layer: [
      { gguf: 'attn_norm', hf: 'input_layernorm', shape: [hiddenSize] },
      { gguf: 'post_attention_norm', hf: 'post_attention_layernorm', shape: [hiddenSize] },
      ...attentionTensors(decoder, { hasBias: true, hasOutputBias: true }),
      {
        ...{ gguf: 'ffn_gate_inp', hf: 'mlp.router', shape: [experts.count, hiddenSize] },
        ...{ hasBias: true, isF32: true },
      },
    ],
  })
  const perLayer = Array.from({ length: layers }, (_, layer) => [
    sinks(layer, heads),
    ...expertTensors(layer, decoder, experts),
  ])
  return { ...plan, tensors: [...plan.tensors, ...perLayer.flat()] }
}

function withDefaultRope({ path, fields }: JsonObject): JsonObject {
  const given = fields['rope_parameters'] ?? fields['rope_scaling'] ?? null
  return { path, fields: given === null ? { ...fields, rope_scaling: DEFAULT_ROPE } : fields }
}

function checkActivation(config: JsonObject): void {
  for (const [name, required] of Object.entries(ACTIVATION)) {
    const given = positiveNumberField(config, name, required)
    if (given !== required) {
      throw unconvertible(config, `"${name}" must be ${required}, but is ${shown(given)}`)
    }
  }
}

function readExperts(config: JsonObject, { hiddenSize, feedForwardSize }: DecoderConfig): Experts {
  const { fields, path } = config
  const count = readExpertCount(config)
  const areMxfp4 = (fields['quantization_config'] ?? null) !== null
  if (areMxfp4 && (hiddenSize % MXFP4_BLOCK !== 0 || feedForwardSize % MXFP4_BLOCK !== 0)) {
    throw badFile(
      path,
      `is not usable: "hidden_size" ${hiddenSize} and "intermediate_size" ${feedForwardSize} must be multiples of ${MXFP4_BLOCK} for MXFP4`,
    )
  }
  return { count, areMxfp4 }
}

function sinks(layer: number, heads: number): TensorPlan {
  const name = `model.layers.${layer}.self_attn.sinks`
  return { name: `blk.${layer}.attn_sinks.weight`, shape: [heads], origin: { kind: 'copy', name } }
}

/** Gate and up are the even and the odd rows of one matrix. Floats are stored with rows and columns exchanged. */
function expertTensors(
  layer: number,
  { hiddenSize, feedForwardSize }: DecoderConfig,
  { count, areMxfp4 }: Experts,
): TensorPlan[] {
  const expert = (part: string, stored: string, [rows, columns, picks]: [number, number, RowPick]) => {
    const hf = `model.layers.${layer}.mlp.experts.${stored}`
    const name = `blk.${layer}.ffn_${part}_exps`
    const biasName = `${hf}_bias`
    return [
      {
        name: `${name}.weight`,
        shape: [count, rows, columns],
        origin: areMxfp4
          ? ({ kind: 'mxfp4', blocks: `${hf}_blocks`, scales: `${hf}_scales`, picks } as const)
          : ({ kind: 'transpose', name: hf, picks } as const),
      },
      {
        name: `${name}.bias`,
        shape: [count, rows],
        isF32: true,
        origin:
          picks === 'all'
            ? ({ kind: 'copy', name: biasName } as const)
            : ({ kind: 'pick-numbers', name: biasName, picks } as const),
      },
    ]
  }
  return [
    ...expert('gate', 'gate_up_proj', [feedForwardSize, hiddenSize, 'even']),
    ...expert('up', 'gate_up_proj', [feedForwardSize, hiddenSize, 'odd']),
    ...expert('down', 'down_proj', [hiddenSize, feedForwardSize, 'all']),
  ]
}
