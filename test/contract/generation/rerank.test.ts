/** `POST /v1/rerank`: its shape, its errors and what it counts. The scores of real models are in e2e. */
import { describe, expect, it } from 'vitest'
import type { RankedPair } from '../../../src/protocol/model-info.ts'
import { EMBEDDING, VectorEngine } from '../../support/engines/vector-engine.ts'
import { createTestApp } from '../../support/servers/test-app.ts'

const URL = '/v1/rerank'
const PAIR = { before: '<', between: '|', after: '', addSpecial: true }

/** Its score is the number of the document. */
const reranker = () => new VectorEngine({ embedding: { ...EMBEDDING, pooling: 'rank', pair: PAIR } })
const sigmoid = (logit: number) => 1 / (1 + Math.exp(-logit))

describe('POST /v1/rerank', () => {
  it('gives the documents in the order of their relevance', async () => {
    const engine = reranker()
    const { post, usage } = createTestApp({ engine })

    const answer = await post(URL, { model: 'default', query: 'q', documents: ['a', { text: 'bc' }, 'd'] })

    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^rerank-/),
      object: 'list',
      model: 'default',
      results: [
        { index: 2, relevance_score: sigmoid(2) },
        { index: 1, relevance_score: sigmoid(1) },
        { index: 0, relevance_score: sigmoid(0) },
      ],
      usage: { prompt_tokens: 13, total_tokens: 13 },
    })
    expect(engine.embedded[0]?.prompts[1]).toEqual({ pieces: ['<', 'q', '|', 'bc'], addSpecial: true })
    expect(usage).toMatchObject([{ path: URL, model: 'default', status: 200, tokensIn: 13, tokensOut: 0 }])
  })

  it('gives the best ones alone, with their text, where it is asked to', async () => {
    const { post } = createTestApp({ engine: reranker() })
    const body = { query: 'q', documents: ['a', { text: 'bc' }], return_documents: true, top_n: 1 }

    const answer = await post(URL, body)

    const { results } = answer.json()
    expect(results).toEqual([{ index: 1, relevance_score: sigmoid(1), document: { text: 'bc' } }])
    expect((await post(URL, { ...body, top_n: 9 })).json().results).toHaveLength(2)
  })

  describe('with a template of the model', () => {
    const TEMPLATE = { before: '<s><Q>: ', between: '\n', after: '</s>', addSpecial: false }
    const specialTexts = ['<s>', '</s>', '<Q>', '<sep>']

    async function promptOf(query: string, document: string, pair: RankedPair = TEMPLATE) {
      const embedding = { ...EMBEDDING, pooling: 'rank', pair } as const
      const engine = new VectorEngine({ embedding, specialTexts })
      await createTestApp({ engine }).post(URL, { query, documents: [document] })
      return engine.embedded[0]?.prompts[0]
    }

    it('tokenizes it whole, filled with both texts', async () => {
      const pieces = ['<s><Q>: a < b\n<c</s>']
      expect(await promptOf('a < b', '<c')).toEqual({ pieces, addSpecial: false })
    })

    it('cuts it where the texts would form special tokens, alone or with what stands around them', async () => {
      const pieces = ['<s><Q>: a<', '/s>🙂\nb<', 's></s>']
      expect(await promptOf('a</s>🙂', 'b<s>')).toEqual({ pieces, addSpecial: false })
      expect(await promptOf('a', '<sep><sep><')).toMatchObject({
        pieces: ['<s><Q>: a\n<', 'sep><', 'sep><</s>'],
      })
      expect(await promptOf('s>', '<s', { ...TEMPLATE, before: '<s>is <', after: 'ep>' })).toMatchObject({
        pieces: ['<s>is <', 's>\n<', 'sep>'],
      })
    })

    it('takes the probability of the model as it is', async () => {
      const pair = { ...TEMPLATE, before: '', after: '', isProbability: true }
      const embedding = { ...EMBEDDING, pooling: 'rank', pair } as const
      const { post } = createTestApp({ engine: new VectorEngine({ embedding }) })
      const { results } = (await post(URL, { query: 'q', documents: ['a', 'b'] })).json()
      expect(results).toEqual([
        { index: 1, relevance_score: 1 },
        { index: 0, relevance_score: 0 },
      ])
    })
  })

  it('refuses a query that would be read with too many documents', async () => {
    const engine = reranker()
    const body = { query: 'q'.repeat(9000), documents: Array.from({ length: 2000 }, () => 'x') }
    const answer = await createTestApp({ engine }).post(URL, body)
    expect([answer.statusCode, answer.json().detail]).toEqual([
      400,
      'query must have at most 8388 characters, but has 9000: it is read with each of the 2000 documents.',
    ])
    expect(engine.embedded).toEqual([])
  })

  it('takes the vectors of an embedding model for it, the query first', async () => {
    const engine = new VectorEngine()
    const { post } = createTestApp({ engine })

    const { results } = (await post(URL, { query: 'qq', documents: ['a', 'bcd'] })).json()

    expect(engine.embedded[0]?.prompts.map((prompt) => 'pieces' in prompt && prompt.pieces)).toEqual([
      ['qq'],
      ['a'],
      ['bcd'],
    ])
    expect(results).toEqual([
      { index: 1, relevance_score: 6 },
      { index: 0, relevance_score: 2 },
    ])
  })

  it.each([
    [{ documents: ['a'] }, 'query is required.', 'query'],
    [
      { query: 'q', documents: [] },
      'documents must be an array of 1 to 2048 documents, but was an array of 0 items.',
      'documents',
    ],
    [
      { query: 'q', documents: ['a', ''] },
      'documents[1] must be a string that is not empty, or an object with such a text, but was "".',
      'documents[1]',
    ],
    [
      { query: 'q', documents: ['a'], top_n: 0 },
      'top_n must be an integer of at least 1, but was 0.',
      'top_n',
    ],
    [
      { query: 'q', documents: ['a', 'b'.repeat(9)] },
      "This model's maximum context length is 8 tokens, but documents[1] is 12 tokens long.",
      'documents[1]',
    ],
    [
      { query: 'q', documents: ['a'], max_chunks_per_doc: 2 },
      'max_chunks_per_doc must be 10, but was 2: this route cannot cut a document that is too long.',
      'max_chunks_per_doc',
    ],
    [
      { query: 'q', documents: ['a'], max_tokens_per_doc: 7 },
      "max_tokens_per_doc must be at least 8, the context of model 'default', but was 7: this route cannot cut a document that is too long.",
      'max_tokens_per_doc',
    ],
    [
      { query: 'q', documents: ['a'], max_tokens_per_doc: 'x' },
      'max_tokens_per_doc must be an integer of at least 1, but was "x".',
      'max_tokens_per_doc',
    ],
  ])('refuses %j', async (body, detail, param) => {
    const { post } = createTestApp({ engine: reranker() })

    const answer = await post(URL, body)

    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ detail, error: { message: detail, param } })
  })

  it.each([{ max_tokens_per_doc: 8 }, { max_tokens_per_doc: 4096 }, { max_chunks_per_doc: 10 }])(
    'takes what cuts nothing: %j',
    async (fields) => {
      const answer = await createTestApp({ engine: reranker() }).post(URL, {
        query: 'q',
        documents: ['a'],
        ...fields,
      })

      expect(answer.statusCode).toBe(200)
    },
  )

  it('is refused for a model that generates text', async () => {
    const answer = await createTestApp().post(URL, { query: 'q', documents: ['a'] })

    expect([answer.statusCode, answer.json().detail]).toEqual([
      400,
      "model must be a reranking or an embedding model, but 'default' generates text.",
    ])
  })
})
