// @ts-check
/**
 * One measurement of `compute.mjs`, in a process of its own, because pinning a thread outlives its pool. Prints tokens/s of
 * the prompt, and for each number of sequences tokens/s, the cores that the process kept busy, its CPU time and its resident memory, as one line of JSON.
 * Usage: node bench/loops/compute-loop.mjs MODEL.gguf SEQUENCES PROMPT_TOKENS DEPTH SECONDS SETTINGS
 */
import os from 'node:os'
import { Batch } from '../../dist/engines/llamacpp/batch.js'
import { allocateBytes, bind, freeBytes } from '../../dist/engines/llamacpp/ffi/bindings.js'
import { loadLibraries } from '../../dist/engines/llamacpp/ffi/libraries.js'
import { koffi } from '../../dist/engines/koffi.js'
import { STRUCTS } from '../../dist/engines/llamacpp/ffi/structs.js'

const STEP_TOKENS = 512
const MAX_STEPS = 255
/** What a runner does between two steps, while its threads wait for the next one. */
const PAUSE_MS = 0.3
const GGML_TYPES = /** @type {Record<string, number>} */ ({ f32: 0, f16: 1, q8_0: 8 })
const FLASH_TYPES = /** @type {Record<string, number>} */ ({ auto: -1, off: 0, on: 1 })

const [
  modelPath = '',
  sequencesWord = '1',
  promptWord = '1000',
  depthWord = '32',
  secondsWord = '1',
  words = '',
] = process.argv.slice(2)
const promptTokens = Number(promptWord)
const depth = Number(depthWord)
const settings = {
  threads: String(os.availableParallelism()),
  poll: '0',
  pin: 'off',
  kv: 'f16',
  flash: 'auto',
  ubatch: String(STEP_TOKENS),
  repack: 'on',
  layout: 'streams',
  ...Object.fromEntries(words.split(',').map((word) => word.split('='))),
}
const threads = Number(settings.threads)
const isUnified = settings.layout === 'unified'
const batchThreads = Number(settings['batch-threads'] ?? threads)

const libraries = loadLibraries('off')
const api = bind(libraries)
api.loadBackends(libraries.folder)
api.backendInit()
const modelParams = { ...api.modelDefaultParams(), use_extra_bufts: settings.repack === 'on' }
const model = api.modelLoadFromFile(modelPath, modelParams) ?? fail(`cannot load ${modelPath}`)

/** @param {string} message @returns {never} */
function fail(message) {
  throw new Error(message)
}

function createPool() {
  const { ggmlBase, ggml } = libraries
  /** @type {{ poll?: number, strict_cpu?: boolean, cpumask?: boolean[] }} */
  const params = {}
  ggmlBase.func('ggml_threadpool_params_init', 'void', [
    koffi.out(koffi.pointer(STRUCTS.ggml_threadpool_params)),
    'int',
  ])(params, Math.max(threads, batchThreads))
  params.poll = Number(settings.poll)
  params.strict_cpu = settings.pin === 'on'
  params.cpumask = Array.from(
    { length: 512 },
    (_, core) => settings.pin === 'on' && core < os.availableParallelism(),
  )
  const registry = ggml.func('ggml_backend_reg_by_name', 'void *', ['str'])('CPU')
  const create = ggmlBase.func('ggml_backend_reg_get_proc_address', 'void *', ['void *', 'str'])
  return koffi.call(
    create(registry, 'ggml_threadpool_new'),
    koffi.proto('void *', [koffi.pointer(STRUCTS.ggml_threadpool_params)]),
    params,
  )
}

const pool = createPool()
const batch = new Batch(api, STEP_TOKENS)
const tokens = Int32Array.from({ length: promptTokens }, (_, i) => 300 + ((i * 7919) % 3000))

/** @param {number} sequences */
function open(sequences) {
  const slotTokens = Math.ceil(Math.max(promptTokens, depth + MAX_STEPS + 1) / 256) * 256
  const context = api.contextInit(model, {
    ...api.contextDefaultParams(),
    n_ctx: isUnified ? Number(settings.cells ?? slotTokens * sequences) : slotTokens * sequences,
    n_batch: STEP_TOKENS,
    n_ubatch: Number(settings.ubatch),
    n_seq_max: sequences,
    n_outputs_max: sequences,
    n_threads: threads,
    n_threads_batch: batchThreads,
    type_k: GGML_TYPES[settings.kv] ?? 1,
    type_v: GGML_TYPES[settings.kv] ?? 1,
    flash_attn_type: FLASH_TYPES[settings.flash] ?? -1,
    no_perf: true,
    kv_unified: isUnified,
  })
  if (context === null) return fail('cannot make a context')
  api.attachThreadpool(context, pool, pool)
  return context
}

/** @param {bigint} context @param {import('../../dist/protocol/model-runner.js').SlotRun[]} runs */
function decode(context, runs) {
  const status = api.decode(context, batch.fill(runs))
  if (status !== 0 || api.logits(context) === null) throw new Error(`llama_decode: ${status}`)
}

/** Tokens per second of a prompt in slot 0. @param {bigint} context @param {number} count */
function prefill(context, count) {
  const startedMs = performance.now()
  for (let position = 0; position < count; position += STEP_TOKENS) {
    const tokenIds = tokens.subarray(position, Math.min(count, position + STEP_TOKENS))
    decode(context, [{ slotId: 0, position, tokenIds, wantsToken: true }])
  }
  return (count * 1000) / (performance.now() - startedMs)
}

/** Each slot gets what the first one holds, in cells of its own. @param {bigint} context @param {number} sequences */
function copyToAll(context, sequences) {
  const bytes = api.stateSeqSize(context, 0, 0)
  const copy = allocateBytes(bytes)
  api.stateSeqGet(context, copy, bytes, 0, 0)
  for (let slot = 1; slot < sequences; slot++) {
    if (api.stateSeqSet(context, copy, bytes, slot, 0) !== bytes) throw new Error('no room for a copy')
  }
  freeBytes(copy)
}

/** @param {number} sequences @param {boolean} withPrompt */
function measure(sequences, withPrompt) {
  const context = open(sequences)
  const memory = api.contextMemory(context)
  if (memory === null) throw new Error('no KV cache')
  prefill(context, 32)
  api.memorySeqRm(memory, 0, 0, -1)
  const promptRate = prefill(context, withPrompt ? promptTokens : depth)
  api.memorySeqRm(memory, 0, depth, -1)
  copyToAll(context, sequences)
  const runs = Array.from({ length: sequences }, (_, slotId) => ({
    slotId,
    tokenIds: tokens.subarray(slotId, slotId + 1),
    wantsToken: true,
  }))
  const step = (/** @type {number} */ position) =>
    decode(
      context,
      runs.map((run) => ({ ...run, position })),
    )
  // The first step also makes the copies.
  step(depth)
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  let steps = 0
  while (steps < MAX_STEPS && performance.now() < startedMs + Number(secondsWord) * 1000) {
    step(depth + ++steps)
    const untilMs = performance.now() + PAUSE_MS
    while (performance.now() < untilMs);
  }
  const seconds = (performance.now() - startedMs) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const megabytes = process.memoryUsage.rss() / 1e6
  api.contextFree(context)
  return {
    megabytes,
    promptRate,
    rate: (sequences * steps) / seconds,
    cores: (user + system) / 1e6 / seconds,
  }
}

/** @type {Record<string, number>} */
const figures = {}
for (const [index, sequences] of sequencesWord.split(',').map(Number).entries()) {
  const { promptRate, rate, cores, megabytes } = measure(sequences, index === 0)
  if (index === 0) figures.prompt = promptRate
  figures[`of ${sequences}`] = rate
  figures[`cores of ${sequences}`] = cores
  figures[`CPU ms a token of ${sequences}`] = (cores * 1000) / rate
  figures[`MB of ${sequences}`] = megabytes
}
process.stdout.write(`${JSON.stringify(figures)}\n`)
process.exit()
