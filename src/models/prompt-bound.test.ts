import { describe, expect, it } from 'vitest'
import { PromptBound } from './prompt-bound.ts'

const { signal } = new AbortController()
const MODEL = { maxSeqLen: 10, maxTokenBytes: 5, specialTexts: ['<s>', '</s>', '<s>s<s>'] }

const refuse = async (texts: readonly string[], model: Partial<typeof MODEL> = {}) =>
  (await new PromptBound({ ...MODEL, ...model }).refuseChat(texts, signal))?.params ?? null

describe('the bound of a prompt', () => {
  it('refuses texts whose bytes cannot be so few tokens, together', async () => {
    expect(await refuse(['é'.repeat(25)])).toBeNull()
    expect(await refuse(['é'.repeat(25), 'a'])).toEqual({ given: 'at least 11', max: 10 })
  })

  it('counts special texts, each of which is a token', async () => {
    const model = { maxTokenBytes: 1000 }

    expect(await refuse(['<s>'.repeat(10)], model)).toBeNull()
    expect(await refuse(['<s></s>'.repeat(5), '<s>'.repeat(900)], model)).toEqual({
      given: 'at least 910',
      max: 10,
    })
  })

  it('counts the longest special text where several begin', async () => {
    expect(await refuse(['<s>s<s>'.repeat(10)], { maxTokenBytes: 1000 })).toBeNull()
  })

  it('counts a special text once that lies across two slices', async () => {
    const model = { maxSeqLen: 40_000, maxTokenBytes: 1000 }

    expect(await refuse(['<s>'.repeat(40_000)], model)).toBeNull()
    expect(await refuse([`a${'<s>'.repeat(40_001)}`], model)).toMatchObject({ given: 'at least 40001' })
  })

  it('lets everything pass where length proves nothing', async () => {
    const long = 'a'.repeat(1_000_000)
    const { specialTexts } = MODEL

    expect(await new PromptBound({ maxSeqLen: null, specialTexts }).refuseChat([long], signal)).toBeNull()
    expect(await new PromptBound({ maxSeqLen: 10, specialTexts }).refuseChat([long], signal)).toBeNull()
  })

  it('refuses each text by itself where each is a prompt', async () => {
    const refusals = await new PromptBound(MODEL).refuseEach(['a', 'a'.repeat(51), 'b'], signal)

    expect(refusals.map((refusal) => refusal?.params ?? null)).toEqual([
      null,
      { given: 'at least 11', max: 10 },
      null,
    ])
  })

  it('stops counting between two slices when its client leaves', async () => {
    const client = new AbortController()
    const bound = new PromptBound({ ...MODEL, maxSeqLen: 200_000, maxTokenBytes: 1000 })

    const refusing = bound.refuseChat(['<s>'.repeat(300_000)], client.signal)
    client.abort()

    await expect(refusing).rejects.toThrow('aborted')
  })
})
