// @ts-check
/**
 * Writes a Llama-architecture GGUF with random Q4_0 weights, so that a benchmark of a realistic size needs no
 * download. It says nonsense; speed does not care. Usage, after npm run build: node bench/random-model.mjs 125m out.gguf
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { layoutGguf, writeGguf } from '../dist/checkpoints/gguf/gguf-writer.js'

/** hidden size, feed-forward size, layers, heads */
export const SIZES = /** @type {const} */ ({
  '25m': [384, 1024, 8, 6],
  '125m': [768, 2048, 12, 12],
  '1.1b': [2048, 5632, 22, 32],
})

const VOCAB = 32_000
/** Tokens of one byte each; the others are words. */
const BYTES = 256
const WORD_LETTERS = 'abcdefghijklmn'
/** How a byte-level vocabulary writes a space. */
const SPACE = 'Ġ'
const CONTEXT = 4096
const BLOCK_BYTES = 18
/** Half-precision 0.004: with quants around ±8 the weights then have the spread of a trained model's. */
const SCALE_F16 = 0x1c19

/** @param {keyof typeof SIZES} size @param {string} file */
export async function writeRandomModel(size, file) {
  if (existsSync(file)) return
  const layout = layoutGguf(metadata(size), tensors(size))
  await writeGguf(file, layout, async function* ({ name, type, shape, sizeBytes }) {
    if (type === 'F32') {
      yield new Uint8Array(new Float32Array(Number(shape[0])).fill(1).buffer)
      return
    }
    for (let written = 0, part = 0; written < sizeBytes; part++) {
      const bytes = Math.min(sizeBytes - written, BLOCK_BYTES * 65_536)
      yield randomBlocks(`${size} ${name} ${part}`, bytes)
      written += bytes
    }
  })
}

/** Blocks of Q4_0 that are the same on every machine. @param {string} seed @param {number} bytes */
function randomBlocks(seed, bytes) {
  const blocks = createHash('shake256', { outputLength: bytes }).update(seed).digest()
  for (let offset = 0; offset < bytes; offset += BLOCK_BYTES) blocks.writeUInt16LE(SCALE_F16, offset)
  return blocks
}

/** @param {keyof typeof SIZES} size */
function tensors(size) {
  const [hidden, feedForward, layers] = SIZES[size]
  /** @param {string} name @param {number[]} shape */
  const matrix = (name, ...shape) => ({ name, type: /** @type {const} */ ('Q4_0'), shape })
  /** @param {string} name */
  const norm = (name) => ({ name, type: /** @type {const} */ ('F32'), shape: [hidden] })
  const blocks = Array.from({ length: layers }, (_, i) => [
    norm(`blk.${i}.attn_norm.weight`),
    ...['q', 'k', 'v', 'output'].map((part) => matrix(`blk.${i}.attn_${part}.weight`, hidden, hidden)),
    norm(`blk.${i}.ffn_norm.weight`),
    matrix(`blk.${i}.ffn_gate.weight`, hidden, feedForward),
    matrix(`blk.${i}.ffn_up.weight`, hidden, feedForward),
    matrix(`blk.${i}.ffn_down.weight`, feedForward, hidden),
  ])
  return [
    matrix('token_embd.weight', hidden, VOCAB),
    norm('output_norm.weight'),
    matrix('output.weight', hidden, VOCAB),
    ...blocks.flat(),
  ]
}

/** @param {keyof typeof SIZES} size */
function metadata(size) {
  const [hidden, feedForward, layers, heads] = SIZES[size]
  /** @param {number} value */
  const uint32 = (value) => ({ type: /** @type {const} */ ('uint32'), value })
  /** @param {string} value */
  const string = (value) => ({ type: /** @type {const} */ ('string'), value })
  const tokens = Array.from({ length: VOCAB }, (_, id) =>
    id < BYTES ? byteCharacter(id) : SPACE + wordLetters(id - BYTES),
  )
  return new Map(
    /** @type {[string, import('../dist/checkpoints/gguf/gguf-format.js').GgufValue][]} */ ([
      ['general.architecture', string('llama')],
      ['general.name', string(`random-${size}`)],
      ['general.file_type', uint32(2)],
      ['llama.context_length', uint32(CONTEXT)],
      ['llama.embedding_length', uint32(hidden)],
      ['llama.feed_forward_length', uint32(feedForward)],
      ['llama.block_count', uint32(layers)],
      ['llama.attention.head_count', uint32(heads)],
      ['llama.attention.head_count_kv', uint32(heads)],
      ['llama.rope.dimension_count', uint32(hidden / heads)],
      ['llama.attention.layer_norm_rms_epsilon', { type: 'float32', value: 1e-5 }],
      ['tokenizer.ggml.model', string('gpt2')],
      ['tokenizer.ggml.pre', string('gpt-2')],
      ['tokenizer.ggml.tokens', { type: 'array', itemType: 'string', items: tokens }],
      ['tokenizer.ggml.token_type', { type: 'array', itemType: 'int32', items: tokens.map(() => 1) }],
      ['tokenizer.ggml.merges', { type: 'array', itemType: 'string', items: wordMerges() }],
    ]),
  )
}

/**
 * A word of four letters; after a space it is one token, so text of these words has as many tokens as words, and what
 * the model writes tokenizes back into what it was made of.
 * @param {number} index
 */
function wordLetters(index) {
  const base = WORD_LETTERS.length
  return [base ** 3, base ** 2, base, 1].map((unit) => WORD_LETTERS[Math.floor(index / unit) % base]).join('')
}

/** @param {() => number} random uniform, 0 to 1 */
export function randomWord(random) {
  return wordLetters(Math.floor(random() * (VOCAB - BYTES)))
}

/** Each word grows from its space one letter at a time; shorter merges come first. */
function wordMerges() {
  const merges = new Set()
  for (let letters = 1; letters <= 4; letters++) {
    for (let index = 0; index < VOCAB - BYTES; index++) {
      const word = wordLetters(index)
      merges.add(`${SPACE}${word.slice(0, letters - 1)} ${word.slice(letters - 1, letters)}`)
    }
  }
  return [...merges]
}

/** The printable character that stands for a byte in a byte-level vocabulary. @param {number} byte */
function byteCharacter(byte) {
  const isPrintable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  if (isPrintable) return String.fromCharCode(byte)
  const unprintable = Array.from({ length: 256 }, (_, b) => b).filter(
    (b) => !((b > 32 && b < 127) || (b > 160 && b !== 173)),
  )
  return String.fromCharCode(256 + unprintable.indexOf(byte))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [size = '', file] = process.argv.slice(2)
  const known = Object.keys(SIZES)
  if (!known.includes(size) || file === undefined) {
    console.error(`Usage: node bench/random-model.mjs ${known.join('|')} FILE`)
    process.exitCode = 2
  } else if (existsSync(file)) {
    console.error(`${file} exists already.`)
    process.exitCode = 1
  } else await writeRandomModel(/** @type {keyof typeof SIZES} */ (size), file)
}
