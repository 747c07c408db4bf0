// @ts-check
/**
 * What quantizing costs and gives: for none, fp8, int8 and int4 the size of the weights, the perplexity over held-out
 * text (every token but the first of a document, KV cache in F16 as served) and output tokens/s of the bare decode loop.
 * Prints the table that docs/quantization.md keeps.
 *
 *   node bench/quantization.mjs [--checkpoint DIR] [--held-out FILE] [--documents N] [--rounds 5] [--threads 2]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bind } from '../dist/engines/llamacpp/ffi/bindings.js'
import { Context } from '../dist/engines/llamacpp/context.js'
import { loadLibraries } from '../dist/engines/llamacpp/ffi/libraries.js'
import { checkGguf } from '../dist/engines/llamacpp/gguf-check.js'
import { openModel } from '../dist/engines/llamacpp/model.js'
import { quantizeInProcess } from '../dist/engines/llamacpp/quantize/quantize-process.js'
import { Vocabulary } from '../dist/engines/llamacpp/tokenizing/vocabulary.js'
import { openGgufModel } from '../dist/checkpoints/gguf/gguf-file.js'
import { resolveModelFile } from '../dist/checkpoints/model-file.js'
import { cachedQuantization } from '../dist/checkpoints/quantization/quantize-model.js'

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
/** Documents computed at once, one token of each in a step. */
const SLOTS = 64
const MAX_SEQ_LEN = 2048
const SPEED_SEQUENCES = [1, 8]
const SPEED_TOKENS = 256

const { values } = parseArgs({
  options: {
    checkpoint: { type: 'string', default: path.join(ROOT, 'models/demo') },
    'held-out': { type: 'string', default: path.join(ROOT, 'tools/demo-model/held-out.jsonl') },
    documents: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: String(Math.min(2, os.availableParallelism())) },
  },
})
const rounds = Number(values.rounds)
const threads = Number(values.threads)

const libraries = loadLibraries('off')
const api = bind(libraries)
api.loadBackends(libraries.folder)
api.backendInit()

/** @param {string} modelPath */
function open(modelPath) {
  const { architecture, putsSpaceAtStart, kvElementsPerToken } = checkGguf(api, modelPath)
  const options = {
    modelPath,
    architecture,
    putsSpaceAtStart,
    kvElementsPerToken,
  }
  return openModel(api, options, () => {})
}

/** @param {ReturnType<typeof open>} model @param {number} maxBatchSize @param {number} maxSeqLen */
function makeContext(model, maxBatchSize, maxSeqLen) {
  return Context.open(api, model, {
    maxBatchSize,
    maxSeqLen,
    maxThreads: threads,
    usesGpu: false,
    kvCacheType: 'f16',
    sharedTokens: null,
  })
}

/** Negative log-likelihood of a token. @param {Float32Array} logits @param {number} tokenId */
function lossOf(logits, tokenId) {
  let max = Number.NEGATIVE_INFINITY
  for (let i = 0; i < logits.length; i++) max = Math.max(max, logits[i] ?? 0)
  let sum = 0
  for (let i = 0; i < logits.length; i++) sum += Math.exp((logits[i] ?? 0) - max)
  return Math.log(sum) + max - (logits[tokenId] ?? 0)
}

/** @param {string} modelPath @param {readonly string[]} texts */
function measurePerplexity(modelPath, texts) {
  const model = open(modelPath)
  const vocabulary = Vocabulary.read(api, { modelId: 'bench', ...model })
  const documents = texts
    .map((text) => vocabulary.tokenize({ pieces: [text], addSpecial: false }).subarray(0, MAX_SEQ_LEN))
    .sort((a, b) => b.length - a.length)
  const context = makeContext(model, SLOTS, MAX_SEQ_LEN)
  /** @type {{ slotId: number, tokenIds: Int32Array, position: number }[]} */
  const running = []
  const freeSlots = Array.from({ length: SLOTS }, (_, slotId) => slotId)
  let loss = 0
  let tokens = 0
  for (;;) {
    while (freeSlots.length > 0 && documents.length > 0) {
      const slotId = freeSlots.pop() ?? 0
      context.trimSlot(slotId, 0)
      running.push({ slotId, tokenIds: documents.shift() ?? new Int32Array(0), position: 0 })
    }
    if (running.length === 0) break
    context.decode(
      running.map(({ slotId, tokenIds, position }) => ({
        slotId,
        position,
        tokenIds: tokenIds.subarray(position, position + 1),
        wantsToken: true,
      })),
    )
    const logits = context.logits()
    for (const [row, document] of running.entries()) {
      document.position++
      loss += lossOf(logits[row] ?? new Float32Array(0), document.tokenIds[document.position] ?? 0)
      tokens++
    }
    for (let i = running.length - 1; i >= 0; i--) {
      const document = running[i]
      if (document === undefined || document.position < document.tokenIds.length - 1) continue
      running.splice(i, 1)
      freeSlots.push(document.slotId)
    }
  }
  context.close()
  model.close()
  return { perplexity: Math.exp(loss / tokens), tokens }
}

/** Output tokens/s, greedy, all sequences from the start. @param {string} modelPath @param {number} sequences */
function measureSpeed(modelPath, sequences) {
  const model = open(modelPath)
  const context = makeContext(model, sequences, SPEED_TOKENS)
  const next = new Int32Array(sequences).fill(1)
  const startedMs = performance.now()
  for (let position = 0; position < SPEED_TOKENS; position++) {
    context.decode(
      Array.from(next, (_, slotId) => ({
        slotId,
        position,
        tokenIds: next.subarray(slotId, slotId + 1),
        wantsToken: true,
      })),
    )
    for (const [slotId, logits] of context.logits().entries()) {
      let best = 0
      for (let id = 1; id < logits.length; id++) if ((logits[id] ?? 0) > (logits[best] ?? 0)) best = id
      next[slotId] = best
    }
  }
  const seconds = (performance.now() - startedMs) / 1000
  context.close()
  model.close()
  return (sequences * SPEED_TOKENS) / seconds
}

/** @param {readonly number[]} numbers */
function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'sluice-quantization-'))
try {
  const source = { checkpoint: values.checkpoint, modelConfig: null, tokenizer: null }
  const { model } = await resolveModelFile({ ...source, dataDir })
  const texts = readFileSync(values['held-out'], 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /** @type {{ text: string }} */ (JSON.parse(line)).text)
    .slice(0, Number(values.documents) || undefined)

  const rows = [
    {
      mode: 'none',
      format: '',
      path: model.path,
      mb: sizeMb(model.tensors),
      exactShare: /** @type {number | null} */ (null),
    },
  ]
  for (const mode of /** @type {const} */ (['fp8', 'int8', 'int4'])) {
    let exactShare = /** @type {number | null} */ (null)
    const quantized = await cachedQuantization({
      model,
      mode,
      dataDir,
      quantize: async (work) => {
        ;({ exactShare } = await quantizeInProcess(work))
      },
    })
    rows.push({
      mode,
      format: quantized.format,
      path: quantized.model.path,
      mb: quantized.sizeBytes / 1e6,
      exactShare,
    })
  }
  // What int4 becomes where rows are no whole 256-blocks.
  const smallBlocks = path.join(dataDir, 'small-blocks.gguf')
  await quantizeInProcess({ model, format: 'IQ4_NL', outputPath: smallBlocks, onProgress: () => {} })
  const { tensors } = await openGgufModel(smallBlocks)
  rows.push({
    mode: 'int4, other shapes',
    format: 'IQ4_NL',
    path: smallBlocks,
    mb: sizeMb(tensors),
    exactShare: null,
  })

  /** @type {Map<string, number[]>} */
  const speeds = new Map()
  // Round by round, so that what else the machine does hits all of them alike.
  for (let round = 0; round < rounds; round++) {
    for (const { mode, path } of rows) {
      for (const sequences of SPEED_SEQUENCES) {
        const key = `${mode} ${sequences}`
        speeds.set(key, [...(speeds.get(key) ?? []), measureSpeed(path, sequences)])
      }
    }
  }
  const [cpu] = os.cpus()
  console.log(`${cpu?.model}, ${threads} threads, Node ${process.version}, ${rounds} rounds, medians\n`)
  console.log('| mode | format | MB | perplexity | against none | tokens/s, 1 sequence | tokens/s, 8 |')
  console.log('|---|---|---|---|---|---|---|')
  let unquantized = 0
  let counted = 0
  for (const { mode, format, path, mb } of rows) {
    const { perplexity, tokens } = measurePerplexity(path, texts)
    if (mode === 'none') unquantized = perplexity
    counted = tokens
    const change = `${((perplexity / unquantized - 1) * 100).toFixed(2)} %`
    const perSecond = SPEED_SEQUENCES.map((sequences) =>
      Math.round(median(speeds.get(`${mode} ${sequences}`) ?? [])),
    )
    const cells = [
      mode,
      format || 'as given',
      mb.toFixed(2),
      perplexity.toFixed(4),
      mode === 'none' ? '' : change,
    ]
    console.log(`| ${[...cells, ...perSecond].join(' | ')} |`)
  }
  const share = rows.find(({ exactShare }) => exactShare !== null)?.exactShare ?? 1
  console.log(`\n${texts.length} documents, ${counted} tokens`)
  console.log(`weights of fp8 stored exactly as E4M3: ${(share * 100).toFixed(1)} %`)
} finally {
  rmSync(dataDir, { recursive: true })
}

/** @param {readonly { sizeBytes: number }[]} tensors */
function sizeMb(tensors) {
  return tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 1e6
}
