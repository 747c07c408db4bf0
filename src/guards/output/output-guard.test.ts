import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HeldTokens } from '../../core/text/held-tokens.ts'
import { Utf8Decoder } from '../../core/text/utf8-decoder.ts'
import type { ChosenLogprob, EngineEvent } from '../../protocol/engine-events.ts'
import { OutputGuard } from './output-guard.ts'

const KEY = `sk-svc-${'0123456789abcdef'.repeat(4)}`
const ADMIN_KEY = 'Correct-Horse_7!'
const SYSTEM_PROMPT = `You are Marvin, the assistant of Sirius Cybernetics. Never tell a customer the price of
a robot before he has asked for it twice. The discount for staff is 17 percent, and the code for it is HEART-OF-GOLD.
When somebody complains, apologise once and then talk about the weather on Magrathea.`

const SYSTEM_START = 'You are Marvin, the assistan'

interface Played {
  readonly text: string
  readonly tokenIds: readonly number[]
  readonly finishReason: string | null
  /** Text of each delta that was sent. */
  readonly deltas: readonly string[]
  readonly hits: readonly string[]
}

/** Plays pieces, one token each, through a guard. */
function play(
  pieces: readonly string[],
  { secrets = [ADMIN_KEY], systemMessages = [] as readonly string[] } = {},
): Played {
  const hits: string[] = []
  const onHit = (rule: string, count: number) => void hits.push(`${rule} ${count}`)
  const filter = new OutputGuard({ secrets }).open(1, { systemMessages, onHit })
  const events: EngineEvent[] = [
    { type: 'sequence-start', index: 0, promptTokens: 1, cachedTokens: 0, queueMs: 0 },
    ...pieces.map((text, id) => ({ type: 'text-delta' as const, index: 0, text, tokenIds: [id] })),
    { type: 'sequence-end', index: 0, finishReason: 'stop', error: null },
  ]
  const passed = events.flatMap((event) => filter.pass(event))
  const deltas = passed.filter((event) => event.type === 'text-delta')
  const ends = passed.filter((event) => event.type === 'sequence-end')
  expect(ends).toHaveLength(1)
  expect(filter.isOver).toBe(true)
  return {
    text: deltas.map(({ text }) => text).join(''),
    tokenIds: deltas.flatMap(({ tokenIds }) => tokenIds),
    finishReason: ends[0]?.finishReason ?? null,
    deltas: deltas.map(({ text }) => text),
    hits,
  }
}

/** Cuts a text into pieces of these lengths, taken in turn. */
function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = []
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1
    pieces.push(text.slice(at, at + length))
    at += length
  }
  return pieces
}

const lengths = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 })

describe('several hits in one piece of text', () => {
  it.each([
    { whole: `a ${ADMIN_KEY} b ${KEY} c`, text: 'a ', hits: ['configured-secret 1'] },
    { whole: `a ${KEY} b ${ADMIN_KEY} c`, text: 'a ', hits: ['service-key 1'] },
    // Of a system prompt 23 letters are sent before the text waits.
    { whole: `${SYSTEM_PROMPT} ${KEY}`, text: SYSTEM_START, hits: ['system-prompt 1'] },
    { whole: `${SYSTEM_PROMPT} ${ADMIN_KEY}`, text: SYSTEM_START, hits: ['system-prompt 1'] },
  ])('end the answer before the first: $hits', ({ whole, text, hits }) => {
    const played = play([whole], { systemMessages: [SYSTEM_PROMPT] })

    expect(played).toMatchObject({ text, finishReason: 'content_filter', hits })
  })
})

describe('what leaves untouched', () => {
  it.each([
    'Plain words, and a line\r\nbreak.\tDone.',
    'sk-svc- is how keys begin; sk-sk-svc-12 is none.',
    `An unknown ${'a'.repeat(200)} run`,
    'Смешанный текст und 日本語 🙂',
    'sk-svc-0123456789abcdef0123456789abcde',
    '',
  ])('%j, however it is cut', (text) => {
    fc.assert(
      fc.property(lengths, (parts) => {
        const played = play(cut(text, parts))
        expect(played).toMatchObject({ text, finishReason: 'stop', hits: [] })
        expect(played.tokenIds).toEqual(played.tokenIds.map((_, index) => index))
        expect(played.tokenIds).toHaveLength(cut(text, parts).length)
      }),
    )
  })

  it('a text is sent as it comes where nothing in it can become a secret', () => {
    const pieces = ['The ', 'quick ', 'brown ', 'fox.']
    expect(play(pieces).deltas).toEqual(pieces)
  })
})

describe('a key of the service', () => {
  it('ends the answer before it, however it is cut', () => {
    fc.assert(
      fc.property(
        lengths,
        fc.constantFrom('', 'The key is ', 's', 'sk-', 'sk-s', 'sk-svc', '🙂'),
        (parts, before) => {
          const played = play(cut(`${before}${KEY} and more`, parts))
          expect(played).toMatchObject({
            text: before,
            finishReason: 'content_filter',
            hits: ['service-key 1'],
          })
        },
      ),
    )
  })

  it('is one also with half of its digits', () => {
    const played = play([`It begins with ${KEY.slice(0, 39)}`, ' and so on'])
    expect(played).toMatchObject({ text: 'It begins with ', finishReason: 'content_filter' })
  })

  it('takes its tokens with it', () => {
    const played = play(['Here', ' it is: ', 'sk-svc-', '0123456789abcdef', '0123456789abcdef', 'rest'])
    expect(played).toMatchObject({ text: 'Here it is: ', tokenIds: [0, 1], finishReason: 'content_filter' })
  })

  it('does not wait once it has come to nothing', () => {
    expect(play(['a sk-', 'svc-', '12', 'xyz', ' b'], { secrets: [] }).deltas).toEqual([
      'a ',
      '',
      '',
      'sk-svc-12xyz',
      ' b',
    ])
  })
})

describe('a secret of the configuration', () => {
  it('ends the answer; at most seven characters of it have left', () => {
    fc.assert(
      fc.property(lengths, fc.constantFrom('', 'it is ', '"', 'x='), (parts, before) => {
        const { text, finishReason, hits } = play(cut(`${before}${ADMIN_KEY}, really`, parts))
        expect(`${before}${ADMIN_KEY}`.startsWith(text)).toBe(true)
        expect(text.length).toBeLessThanOrEqual(before.length + 7)
        expect({ finishReason, hits }).toEqual({
          finishReason: 'content_filter',
          hits: ['configured-secret 1'],
        })
      }),
    )
  })

  it('cannot be felt for: what waits is the same whether it agrees with the secret or not', () => {
    const waits = (guess: string) => play(cut(`${guess}!? so`, [1])).deltas.map(({ length }) => length)
    expect(waits(ADMIN_KEY.slice(0, 12))).toEqual(waits('Xorrect-Hors'))
    expect(waits(`aaa${ADMIN_KEY.slice(0, 14)}`)).toEqual(waits('aaaXorrect-Horse_'))
  })

  it('is not watched for where it may be a word', () => {
    expect(play(['admin'], { secrets: ['admin'] })).toMatchObject({ text: 'admin', finishReason: 'stop' })
  })

  it('is found among many, the longest one where one ends another', () => {
    const secrets = [
      'ending-secret',
      'the-whole-ending-secret',
      ...Array.from({ length: 500 }, (_, i) => `other-secret-${i}`),
    ]
    const { text, finishReason } = play(cut('say the-whole-ending-secret', [1]), { secrets })
    expect(finishReason).toBe('content_filter')
    expect(text).toBe('say the-who')
    expect(play(['say the-whole-ending-secret'], { secrets }).text).toBe('say ')
  })

  it.each(['eight~8!', '!~!~!~!~!~'])(
    'may be any printable text of eight characters or more: %s',
    (secret) => {
      expect(play([`it is ${secret} here`], { secrets: [secret] })).toMatchObject({
        text: 'it is ',
        finishReason: 'content_filter',
      })
    },
  )

  it.each(['a space-before-this', 'mit-Umläuten-darin'])(
    'is not watched for where it is another text: %s',
    (secret) => {
      expect(play([`it is ${secret} here`], { secrets: [secret] })).toMatchObject({ finishReason: 'stop' })
    },
  )

  it('is found where others end as it does', () => {
    const secrets = ['first-same-ending', 'other-same-ending']
    for (const secret of secrets) expect(play([secret], { secrets }).finishReason).toBe('content_filter')
  })

  it('may be replaced by others, from the next request on', () => {
    const guard = new OutputGuard({ secrets: [ADMIN_KEY] })
    const reasons = () => {
      const filter = guard.open(1, { systemMessages: [], onHit: () => {} })
      return [ADMIN_KEY, 'another-key'].map((text) =>
        filter.pass({ type: 'text-delta', index: 0, text, tokenIds: [1] }),
      )
    }
    expect(reasons()[0]).toMatchObject([{}, { finishReason: 'content_filter' }])

    guard.watchFor(['another-key'])

    const [before, now] = reasons()
    expect(before).toMatchObject([{ type: 'text-delta' }])
    expect(now).toMatchObject([{}, { finishReason: 'content_filter' }])
  })

  it('does not leave at all behind a long run', () => {
    const run = 'a'.repeat(40)
    expect(play(cut(`${run}${ADMIN_KEY}`, [1])).text).toBe(run)
  })

  it('leaves no more than that of a longer one that it is the middle of', () => {
    const longer = 'company-of-many-prod-key-2026'
    fc.assert(
      fc.property(lengths, (parts) => {
        const secrets = ['prod-key', longer]
        const { text, finishReason } = play(cut(`say ${longer}!`, parts), { secrets })
        expect(finishReason).toBe('content_filter')
        expect(text.length).toBeLessThanOrEqual('say '.length + 7)
      }),
    )
  })
})

describe('the system prompt', () => {
  const systemMessages = [SYSTEM_PROMPT]

  it.each([
    ['as it is', SYSTEM_PROMPT],
    ['in capitals', SYSTEM_PROMPT.toUpperCase()],
    ['with invisible characters in it', SYSTEM_PROMPT.replaceAll(/\w/g, '$&\u{fe0f}')],
    ['with invisible letters in it', SYSTEM_PROMPT.replaceAll(/\w/g, '$&\u{3164}')],
    ['with marks in it', SYSTEM_PROMPT.replaceAll(' ', ' **').replaceAll('\n', '\n> ')],
    ['its second half', SYSTEM_PROMPT.slice(SYSTEM_PROMPT.length / 2 - 20)],
  ])('said again %s ends the answer before it', (_, text) => {
    fc.assert(
      fc.property(lengths, (parts) => {
        const played = play(cut(`My orders: ${text}`, parts), { systemMessages })
        expect(played.finishReason).toBe('content_filter')
        expect(played.hits).toEqual(['system-prompt 1'])
        expect(played.text.length).toBeLessThan('My orders: '.length + 80)
      }),
    )
  })

  it('may be quoted in short', () => {
    const text = `The discount for staff is 17 percent, and the weather on Magrathea is fine.`
    expect(play(cut(text, [4]), { systemMessages })).toMatchObject({ text, finishReason: 'stop' })
  })

  it('may be repeated where it is but a phrase', () => {
    const systemMessage = 'You are a helpful assistant. Answer in one sentence.'
    expect(play(cut(systemMessage, [5]), { systemMessages: [systemMessage] })).toMatchObject({
      text: systemMessage,
      finishReason: 'stop',
    })
  })

  it('of few letters may be repeated without end', () => {
    const text = 'ha'.repeat(100)
    expect(play([text], { systemMessages: ['ha - '.repeat(30)] })).toMatchObject({
      text,
      finishReason: 'stop',
    })
  })

  it('is known beyond ASCII too', () => {
    const systemMessage = 'Ты помощник банка и никогда не называешь клиентам внутренние ставки. '.repeat(4)
    const played = play(cut(systemMessage, [3]), { systemMessages: [systemMessage] })
    expect(played.finishReason).toBe('content_filter')
  })
})

describe('a system prompt of megabytes', () => {
  const sentence = (n: number) => `Rule ${n}: whatever number ${n} says is kept from visitor ${n}. `
  const long = Array.from({ length: 100_000 }, (_, n) => sentence(n)).join('')
  const quote = (from: number) => Array.from({ length: 12 }, (_, n) => sentence(from + n)).join('')

  it('is watched for up to its first 65,536 characters', () => {
    const systemMessages = [long]

    expect(play([quote(500)], { systemMessages }).hits).toEqual(['system-prompt 1'])
    expect(play([quote(90_000)], { systemMessages }).hits).toEqual([])
    expect(play([quote(500)], { systemMessages: ['Be kind.', long] }).hits).toEqual(['system-prompt 1'])
  })

  it('is not looked at before there is text', () => {
    const unread = new Proxy<readonly string[]>([], {
      get: () => {
        throw new Error('looked at')
      },
    })
    const filter = new OutputGuard({ secrets: [] }).open(1, { systemMessages: unread, onHit: () => {} })
    filter.pass({ type: 'sequence-start', index: 0, promptTokens: 1, cachedTokens: 0, queueMs: 0 })

    expect(() => filter.pass({ type: 'text-delta', index: 0, text: 'a', tokenIds: [1] })).toThrow('looked at')
  })
})

describe('control characters', () => {
  it('that terminals obey are taken out and counted, text stays', () => {
    const played = play(['a\u001b[31m', 'b\u0007\u009b2J', '\u0000c\u007f\r\n\t', '\u009f\u00a0'])
    expect(played).toMatchObject({ text: 'a[31mb2Jc\r\n\t\u00a0', finishReason: 'stop' })
    expect(played.hits).toEqual([1, 2, 2, 1].map((count) => `terminal-controls ${count}`))
  })

  it('hide no key', () => {
    expect(play(cut(KEY, [1]).map((character) => `${character}\u0008`)).finishReason).toBe('content_filter')
  })
})

describe('log probabilities', () => {
  /** As from an engine that shows each piece when it comes, except halves of characters. */
  function playTokens(tokens: readonly Uint8Array[], systemMessages: readonly string[] = []) {
    const filter = new OutputGuard({ secrets: [ADMIN_KEY] }).open(1, { systemMessages, onHit: () => {} })
    const decoder = new Utf8Decoder()
    const held = new HeldTokens<ChosenLogprob>()
    let length = 0
    const events = tokens.map((token, tokenId): EngineEvent => {
      const bytes = [...token]
      held.add({ tokenId, logprob: -tokenId, bytes, top: [{ tokenId, logprob: -tokenId, bytes }] })
      const text = decoder.push(token)
      length += text.length
      return { type: 'text-delta', index: 0, text, tokenIds: [tokenId], logprobs: held.release(length) }
    })
    events.push({ type: 'sequence-end', index: 0, finishReason: 'stop', error: null })
    const deltas = events
      .flatMap((event) => filter.pass(event))
      .filter((event) => event.type === 'text-delta')
    return deltas.map((delta, last) => ({
      ...delta,
      sentText: deltas
        .slice(0, last + 1)
        .map(({ text }) => text)
        .join(''),
      sentBytes: Buffer.from(
        deltas.slice(0, last + 1).flatMap(({ logprobs = [] }) => logprobs.flatMap(({ bytes }) => bytes)),
      ),
    }))
  }

  const toTokens = (text: string, sizes: readonly number[]) => {
    const bytes = Buffer.from(text)
    const tokens: Uint8Array[] = []
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const end = at + (sizes[turn % sizes.length] ?? 1)
      tokens.push(bytes.subarray(at, end))
      at = end
    }
    return tokens
  }

  it('are those of the text that was sent, up to a token that was cut, at a hit and without one', () => {
    const parts = fc.constantFrom(
      'plain ',
      'ünï ',
      '🙂',
      'sk-svc-12',
      KEY,
      ADMIN_KEY.slice(0, 9),
      ADMIN_KEY,
      SYSTEM_PROMPT,
    )
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 4 }), lengths, (texts, sizes) => {
        const whole = texts.join('')
        const deltas = playTokens(toTokens(whole, sizes), [SYSTEM_PROMPT])
        for (const { sentText, sentBytes } of deltas) {
          const bytes = Buffer.from(sentText)
          expect(bytes.subarray(0, sentBytes.length)).toEqual(sentBytes)
        }
        const last = deltas.at(-1)
        const cutBytes = Buffer.byteLength(last?.sentText ?? '') - (last?.sentBytes.length ?? 0)
        expect(cutBytes).toBeLessThan(Math.max(...sizes))
        if (last?.sentText === whole) expect(cutBytes).toBe(0)
      }),
    )
  })

  it('wait as long as their text, and go with it where it becomes a hit', () => {
    const deltas = playTokens(
      ['Here', ' it is: ', 'sk-svc-', ...cut(KEY.slice(7), [16])].map((text) => Buffer.from(text)),
    )

    expect(deltas.map(({ text, logprobs = [] }) => [text, logprobs.map(({ tokenId }) => tokenId)])).toEqual([
      ['Here', [0]],
      [' it is: ', [1]],
      ['', []],
      ['', []],
      ['', []],
    ])
  })

  it('have no bytes of a control character, and go with one that two of them share', () => {
    const deltas = playTokens([
      Buffer.from('a\u001b[31m'),
      Buffer.from('b'),
      Buffer.of(0xc2),
      Buffer.of(0x9b),
      Buffer.from('c\n'),
    ])
    expect(deltas.at(-1)?.sentText).toBe('a[31mbc\n')
    expect(deltas.at(-1)?.sentBytes.toString()).toBe('a[31mbc\n')
    expect(deltas.flatMap(({ logprobs = [] }) => logprobs.map(({ tokenId }) => tokenId))).toEqual([0, 1, 4])
  })

  it('name no alternative with a control character', () => {
    const filter = new OutputGuard({ secrets: [] }).open(1, { systemMessages: [], onHit: () => {} })
    const top = [
      { tokenId: 2, logprob: -1, bytes: [0x1b] },
      { tokenId: 3, logprob: -2, bytes: [0x0a] },
    ]
    const logprobs = [{ tokenId: 1, logprob: -3, bytes: [0x61], top }]

    expect(filter.pass({ type: 'text-delta', index: 0, text: 'a', tokenIds: [1], logprobs })).toMatchObject([
      { text: 'a', logprobs: [{ tokenId: 1, top: [{ tokenId: 3 }] }] },
    ])
  })

  it('of a token that a stop string has cut come at the end', () => {
    const filter = new OutputGuard({ secrets: [] }).open(1, { systemMessages: [], onHit: () => {} })
    const logprobs = [{ tokenId: 1, logprob: -1, bytes: [0x61, 0x0a], top: [] }]
    const end = { type: 'sequence-end', index: 0, finishReason: 'stop', error: null } as const

    expect([
      ...filter.pass({ type: 'text-delta', index: 0, text: 'a', tokenIds: [1], logprobs }),
      ...filter.pass(end),
    ]).toEqual([
      { type: 'text-delta', index: 0, text: 'a', tokenIds: [1], logprobs: [] },
      { type: 'text-delta', index: 0, text: '', tokenIds: [], logprobs },
      end,
    ])
  })
})

describe('several sequences', () => {
  it('are checked each by itself; the request is over with the last of them', () => {
    const filter = new OutputGuard({ secrets: [] }).open(2, { systemMessages: [], onHit: () => {} })
    const delta = (index: number, text: string) =>
      filter.pass({ type: 'text-delta', index, text, tokenIds: [7] })
    expect(delta(0, KEY)).toEqual([
      { type: 'text-delta', index: 0, text: '', tokenIds: [] },
      { type: 'sequence-end', index: 0, finishReason: 'content_filter', error: null },
    ])
    expect(filter.isOver).toBe(false)
    expect(delta(0, 'late')).toEqual([])
    expect(delta(1, 'fine')).toEqual([{ type: 'text-delta', index: 1, text: 'fine', tokenIds: [7] }])
    filter.pass({ type: 'sequence-end', index: 1, finishReason: 'length', error: null })
    expect(filter.isOver).toBe(true)
  })

  describe('whose prompt an upstream counts at its end', () => {
    const prompt = { promptTokens: 9, cachedTokens: 0, queueMs: 0, isEstimate: true }
    const start = (index: number): EngineEvent => ({ type: 'sequence-start', index, ...prompt })
    const end = (index: number, more: object = {}): EngineEvent => ({
      ...{ type: 'sequence-end', index, finishReason: 'stop', error: null },
      ...more,
    })
    const cutEnd = (index: number) => end(index, { finishReason: 'content_filter' })
    const corrections = { promptTokensCorrection: -2, cachedTokensCorrection: 4 }
    const open = (count: number) => {
      const filter = new OutputGuard({ secrets: [] }).open(count, { systemMessages: [], onHit: () => {} })
      for (let index = 0; index < count; index++) filter.pass(start(index))
      const cut = (index: number) =>
        filter.pass({ type: 'text-delta', index, text: KEY, tokenIds: [7] }).slice(1)
      return { filter, cut }
    }

    it('end with what it says of the prompt, also where they were cut', () => {
      const { filter, cut } = open(2)

      expect(cut(0)).toEqual([])
      expect(filter.pass(end(0, corrections))).toEqual([{ ...cutEnd(0), ...corrections }])
      expect(filter.isOver).toBe(false)
      expect(filter.pass(end(1))).toEqual([end(1)])
      expect(filter.isOver).toBe(true)
    })

    it('end each once, and none is waited for when all others are over', () => {
      const { filter, cut } = open(3)

      expect(cut(0)).toEqual([])
      expect(cut(1)).toEqual([])
      expect(filter.pass(end(1))).toEqual([cutEnd(1)])
      expect(filter.pass(end(1))).toEqual([])
      expect(filter.pass(end(2))).toEqual([end(2), cutEnd(0)])
      expect(filter.isOver).toBe(true)
      expect(filter.pass(end(0))).toEqual([])
    })

    it('end at once where all have been cut', () => {
      const { filter, cut } = open(2)

      expect(cut(1)).toEqual([])
      expect(cut(0)).toEqual([cutEnd(0), cutEnd(1)])
      expect(filter.isOver).toBe(true)
    })
  })
})
