/** Log probabilities of the small Llama's texts, against a softmax of logits that were computed without any of it. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EngineRequest, TextPrompt, SequenceOptions } from '../../src/protocol/engine.ts'
import type { ChosenLogprob } from '../../src/protocol/engine-events.ts'
import { GREEDY } from '../../src/scheduler/sequence.ts'
import { type SmallLlama, openSmallLlama } from '../support/engines/small-llama.ts'
import { engineRequest } from '../support/engines/engine-requests.ts'
import { openForLogits } from '../support/engines/model-logits.ts'

const root = path.resolve(import.meta.dirname, '../..')
const SLOTS = 3
const TOP = 5
const STORY = 'Once upon a time there was a fox who lived in a little house in the woods. '
let llama: SmallLlama

beforeAll(async () => {
  llama = await openSmallLlama({ maxBatchSize: SLOTS })
})

afterAll(() => llama.close())

interface Made {
  text: string
  readonly tokenIds: number[]
  readonly logprobs: ChosenLogprob[]
  cachedTokens: number
  acceptedTokens: number
}

async function runAll(request: EngineRequest): Promise<Made[]> {
  const all = Array.from({ length: request.prompts.length * (request.choices ?? 1) }, (): Made => ({
    text: '',
    tokenIds: [],
    logprobs: [],
    cachedTokens: 0,
    acceptedTokens: 0,
  }))
  for await (const events of llama.engine.generate(request, new AbortController().signal)) {
    for (const event of events) {
      const made = all[event.index]
      if (made === undefined) throw new Error('there is a sequence')
      if (event.type === 'sequence-start') made.cachedTokens = event.cachedTokens
      else if (event.type === 'sequence-end') made.acceptedTokens = event.drafts?.acceptedTokens ?? 0
      else {
        made.text += event.text
        made.tokenIds.push(...event.tokenIds)
        made.logprobs.push(...(event.logprobs ?? []))
      }
    }
  }
  return all
}

async function run(text: string, options: Partial<SequenceOptions> = {}): Promise<Made> {
  const [made] = await runAll(engineRequest(text, { maxNewTokens: 40, topLogprobs: TOP, ...options }))
  if (made === undefined) throw new Error('there is a sequence')
  return made
}

/** The logits before each token of a continuation, computed one after the other with nothing else. */
function rawLogits(prompt: TextPrompt, tokenIds: readonly number[]): Float32Array[] {
  const model = openForLogits({ modelPath: llama.modelPath, maxSeqLen: 512 })
  try {
    const promptTokenIds = [...llama.runner.tokenize(prompt)]
    const rows = [model.logitsAfter(0, promptTokenIds)]
    for (const [place, tokenId] of tokenIds.slice(0, -1).entries()) {
      rows.push(model.logitsAfter(promptTokenIds.length + place, [tokenId]))
    }
    return rows
  } finally {
    model.close()
  }
}

function logSoftmax(row: ArrayLike<number>, temperature: number): number[] {
  const scaled = Array.from(row, (logit) => logit / temperature)
  const largest = scaled.reduce((one, other) => Math.max(one, other))
  const sum = scaled.reduce((all, one) => all + Math.exp(one - largest), 0)
  return scaled.map((one) => one - largest - Math.log(sum))
}

/** Of tokens that are all text. */
function expectLogprobs(
  { tokenIds, logprobs, text }: Made,
  promptText: string,
  { temperature = 1, adjust = (row: Float32Array): ArrayLike<number> => row } = {},
): void {
  const isText = (tokenId: number) => !llama.runner.isEndOfGeneration(tokenId)
  expect(logprobs.map(({ tokenId }) => tokenId)).toEqual(tokenIds.filter(isText))
  expect(Buffer.from(logprobs.flatMap(({ bytes }) => bytes)).toString('utf8')).toBe(text)
  const rows = rawLogits({ pieces: [promptText], addSpecial: true }, tokenIds)
  for (const [place, { tokenId, logprob, top }] of logprobs.entries()) {
    const expected = logSoftmax(adjust(rows[place] ?? new Float32Array()), temperature)
    expect(logprob).toBeCloseTo(expected[tokenId] ?? NaN, 3)
    expect(top).toHaveLength(TOP)
    const likeliest = expected.toSorted((a, b) => b - a)
    for (const [rank, one] of top.entries()) {
      expect(one.logprob).toBeCloseTo(expected[one.tokenId] ?? NaN, 3)
      expect(one.logprob).toBeCloseTo(likeliest[rank] ?? NaN, 3)
    }
  }
}

describe('log probabilities', () => {
  it('are those of the model where the choice is greedy, whose tokens are the likeliest', async () => {
    const made = await run(STORY)

    expectLogprobs(made, STORY)
    expect(made.logprobs.map(({ top }) => top[0]?.tokenId)).toEqual(
      made.logprobs.map(({ tokenId }) => tokenId),
    )
  })

  it('are those after the temperature, whatever is cut', async () => {
    const sampling = { ...GREEDY, temperature: 1.4, topK: 30, topP: 0.9, minP: 0.02 }
    const made = await run(STORY, { sampling })

    expectLogprobs(made, STORY, { temperature: 1.4 })
  })

  it('are those after a bias', async () => {
    const sampling = { ...GREEDY, logitBias: [[300, 4] as const, [301, -100] as const] }
    const made = await run(STORY, { sampling })

    const adjust = (row: Float32Array) =>
      row.map((logit, id) => (id === 300 ? logit + 4 : id === 301 ? logit - 100 : logit))
    expectLogprobs(made, STORY, { adjust })
  })

  it('come with a seed, the same ones each time, and change no token', async () => {
    const prompt = STORY.repeat(12)
    const sampling = { ...GREEDY, temperature: 0.9, seed: 5 }
    const made = await run(prompt, { sampling })

    expectLogprobs(made, prompt, { temperature: 0.9 })
    expect((await run(prompt, { sampling })).logprobs).toEqual(made.logprobs)
    const [without] = await runAll(engineRequest(prompt, { maxNewTokens: 40, sampling }))
    expect(without?.tokenIds).toEqual(made.tokenIds)
    expect(without?.logprobs).toEqual([])
  })

  it('come with a prompt that was computed before', async () => {
    const prompt = `${STORY.repeat(8)}One day`
    await run(prompt)
    const made = await run(prompt)

    expect(made.cachedTokens).toBeGreaterThan(100)
    expectLogprobs(made, prompt)
  })

  it('come with tokens that were guessed', async () => {
    const lines = await readFile(path.join(root, 'test/data/small-llama-held-out.jsonl'), 'utf8')
    const repeating = lines.split('\n').filter((line) => line.includes(' JSON'))
    let acceptedTokens = 0
    for (const line of repeating.slice(0, 8)) {
      const { text } = JSON.parse(line) as { text: string }
      const prompt = `${text}<|user|>Emil as JSON, please.<|assistant|>`
      const made = await run(prompt, { maxNewTokens: 120 })
      acceptedTokens += made.acceptedTokens
      if (made.acceptedTokens > 0) expectLogprobs(made, prompt)
    }
    expect(acceptedTokens).toBeGreaterThan(5)
  })

  it('come for each of several choices, beside a sequence without them', async () => {
    const sampling = { ...GREEDY, temperature: 1.2, seed: 9 }
    const [together, [without]] = await Promise.all([
      runAll({ ...engineRequest(STORY, { maxNewTokens: 20, topLogprobs: TOP, sampling }), choices: 2 }),
      runAll(engineRequest('A tale of', { maxNewTokens: 20 })),
    ])

    for (const made of together) expectLogprobs(made, STORY, { temperature: 1.2 })
    expect(without?.logprobs).toEqual([])
    expect(without?.tokenIds.length).toBeGreaterThan(0)
  })

  it('leave out what a stop string cuts', async () => {
    const whole = await run(STORY)
    const stop = whole.text.slice(12, 15)
    const made = await run(STORY, { stopStrings: [stop] })

    expect(made.text).toBe(whole.text.slice(0, whole.text.indexOf(stop)))
    const bytes = Buffer.from(made.logprobs.flatMap((one) => one.bytes)).toString('utf8')
    expect(bytes.startsWith(made.text)).toBe(true)
    expect(made.logprobs).toEqual(whole.logprobs.slice(0, made.logprobs.length))
    const withoutLast = made.logprobs.slice(0, -1).flatMap((one) => one.bytes)
    expect(withoutLast.length).toBeLessThan(Math.max(1, Buffer.byteLength(made.text)))
  })
})
