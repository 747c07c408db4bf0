// @ts-check
/**
 * What speculative decoding gains and costs: tokens per second of one client and of eight, with and without, in turns, in
 * this process; with --draft also with a draft model beside the model's own text. By default with the bundled model, because
 * only trained weights make texts that repeat themselves as real ones do.
 * Rows of questions run into repetition when they are continued greedily; stories and conversations do not.
 *
 *   npm run bench:speculation -- [--tokens 200] [--prompts 8] [--rounds 5] [--threads 1] [--model demo|FILE.gguf]
 *     [--draft FILE.gguf] [--kinds questions,JSON,stories,conversations] [--clients 1,8]
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { openLlamaRunner } from '../dist/engines/llamacpp/open-runner.js'
import { InProcessEngine } from '../dist/engines/process/step-loop/in-process-engine.js'
import { findModel } from './models.mjs'
import { rangeOf } from './report/statistics.mjs'

const { values } = parseArgs({
  options: {
    tokens: { type: 'string', default: '200' },
    prompts: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '1' },
    model: { type: 'string', default: 'demo' },
    draft: { type: 'string' },
    kinds: { type: 'string', default: 'questions,JSON,stories,conversations' },
    clients: { type: 'string', default: '1,8' },
  },
})
const maxNewTokens = Number(values.tokens)
const GREEDY = { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: null }

/** @type {{ kind: string, text: string }[]} */
const documents = readFileSync(new URL('../tools/demo-model/held-out.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

/** Beginnings of documents. @param {string} kind @param {number} length @param {string} [end] */
const beginnings = (kind, length, end = '') =>
  documents
    .filter(({ kind: own, text }) => own === kind && text.length > length)
    .slice(0, Number(values.prompts))
    .map(({ text }) => text.slice(0, length) + end)

/** @param {string} question */
const asked = (question) => `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`

/** @type {{ name: string, prompts: string[], sampling: import('../dist/protocol/engine.js').Sampling }[]} */
const allKinds = [
  { name: 'questions in a row, greedy', prompts: beginnings('plain', 150), sampling: GREEDY },
  {
    name: 'JSON after JSON, greedy',
    prompts: documents
      .filter(({ text }) => text.includes(' JSON'))
      .slice(0, Number(values.prompts))
      .map(({ text }) => text + asked('Give me a JSON object with name Emil and age 7.')),
    sampling: GREEDY,
  },
  {
    name: 'stories, temperature 0.8',
    prompts: beginnings('story', 60),
    sampling: { ...GREEDY, temperature: 0.8, seed: 7 },
  },
  {
    name: 'conversations, greedy',
    prompts: beginnings('chat', 250, `<|im_end|>\n${asked('Tell me a story.')}`),
    sampling: GREEDY,
  },
]

const kinds = allKinds.filter(({ name }) => values.kinds.split(',').some((kind) => name.startsWith(kind)))

const { path: modelPath } = await findModel(values.model)

/** @param {'ngram' | 'off'} speculation @param {string} [draft] */
async function open(speculation, draft) {
  const options = {
    modelId: 'bench',
    modelPath,
    maxBatchSize: 8,
    maxSeqLen: 1024,
    gpu: /** @type {const} */ ('off'),
    ...(draft !== undefined && { draft: { name: 'draft', modelPath: draft } }),
  }
  const runner = await openLlamaRunner(
    { ...options, threads: Number(values.threads), gpuLayers: null, kvCacheType: 'f16', speculation },
    () => {},
  )
  return new InProcessEngine({ runner })
}

let requests = 0

/** @param {InProcessEngine} engine @param {string} prompt @param {import('../dist/protocol/engine.js').Sampling} sampling */
async function generate(engine, prompt, sampling) {
  const request = {
    reqId: `bench-${++requests}`,
    prompts: [{ pieces: [prompt], addSpecial: false }],
    options: { maxNewTokens, sampling, stopStrings: [] },
    place: { priorityClass: 0, priority: 0, accountId: 'bench' },
  }
  const result = { made: 0, drafted: 0, accepted: 0 }
  for await (const events of engine.generate(request, new AbortController().signal)) {
    for (const event of events) {
      if (event.type === 'text-delta') {
        result.made += event.tokenIds.length
      } else if (event.type === 'sequence-end') {
        result.drafted += event.drafts?.draftedTokens ?? 0
        result.accepted += event.drafts?.acceptedTokens ?? 0
      }
    }
  }
  return result
}

/** All prompts of a kind. @param {InProcessEngine} engine @param {(typeof kinds)[number]} kind @param {number} clients */
async function measure(engine, { prompts, sampling }, clients) {
  const waiting = [...prompts]
  /** @type {Awaited<ReturnType<typeof generate>>[]} */
  const results = []
  const startedMs = performance.now()
  const cpu = process.cpuUsage()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let prompt = waiting.shift(); prompt !== undefined; prompt = waiting.shift()) {
        results.push(await generate(engine, prompt, sampling))
      }
    }),
  )
  const seconds = (performance.now() - startedMs) / 1000
  const { user, system } = process.cpuUsage(cpu)
  /** @param {'made' | 'drafted' | 'accepted'} key */
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  const made = sum('made')
  return {
    tokensPerSecond: made / seconds,
    cpuMs: (user + system) / 1000 / made,
    drafted: sum('drafted'),
    accepted: sum('accepted'),
  }
}

/** @param {number[]} figures @param {number} digits */
const describe = (figures, digits) => {
  const range = rangeOf(figures)
  if (range === null) throw new Error('nothing was measured')
  const [median, min, max] = [range.median, range.min, range.max].map((figure) => figure.toFixed(digits))
  return `${median} (${min} to ${max})`
}

const off = await open('off')
const sides = [{ name: 'with', engine: await open('ngram') }]
if (values.draft !== undefined)
  sides.push({ name: 'with a draft model', engine: await open('ngram', values.draft) })
for (const kind of kinds) {
  for (const clients of values.clients.split(',').map(Number)) {
    /** @type {Awaited<ReturnType<typeof measure>>[]} */
    const plain = []
    const drafted = sides.map(() => /** @type {Awaited<ReturnType<typeof measure>>[]} */ ([]))
    await measure(off, kind, clients)
    for (const { engine } of sides) await measure(engine, kind, clients)
    for (let round = 0; round < Number(values.rounds); round++) {
      plain.push(await measure(off, kind, clients))
      for (const [side, { engine }] of sides.entries())
        drafted[side]?.push(await measure(engine, kind, clients))
    }
    const speeds = (/** @type {typeof plain} */ measured) => measured.map((one) => one.tokensPerSecond)
    console.log(`${kind.name}, ${clients} clients: ${describe(speeds(plain), 0)} tokens/s without`)
    for (const [side, { name }] of sides.entries()) {
      const own = drafted[side] ?? []
      const ratios = own.map(({ tokensPerSecond }, i) => tokensPerSecond / (plain[i]?.tokensPerSecond ?? NaN))
      // Tokens per CPU time: on a machine that others use too.
      const cpuRatios = own.map(({ cpuMs }, i) => (plain[i]?.cpuMs ?? NaN) / cpuMs)
      const last = own.at(-1)
      const guesses = `${last?.accepted} of ${last?.drafted} guesses right`
      console.log(
        `  ${name}: ${describe(speeds(own), 0)}, x ${describe(ratios, 2)}, by CPU time x ${describe(cpuRatios, 2)}; ${guesses}`,
      )
    }
  }
}
for (const engine of [off, ...sides.map((side) => side.engine)]) await engine.close()
