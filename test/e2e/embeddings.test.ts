/** An embedding model in a real engine process behind the real API: a random BERT, converted, against a forward pass written here. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  CONTEXT,
  dot,
  embedReference,
  rankReference,
  type TinyBertOptions,
  VOCABULARY,
  writeTinyBert,
} from '../support/checkpoints/tiny-bert.ts'
import {
  call,
  SMALL_LLAMA,
  enginePids,
  KEY,
  logged,
  startServer,
  temporaryFolder,
} from '../support/servers/server-process.ts'
import { shared } from '../support/shared.ts'

const ADMIN_KEY = 'admin-key-of-this-test'

const write = (name: string, options: TinyBertOptions = {}) =>
  writeTinyBert(temporaryFolder(), { name, ...options })

/** One server for all models: the first is its own, the others are registered by the tests of them. */
const scene = shared(async () => {
  const words = ['--checkpoint', await write('mean'), '--threads', '1', '--gpu', 'off']
  const server = await startServer([...words, '--admin-key', ADMIN_KEY])
  await logged(server, 'serving')
  return { server, enginePid: enginePids(server)[0] ?? 0 }
})

async function register(id: string, checkpoint: string): Promise<void> {
  const body = { id, checkpoint }
  const answer = await call(scene().server, 'POST /v1/admin/models', { secret: ADMIN_KEY, body })
  expect(answer.status, await answer.text()).toBe(200)
}

interface Answer {
  readonly status: number
  readonly body: {
    readonly results: readonly { readonly index: number; readonly relevance_score: number }[]
    readonly data: readonly { readonly embedding: number[] }[]
    readonly usage: { readonly prompt_tokens: number }
    readonly detail?: string
    readonly error?: { readonly code: string; readonly param: string | null }
  }
}

async function post(route: string, body: object): Promise<Answer> {
  const answer = await call(scene().server, `POST ${route}`, { secret: KEY, body })
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

async function embed(input: unknown, model = 'mean'): Promise<readonly number[][]> {
  const { status, body } = await post('/v1/embeddings', { input, model })
  expect(body.error, body.detail).toBeUndefined()
  expect(status).toBe(200)
  return body.data.map(({ embedding }) => embedding)
}

const tokens = (...texts: readonly string[]) =>
  ['[CLS]', ...texts, '[SEP]'].map((text) => VOCABULARY.indexOf(text))

const CASES: readonly (readonly [text: string, tokenIds: readonly number[]])[] = [
  ['The quick brown fox.', tokens('the', 'quick', 'brown', 'fox', '.')],
  ['UNBELIEVABLE', tokens('un', '##believ', '##able')],
  ['fóx, 漢漢', tokens('fox', ',', '漢', '漢')],
  ['जि fox', tokens('ज', '##ि', 'fox')],
  ['☃ a', tokens('[UNK]', 'a')],
  [' ', tokens()],
  [
    'a1'.repeat(30),
    tokens(
      'a',
      ...'1a'
        .repeat(30)
        .slice(0, 59)
        .split('')
        .map((letter) => `##${letter}`),
    ),
  ],
]

describe('an embedding model', () => {
  it('makes the vectors of an independent forward pass', async () => {
    const vectors = await embed(CASES.map(([text]) => text))

    for (const [index, [, tokenIds]] of CASES.entries()) {
      expect(dot(vectors[index] ?? [], embedReference(tokenIds))).toBeGreaterThan(0.9999)
    }
  })

  it('gives vectors of length 1, and the tokens of all inputs', async () => {
    const { body } = await post('/v1/embeddings', { input: CASES.map(([text]) => text) })

    for (const { embedding } of body.data) expect(Math.hypot(...embedding)).toBeCloseTo(1, 5)
    const count = CASES.reduce((sum, [, { length }]) => sum + length, 0)
    expect(body.usage).toEqual({ prompt_tokens: count, total_tokens: count })
  })

  it('takes token ids as they are', async () => {
    const [one] = await embed(tokens('fox'))
    const [text, ids] = await embed([tokens('fox'), tokens('the')])

    expect(dot(one ?? [], embedReference(tokens('fox')))).toBeGreaterThan(0.9999)
    // Two texts in one batch are multiplied in another order than one, which some processors round otherwise.
    expect(dot(text ?? [], one ?? [])).toBeGreaterThan(0.999999)
    expect(dot(ids ?? [], embedReference(tokens('the')))).toBeGreaterThan(0.9999)
  })

  it('gives each of many concurrent clients its own vectors', async () => {
    const words = ['the', 'quick', 'brown', 'fox', 'un', '.']
    const clients = Array.from({ length: 16 }, (_, client) =>
      Array.from({ length: 1 + (client % 5) * 20 }, (__, i) =>
        Array.from({ length: 1 + ((client + i) % 30) }, (___, at) => words[(client * i + at) % 6] ?? ''),
      ),
    )
    const answers = await Promise.all(clients.map((texts) => embed(texts.map((text) => text.join(' ')))))

    for (const [client, texts] of clients.entries()) {
      for (const index of [0, texts.length - 1]) {
        const expected = embedReference(tokens(...(texts[index] ?? [])))
        expect(dot(answers[client]?.[index] ?? [], expected)).toBeGreaterThan(0.9999)
      }
    }
  })

  it('refuses a text that is longer than its context, and names it', async () => {
    const long = (words: number) => Array.from({ length: words }, () => 'fox').join(' ')
    const { status, body } = await post('/v1/embeddings', {
      input: ['a', long(CONTEXT - 2), long(CONTEXT - 1)],
    })

    expect([status, body.error?.code, body.error?.param]).toEqual([
      400,
      'context_length_exceeded',
      'input[2]',
    ])
    expect(body.detail).toBe(
      "This model's maximum context length is 64 tokens, but input[2] is 65 tokens long.",
    )
    expect((await embed(long(CONTEXT - 2)))[0]).toHaveLength(32)
    const { body: huge } = await post('/v1/embeddings', { input: long(100_000) })
    expect(huge.error).toMatchObject({ code: 'context_length_exceeded', param: 'input' })
  })

  it('refuses a token that it does not have', async () => {
    const { status, body } = await post('/v1/embeddings', { input: [[1], [VOCABULARY.length]] })

    expect([status, body.error?.param]).toEqual([400, 'input[1]'])
  })

  it('generates no text', async () => {
    for (const [route, request] of [
      ['/v1/chat/completions', { messages: [{ role: 'user', content: 'a' }] }],
      ['/v1/generate', { prompt: 'a' }],
    ] as const) {
      const { status, body } = await post(route, request)
      expect([status, body.detail]).toEqual([
        400,
        "model must be one that generates text, but 'mean' is an embedding model: use POST /v1/embeddings.",
      ])
    }
  })

  it('serves again when its engine has died', async () => {
    const { server, enginePid } = scene()
    process.kill(enginePid, 'SIGKILL')

    await expect.poll(async () => (await post('/v1/embeddings', { input: 'fox' })).status).toBe(200)
    expect(enginePids(server)).not.toContain(enginePid)
  })

  it('says what it can do', async () => {
    const answer = await call(scene().server, 'GET /v1/models/mean', { secret: KEY })

    expect(await answer.json()).toMatchObject({
      meta: {
        architecture: 'bert',
        capabilities: ['embeddings', 'rerank'],
        dimensions: 32,
        max_seq_len: CONTEXT,
      },
    })
  })

  it('cuts vectors only where the model was trained for it', async () => {
    const refused = await post('/v1/embeddings', { input: 'fox', dimensions: 8 })
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      "dimensions must be 32, but was 8: the vectors of model 'mean' cannot be cut.",
    ])

    const nested = 'nested'
    await register(nested, await write(nested, { pooling: null, config: { matryoshka_dimensions: [8, 16] } }))
    const [whole] = await embed('fox', nested)
    const { body } = await post('/v1/embeddings', { input: 'fox', dimensions: 8, model: nested })
    const { embedding: cut } = body.data[0] ?? { embedding: [] }
    expect(cut).toHaveLength(8)
    expect(Math.hypot(...cut)).toBeCloseTo(1, 5)
    expect(dot(cut, (whole ?? []).slice(0, 8)) / Math.hypot(...(whole ?? []).slice(0, 8))).toBeCloseTo(1, 5)
    expect((await post('/v1/embeddings', { input: 'fox', dimensions: 9, model: nested })).body.detail).toBe(
      "dimensions must be 8 or 16 or 32, but was 9: those of model 'nested'.",
    )
  })

  it.each([
    ['cls', { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }],
    ['last', { pooling_mode_lasttoken: true }],
  ] as const)('pools %s where its checkpoint says so', async (pooling, config) => {
    await register(pooling, await write(pooling, { pooling: config }))

    const [vector] = await embed('the fox', pooling)

    expect(dot(vector ?? [], embedReference(tokens('the', 'fox'), pooling))).toBeGreaterThan(0.9999)
  })
})

const QUERY = 'The quick fox'
const DOCUMENTS = ['brown fox.', 'un', 'the fox, the fox', 'unbelievable']
const DOCUMENT_WORDS = [
  ['brown', 'fox', '.'],
  ['un'],
  ['the', 'fox', ',', 'the', 'fox'],
  ['un', '##believ', '##able'],
]

describe('a reranking model', () => {
  const ranking = shared(async () => {
    await register('ranking', await write('ranking', { isReranker: true }))
    return { model: 'ranking' }
  })

  it('gives each pair the score of an independent forward pass', async () => {
    const { status, body } = await post('/v1/rerank', { ...ranking(), query: QUERY, documents: DOCUMENTS })

    expect(status).toBe(200)
    const pairs = DOCUMENT_WORDS.map((words) => tokens('the', 'quick', 'fox', '[SEP]', ...words))
    for (const { index, relevance_score: score } of body.results) {
      // llama.cpp computes GELU and attention in half precision; other tokens give scores that differ by 0.03 and more.
      expect(Math.abs(score - rankReference(pairs[index] ?? []))).toBeLessThan(0.002)
    }
    const scores = body.results.map(({ relevance_score: score }) => score)
    expect(Math.max(...scores) - Math.min(...scores)).toBeGreaterThan(0.1)
    expect(scores).toEqual(scores.toSorted((one, other) => other - one))
    expect(body.usage).toEqual({ prompt_tokens: pairs.flat().length, total_tokens: pairs.flat().length })
  })

  it('makes no vectors, and no text', async () => {
    const { status, body } = await post('/v1/embeddings', { ...ranking(), input: 'a' })
    expect([status, body.detail]).toEqual([
      400,
      "model must be an embedding model, but 'ranking' ranks documents (POST /v1/rerank).",
    ])
    expect((await post('/v1/generate', { ...ranking(), prompt: 'a' })).status).toBe(400)
  })

  it('names the document that is too long beside the query', async () => {
    const long = Array.from({ length: CONTEXT - 5 }, () => 'fox').join(' ')
    const { status, body } = await post('/v1/rerank', { ...ranking(), query: QUERY, documents: ['a', long] })

    expect([status, body.error?.code, body.error?.param]).toEqual([
      400,
      'context_length_exceeded',
      'documents[1]',
    ])
  })
})

describe('an embedding model that reranks', () => {
  it('gives the cosines of the vectors', async () => {
    const { body } = await post('/v1/rerank', { query: QUERY, documents: DOCUMENTS })

    const query = embedReference(tokens('the', 'quick', 'fox'))
    for (const { index, relevance_score: score } of body.results) {
      expect(score).toBeCloseTo(dot(query, embedReference(tokens(...(DOCUMENT_WORDS[index] ?? [])))), 3)
    }
  })
})

describe('a decoder whose checkpoint says how it pools', () => {
  it('makes vectors, the same of a text alone and beside others', async () => {
    const checkpoint = path.join(temporaryFolder(), 'decoder')
    cpSync(SMALL_LLAMA, checkpoint, { recursive: true })
    mkdirSync(path.join(checkpoint, '1_Pooling'))
    writeFileSync(path.join(checkpoint, '1_Pooling/config.json'), '{"pooling_mode_lasttoken": true}')
    await register('decoder', checkpoint)
    const texts = ['hello world', 'hello worlds', 'the cat sat on the mat', 'a '.repeat(700)]

    const together = await embed(texts, 'decoder')

    for (const [index, text] of texts.entries()) {
      const [alone] = await embed(text, 'decoder')
      expect(dot(alone ?? [], together[index] ?? [])).toBeGreaterThan(0.9999)
    }
    const [first = [], near = [], far = []] = together
    expect(dot(first, near)).toBeGreaterThan(dot(first, far) + 0.1)
    expect((await post('/v1/generate', { model: 'decoder', prompt: 'a' })).status).toBe(400)
  })
})
