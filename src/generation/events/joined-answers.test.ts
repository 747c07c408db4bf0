import { describe, expect, it } from 'vitest'
import { OutputGuard } from '../../guards/output/output-guard.ts'
import type { AnswerEvent } from '../../protocol/engine-events.ts'
import { JoinedAnswers } from './joined-answers.ts'
import { SequenceFold } from './sequence-fold.ts'

const END: AnswerEvent = { type: 'sequence-end', index: 0, finishReason: 'stop', error: null }

const text = (given: string): AnswerEvent => ({ type: 'text-delta', index: 0, text: given, tokenIds: [-1] })
const thought = (given: string): AnswerEvent => ({ type: 'reasoning-delta', index: 0, text: given })
const call = (name: string, json: string): AnswerEvent[] => [
  { type: 'tool-call-start', index: 0, call: 0, id: 'c', name },
  ...Array.from(json, (piece): AnswerEvent => ({
    type: 'tool-call-delta',
    index: 0,
    call: 0,
    arguments: piece,
  })),
]

/** What leaves of an answer that the output guard judges. */
function judge(events: readonly AnswerEvent[]) {
  const filter = new OutputGuard({ secrets: ['upstream-secret-0123456789'] }).open(1, {
    systemMessages: [],
    onHit: () => {},
  })
  const joined = new JoinedAnswers(1, (given) => given.replaceAll('\u0007', '').length)
  const fold = new SequenceFold()
  for (const event of events) {
    for (const left of joined.pass(event, (one) => filter.pass(one))) if (!fold.hasEnded) fold.add(left)
  }
  return fold.finish()
}

describe('JoinedAnswers', () => {
  it('changes nothing of what the guard lets pass', () => {
    const events = [thought('let '), thought('me'), text('He'), text('llo'), ...call('f', '{"a":1}'), END]

    expect(judge(events)).toMatchObject({
      parts: [
        { type: 'reasoning', text: 'let me' },
        { type: 'text', text: 'Hello' },
        { type: 'tool-call', call: { id: 'c', name: 'f', arguments: '{"a":1}' } },
      ],
      tokenIds: [-1, -1],
      finishReason: 'stop',
    })
  })

  it('keeps a call without arguments, and leaves out what a terminal obeys', () => {
    expect(judge([thought('a\u0007b'), text('c'), ...call('f', ''), END])).toMatchObject({
      reasoning: 'ab',
      text: 'c',
      toolCalls: [{ name: 'f', arguments: '' }],
    })
  })

  it.each([
    ['reasoning', (secret: string) => Array.from(secret, thought)],
    ['arguments', (secret: string) => call('f', JSON.stringify({ key: secret }))],
    ['the name of a call', (secret: string) => call(secret, '{}')],
    ['a name within others', (secret: string) => [...call('f', '{}'), ...call(`get_${secret}`, '')]],
    ['a name and its arguments', (secret: string) => call(secret.slice(0, 9), secret.slice(9))],
  ])('lets the guard cut a secret out of %s', (_, say) => {
    const secret = 'upstream-secret-0123456789'

    const answer = judge([text('so: '), ...say(secret), END])

    expect(answer.finishReason).toBe('content_filter')
    expect(JSON.stringify(answer)).not.toContain(secret)
    expect(answer.text).toBe('so: ')
  })
})
