/**
 * Builds small GGUF models for the tests of the llama.cpp engine: the `llama` architecture with random weights that
 * are the same on every machine, and a vocabulary made by hand. Written without any code of the program, so that an
 * error there cannot hide here.
 */
import { writeFileSync } from 'node:fs'

const EMBEDDING = 64
const FEED_FORWARD = 128
const HEADS = 4
const KV_HEADS = 2
const LAYERS = 2
/** Of Mamba; of LFM2 too. */
const CONVOLUTION = 4
const INNER = 128
const STATE = 8
const STEP_RANK = 4
const ALIGNMENT = 32
const CONTEXT_TOKENS = 1024
const RANK_POOLING = 4

const TYPE = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const
const TOKEN_TYPE = { normal: 1, unknown: 2, control: 3, byte: 6 } as const

interface Token {
  readonly text: string
  readonly type: number
  readonly score: number
}

interface Vocabulary {
  readonly model: 'gpt2' | 'llama'
  readonly tokens: readonly Token[]
  readonly merges: readonly string[]
  readonly bosId: number
  readonly eosId: number
}

export interface TinyModelOptions {
  /** Byte-level BPE, or SentencePiece, which puts a space in front of a text. */
  readonly vocabulary?: 'bpe' | 'spm'
  /** Another name for the same tensors, or one that has its own: `mamba` is recurrent, `lfm2` in its first layer only, `qwen3` is not. */
  readonly architecture?: string
  /** Whether the file names a token to begin a text with. @default true */
  readonly hasBos?: boolean
  /**
   * Letters, an even number of them: greedily the model continues every prompt with these and nothing else. Makes
   * models whose texts cannot be mistaken for one another's.
   */
  readonly alphabet?: string
  /** Makes it one that ranks documents: the classes into which it sorts texts, and its template for them. */
  readonly ranks?: { readonly labels: readonly string[]; readonly template: string }
}

/** Texts that both vocabularies hold as control tokens. */
export const BOS_TEXT = '<s>'
export const EOS_TEXT = '</s>'

export function writeTinyModel(path: string, options: TinyModelOptions = {}): void {
  const vocabulary = options.vocabulary === 'spm' ? spmVocabulary() : bpeVocabulary()
  const tensors = createTensors(vocabulary.tokens.length, options)
  if (options.alphabet !== undefined) restrictOutput(tensors, options.alphabet)
  const metadata = createMetadata(vocabulary, options)
  const infos: Buffer[] = []
  const data: Buffer[] = []
  let offset = 0
  for (const { name, shape, values } of tensors) {
    const size = values.byteLength
    infos.push(string(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset))
    const padded = Math.ceil(size / ALIGNMENT) * ALIGNMENT
    data.push(Buffer.from(values.buffer), Buffer.alloc(padded - size))
    offset += padded
  }
  const header = Buffer.concat([
    Buffer.from('GGUF'),
    u32(3),
    u64(tensors.length),
    u64(metadata.length),
    ...metadata,
    ...infos,
  ])
  const gap = Math.ceil(header.length / ALIGNMENT) * ALIGNMENT - header.length
  writeFileSync(path, Buffer.concat([header, Buffer.alloc(gap), ...data]))
}

function createMetadata(
  vocabulary: Vocabulary,
  { architecture = 'llama', hasBos = true, ranks }: TinyModelOptions,
): Buffer[] {
  const key = (name: string) => `${architecture}.${name}`
  const { tokens } = vocabulary
  return [
    pair('general.architecture', TYPE.string, string(architecture)),
    pair('general.file_type', TYPE.u32, u32(0)),
    pair(key('context_length'), TYPE.u32, u32(CONTEXT_TOKENS)),
    pair(key('embedding_length'), TYPE.u32, u32(EMBEDDING)),
    pair(key('block_count'), TYPE.u32, u32(LAYERS)),
    pair(key('feed_forward_length'), TYPE.u32, u32(FEED_FORWARD)),
    pair(key('attention.head_count'), TYPE.u32, u32(HEADS)),
    architecture === 'lfm2'
      ? array(key('attention.head_count_kv'), TYPE.u32, [u32(0), u32(KV_HEADS)])
      : pair(key('attention.head_count_kv'), TYPE.u32, u32(KV_HEADS)),
    pair(key('shortconv.l_cache'), TYPE.u32, u32(CONVOLUTION)),
    pair(key('attention.layer_norm_rms_epsilon'), TYPE.f32, f32(1e-5)),
    pair(key('ssm.conv_kernel'), TYPE.u32, u32(CONVOLUTION)),
    pair(key('ssm.inner_size'), TYPE.u32, u32(INNER)),
    pair(key('ssm.state_size'), TYPE.u32, u32(STATE)),
    pair(key('ssm.time_step_rank'), TYPE.u32, u32(STEP_RANK)),
    pair('tokenizer.ggml.model', TYPE.string, string(vocabulary.model)),
    pair('tokenizer.ggml.pre', TYPE.string, string('gpt-2')),
    array(
      'tokenizer.ggml.tokens',
      TYPE.string,
      tokens.map(({ text }) => string(text)),
    ),
    array(
      'tokenizer.ggml.scores',
      TYPE.f32,
      tokens.map(({ score }) => f32(score)),
    ),
    array(
      'tokenizer.ggml.token_type',
      TYPE.i32,
      tokens.map(({ type }) => u32(type)),
    ),
    array('tokenizer.ggml.merges', TYPE.string, vocabulary.merges.map(string)),
    ...(hasBos ? [pair('tokenizer.ggml.bos_token_id', TYPE.u32, u32(vocabulary.bosId))] : []),
    pair('tokenizer.ggml.eos_token_id', TYPE.u32, u32(vocabulary.eosId)),
    pair('tokenizer.ggml.add_bos_token', TYPE.bool, Buffer.of(hasBos ? 1 : 0)),
    pair('tokenizer.chat_template', TYPE.string, string('{{ messages[0].content }}')),
    ...(ranks === undefined
      ? []
      : [
          pair(key('pooling_type'), TYPE.u32, u32(RANK_POOLING)),
          array(key('classifier.output_labels'), TYPE.string, ranks.labels.map(string)),
          pair('tokenizer.chat_template.rerank', TYPE.string, string(ranks.template)),
        ]),
    pair('tokenizer.chat_template.tool_use', TYPE.string, string('{{ tools }}')),
  ]
}

/** 256 byte tokens in GPT-2's alphabet, a few merges, and control tokens at the end. */
function bpeVocabulary(): Vocabulary {
  const merges = ['t h', 'th e', 'Ġ the', 'i n', 'Ġ a']
  const normal = [...byteAlphabet(), ...merges.map((merge) => merge.replace(' ', ''))]
  const control = [BOS_TEXT, EOS_TEXT, '<|user|>']
  const tokens = [
    ...normal.map((text) => ({ text, type: TOKEN_TYPE.normal, score: 0 })),
    ...control.map((text) => ({ text, type: TOKEN_TYPE.control, score: 0 })),
  ]
  return { model: 'gpt2', tokens, merges, bosId: normal.length, eosId: normal.length + 1 }
}

/** Byte tokens for everything, and a few words that start with SentencePiece's mark for a space. */
function spmVocabulary(): Vocabulary {
  const hex = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0')
  const words = ['▁', ...'abcdehilnorstuw/<>'.split(''), '▁a', '▁th', 'the', '▁the']
  const tokens = [
    { text: '<unk>', type: TOKEN_TYPE.unknown, score: 0 },
    { text: BOS_TEXT, type: TOKEN_TYPE.control, score: 0 },
    { text: EOS_TEXT, type: TOKEN_TYPE.control, score: 0 },
    ...Array.from({ length: 256 }, (_, byte) => ({
      text: `<0x${hex(byte)}>`,
      type: TOKEN_TYPE.byte,
      score: 0,
    })),
    ...words.map((text, i) => ({ text, type: TOKEN_TYPE.normal, score: -100 + i })),
  ]
  return { model: 'llama', tokens, merges: [], bosId: 1, eosId: 2 }
}

/** GPT-2 writes each byte as a printable character: its own where it has one, else one from 256 on. */
function byteAlphabet(): string[] {
  const isPrintable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff)
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++))
}

function createTensors(vocabSize: number, { architecture = 'llama', ranks }: TinyModelOptions) {
  const random = createGaussian()
  const tensor = (name: string, shape: number[], scale: number) => ({
    name,
    shape,
    values: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random() * scale),
  })
  const filled = (name: string, shape: number[], value: number) => ({
    name,
    shape,
    values: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(value),
  })
  const ones = (name: string) => filled(name, [EMBEDDING], 1)
  const kvSize = (EMBEDDING / HEADS) * KV_HEADS
  const mambaLayer = (i: number) => [
    ones(`blk.${i}.attn_norm.weight`),
    tensor(`blk.${i}.ssm_in.weight`, [EMBEDDING, 2 * INNER], 0.3),
    tensor(`blk.${i}.ssm_conv1d.weight`, [CONVOLUTION, INNER], 0.5),
    tensor(`blk.${i}.ssm_conv1d.bias`, [INNER], 0.1),
    tensor(`blk.${i}.ssm_x.weight`, [INNER, STEP_RANK + 2 * STATE], 0.3),
    tensor(`blk.${i}.ssm_dt.weight`, [STEP_RANK, INNER], 0.3),
    tensor(`blk.${i}.ssm_dt.bias`, [INNER], 0.3),
    filled(`blk.${i}.ssm_a`, [STATE, INNER], -0.1),
    filled(`blk.${i}.ssm_d`, [INNER], 1),
    tensor(`blk.${i}.ssm_out.weight`, [INNER, EMBEDDING], 0.3),
  ]
  const feedForward = (i: number) => [
    ones(`blk.${i}.ffn_norm.weight`),
    tensor(`blk.${i}.ffn_gate.weight`, [EMBEDDING, FEED_FORWARD], 0.2),
    tensor(`blk.${i}.ffn_up.weight`, [EMBEDDING, FEED_FORWARD], 0.2),
    tensor(`blk.${i}.ffn_down.weight`, [FEED_FORWARD, EMBEDDING], 0.2),
  ]
  const attentionLayer = (i: number) => [
    ones(`blk.${i}.attn_norm.weight`),
    tensor(`blk.${i}.attn_q.weight`, [EMBEDDING, EMBEDDING], 0.3),
    tensor(`blk.${i}.attn_k.weight`, [EMBEDDING, kvSize], 0.3),
    tensor(`blk.${i}.attn_v.weight`, [EMBEDDING, kvSize], 0.3),
    tensor(`blk.${i}.attn_output.weight`, [EMBEDDING, EMBEDDING], 0.3),
    ...feedForward(i),
  ]
  const normedAttentionLayer = (i: number) => [
    ...attentionLayer(i),
    filled(`blk.${i}.attn_q_norm.weight`, [EMBEDDING / HEADS], 1),
    filled(`blk.${i}.attn_k_norm.weight`, [EMBEDDING / HEADS], 1),
  ]
  const convolutionLayer = (i: number) => [
    ones(`blk.${i}.attn_norm.weight`),
    tensor(`blk.${i}.shortconv.conv.weight`, [CONVOLUTION, EMBEDDING], 0.5),
    tensor(`blk.${i}.shortconv.in_proj.weight`, [EMBEDDING, 3 * EMBEDDING], 0.3),
    tensor(`blk.${i}.shortconv.out_proj.weight`, [EMBEDDING, EMBEDDING], 0.3),
    ...feedForward(i),
  ]
  const layers: Record<string, (typeof attentionLayer)[]> = {
    mamba: [mambaLayer],
    lfm2: [convolutionLayer, normedAttentionLayer],
    qwen3: [normedAttentionLayer],
  }
  const kinds = layers[architecture] ?? [attentionLayer]
  return [
    tensor('token_embd.weight', [EMBEDDING, vocabSize], 1),
    ...Array.from({ length: LAYERS }, (_, i) => kinds[i % kinds.length]?.(i) ?? []).flat(),
    ones(architecture === 'lfm2' ? 'token_embd_norm.weight' : 'output_norm.weight'),
    tensor('output.weight', [EMBEDDING, vocabSize], 0.4),
    ...(ranks === undefined ? [] : [tensor('cls.output.weight', [EMBEDDING, ranks.labels.length], 0.4)]),
  ]
}

/** Rows come in pairs of opposite sign, so that one of the letters always has a logit above 0, which all others have. */
function restrictOutput(tensors: ReturnType<typeof createTensors>, alphabet: string): void {
  const output = tensors.find(({ name }) => name === 'output.weight')?.values ?? new Float32Array()
  const random = output.slice()
  output.fill(0)
  for (const [place, byte] of Buffer.from(alphabet).entries()) {
    const first = Buffer.from(alphabet)[place - (place % 2)] ?? 0
    const row = random.subarray(first * EMBEDDING, (first + 1) * EMBEDDING)
    output.set(
      row.map((value) => (place % 2 === 0 ? value : -value)),
      byte * EMBEDDING,
    )
  }
}

/** Normally distributed numbers, always the same ones (mulberry32 and Box-Muller). */
function createGaussian(): () => number {
  let state = 42
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([u64(bytes.length), bytes])
}

function pair(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([string(key), u32(type), value])
}

function array(key: string, type: number, items: Buffer[]): Buffer {
  return pair(key, TYPE.array, Buffer.concat([u32(type), u64(items.length), ...items]))
}
