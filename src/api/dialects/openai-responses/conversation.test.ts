import { describe, expect, it } from 'vitest'
import { createResponsesRequest } from './request.ts'

function chatOf(input: unknown, fields: object = {}) {
  const { generation } = createResponsesRequest(256).parse({ input, ...fields })
  return generation.input.kind === 'chat' ? generation.input : null
}

/** What each message is called in errors. */
const namesOf = (chat: ReturnType<typeof chatOf>) =>
  chat?.messages.map((_, index) => chat.fieldNames?.textOf(index))

const call = (id: string) => ({ type: 'function_call', call_id: id, name: `f${id}`, arguments: '{}' })
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: `o${id}` })
const toolCall = (id: string) => ({ id, name: `f${id}`, arguments: '{}' })

describe('items', () => {
  it('of one turn of the assistant are one message: thought, said, called', () => {
    const chat = chatOf([
      { role: 'user', content: 'u' },
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'r' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a', annotations: [] }] },
      call('1'),
      call('2'),
      output('1'),
      output('2'),
      { type: 'message', role: 'assistant', content: 'b' },
      { role: 'user', content: 'v' },
    ])

    expect(chat?.messages).toEqual([
      { role: 'user', content: 'u' },
      { role: 'assistant', content: 'a', reasoning: 'r', toolCalls: [toolCall('1'), toolCall('2')] },
      { role: 'tool', content: 'o1', toolCallId: '1', name: 'f1' },
      { role: 'tool', content: 'o2', toolCallId: '2', name: 'f2' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'v' },
    ])
    expect(namesOf(chat)).toEqual([
      'input[0].content',
      'input[1].content',
      'input[5].output',
      'input[6].output',
      'input[7].content',
      'input[8].content',
    ])
  })

  it('keep calls and their results together where the model spoke behind its calls', () => {
    const said = (text: string) => ({ role: 'assistant', content: text })
    const chat = chatOf([
      said('a'),
      call('1'),
      said(' b'),
      call('2'),
      said(' c'),
      output('1'),
      output('2'),
      said('d'),
    ])

    expect(chat?.messages).toEqual([
      { role: 'assistant', content: 'a b c', toolCalls: [toolCall('1'), toolCall('2')] },
      { role: 'tool', content: 'o1', toolCallId: '1', name: 'f1' },
      { role: 'tool', content: 'o2', toolCallId: '2', name: 'f2' },
      { role: 'assistant', content: 'd' },
    ])
  })

  it('of two turns in a row are two messages', () => {
    const chat = chatOf([
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 's' }] },
      call('1'),
    ])

    expect(chat?.messages).toEqual([
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'assistant', content: '', reasoning: 's', toolCalls: [toolCall('1')] },
    ])
  })

  it('keep calls and their results together where the model thought between its calls', () => {
    const thought = (text: string) => ({ type: 'reasoning', summary: [{ type: 'summary_text', text }] })
    const chat = chatOf([thought('s'), call('1'), thought('t'), call('2'), output('1'), output('2')])

    expect(chat?.messages).toEqual([
      { role: 'assistant', content: '', reasoning: 's\nt', toolCalls: [toolCall('1'), toolCall('2')] },
      { role: 'tool', content: 'o1', toolCallId: '1', name: 'f1' },
      { role: 'tool', content: 'o2', toolCallId: '2', name: 'f2' },
    ])
  })

  it('come after the instructions; developer is system', () => {
    const chat = chatOf([{ role: 'developer', content: [{ type: 'input_text', text: 'd' }] }], {
      instructions: 'i',
    })

    expect(chat?.messages).toEqual([
      { role: 'system', content: 'i' },
      { role: 'system', content: 'd' },
    ])
    expect(namesOf(chat)).toEqual(['instructions', 'input[0].content'])
  })

  it('may be a string, and so may a content and an output', () => {
    expect(chatOf('hi')?.messages).toEqual([{ role: 'user', content: 'hi' }])
    const parts = [
      { type: 'input_text', text: 'a' },
      { type: 'input_text', text: 'b' },
    ]
    expect(chatOf([call('1'), { ...output('1'), output: parts }])?.messages.at(-1)?.content).toBe('ab')
  })
})
