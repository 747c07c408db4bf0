/** `POST /v1/embeddings`: OpenAI's own client, and what it does not send. The vectors of a real model are in e2e. */
import OpenAI, { BadRequestError } from 'openai'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../../src/core/clock.ts'
import { ScriptedEngine, sequenceStart, untilAborted } from '../../support/engines/scripted-engine.ts'
import { EMBEDDING, VectorEngine } from '../../support/engines/vector-engine.ts'
import { createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'

const URL = '/v1/embeddings'
async function createClient(options: TestAppOptions = { engine: new VectorEngine() }): Promise<OpenAI> {
  const port = await createTestApp(options).listen()
  return new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: KEY, maxRetries: 0 })
}

describe("OpenAI's client", () => {
  it('gets vectors as base64, which it asks for by itself, and as numbers', async () => {
    const client = await createClient()

    const packed = await client.embeddings.create({ model: 'default', input: ['ab', 'abc'] })
    const plain = await client.embeddings.create({
      model: 'default',
      input: 'ab',
      encoding_format: 'float',
      user: 'someone',
    })

    expect(packed.data.map(({ index, embedding }) => [index, embedding])).toEqual([
      [0, [0, 2]],
      [1, [1, 3]],
    ])
    expect(packed).toMatchObject({
      object: 'list',
      model: 'default',
      usage: { prompt_tokens: 5, total_tokens: 5 },
    })
    expect(plain.data).toEqual([{ object: 'embedding', index: 0, embedding: [0, 2] }])
  })

  it('gets vectors that are cut and of length 1 again, in both encodings', async () => {
    const client = await createClient()
    const request = { model: 'default', input: ['a', 'b'], dimensions: 1 }

    for (const encoding_format of ['float', 'base64'] as const) {
      const { data } = await client.embeddings.create({ ...request, encoding_format })
      const [, { embedding }] = data as [unknown, (typeof data)[number]]
      const bytes = Buffer.from(Float32Array.of(1).buffer).toString('base64')
      expect(embedding).toEqual(encoding_format === 'float' ? [1] : bytes)
    }
  })

  it('sends token ids, one list or several', async () => {
    const engine = new VectorEngine()
    const client = await createClient({ engine })

    await client.embeddings.create({ model: 'default', input: [1, 2, 3] })
    await client.embeddings.create({ model: 'default', input: [[1], [2, 3]] })

    expect(engine.embedded.map(({ prompts }) => prompts)).toEqual([
      [{ tokenIds: [1, 2, 3] }],
      [{ tokenIds: [1] }, { tokenIds: [2, 3] }],
    ])
  })

  it('reads why a model that generates text makes no vectors', async () => {
    const client = await createClient({})

    const answer = client.embeddings.create({ model: 'default', input: 'a' })

    await expect(answer).rejects.toThrow(BadRequestError)
    await expect(answer).rejects.toMatchObject({
      param: 'model',
      message: "400 model must be an embedding model, but 'default' generates text.",
    })
  })
})

const INPUT_RULE =
  'a string, an array of 1 to 2048 strings, an array of token ids, or an array of 1 to 2048 arrays of token ids'

describe('a request that is wrong', () => {
  it.each([
    [{}, 'input is required.', 'input'],
    [{ input: '' }, 'input must not be empty.', 'input'],
    [{ input: ['a', ''] }, 'input[1] must not be empty.', 'input[1]'],
    [{ input: [[1], []] }, 'input[1] must not be empty.', 'input[1]'],
    [{ input: [] }, 'input must be an array of 1 to 2048 inputs, but was an array of 0 items.', 'input'],
    [{ input: 7 }, `input must be ${INPUT_RULE}, but was 7.`, 'input'],
    [{ input: [-1] }, 'input[0] must be an integer between 0 and 2147483647, but was -1.', 'input[0]'],
    [{ input: ['a', 1] }, `input must be ${INPUT_RULE}, but was an array of 2 items.`, 'input'],
    [
      { input: ['a', '\ud800'] },
      'input[1] must be valid Unicode, but has a lone surrogate in it.',
      'input[1]',
    ],
    [
      { input: 'a', encoding_format: 'int8' },
      "encoding_format must be 'float' or 'base64', but was \"int8\".",
      'encoding_format',
    ],
    [{ input: 'a', dimensions: 0 }, 'dimensions must be an integer of at least 1, but was 0.', 'dimensions'],
    [
      { input: 'a', dimensions: 3 },
      "dimensions must be at most 2, but was 3: those of model 'default'.",
      'dimensions',
    ],
    [
      { input: ['a', 'a'.repeat(9)] },
      "This model's maximum context length is 8 tokens, but input[1] is 9 tokens long.",
      'input[1]',
    ],
    [
      { input: [1, 100] },
      "input must hold token ids between 0 and 99, those of model 'default', but has 100.",
      'input',
    ],
    [
      { input: 'a', truncate: true },
      'truncate must be false or "NONE", but was true: this route cannot cut a text that is too long.',
      'truncate',
    ],
    [{ input: 'a', model: 'none' }, "Model 'none' does not exist.", 'model'],
  ])('%j', async (body, detail, param) => {
    const { post, usage } = createTestApp({ engine: new VectorEngine() })

    const answer = await post(URL, body)

    expect(answer.json()).toMatchObject({ detail, error: { message: detail, param } })
    expect(answer.statusCode).toBe(param === 'model' ? 404 : 400)
    expect(usage.filter(({ status }) => status === 200)).toEqual([])
  })

  it('brings 2049 inputs', async () => {
    const { post } = createTestApp({ engine: new VectorEngine() })

    expect((await post(URL, { input: Array.from({ length: 2049 }, () => 'a') })).statusCode).toBe(400)
    expect((await post(URL, { input: Array.from({ length: 2048 }, () => 'a') })).json().data).toHaveLength(
      2048,
    )
  })
})

describe('embeddings', () => {
  it('are counted as every generation is: usage, metrics, log', async () => {
    const { post, usage, metrics, logLines } = createTestApp({ engine: new VectorEngine() })

    await post(URL, { input: ['ab', 'abc'] })

    expect(usage).toMatchObject([{ path: URL, model: 'default', status: 200, tokensIn: 5, tokensOut: 0 }])
    expect(await metrics.render()).toMatch(/sluice_prompt_tokens_total\{model="default"\} 5/)
    expect(logLines.at(-1)).toMatchObject({ model: 'default', promptTokens: 5, completionTokens: 0 })
  })

  it('wait as one sequence, however many the inputs', async () => {
    const { post } = createTestApp({ engine: new VectorEngine({ maxBatchSize: 1 }), maxQueue: 1 })

    const answers = await Promise.all([1, 2].map(() => post(URL, { input: ['a', 'b', 'c'] })))

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200])
  })

  it('end when the client leaves', async () => {
    const clock = new VirtualClock()
    const aborted: boolean[] = []
    const engine = new ScriptedEngine(
      async function* (_, signal) {
        yield sequenceStart()
        await untilAborted(signal).finally(() => aborted.push(true))
      },
      { embedding: EMBEDDING },
    )
    const app = createTestApp({ engine, clock })
    const port = await app.listen()
    const leaving = new AbortController()

    const answer = fetch(`http://127.0.0.1:${port}${URL}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'a' }),
      signal: leaving.signal,
    })
    await expect.poll(() => engine.requests.length).toBe(1)
    leaving.abort()

    await expect(answer).rejects.toThrow()
    await expect.poll(() => aborted).toEqual([true])
    await expect.poll(() => app.usage).toMatchObject([{ status: 499, tokensIn: 2 }])
  })

  it('are asked for with a key', async () => {
    const { app } = createTestApp({ engine: new VectorEngine() })

    const answer = await app.inject({ method: 'POST', url: URL, payload: { input: 'a' } })

    expect(answer.statusCode).toBe(401)
    expect(answer.json().error.code).toBe('unauthorized')
  })
})
