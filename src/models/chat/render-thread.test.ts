import { setMaxListeners } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import type { ChatMessage } from '../../protocol/chat.ts'
import { ChatTemplate } from './chat-template.ts'
import { isLongChat, RenderThread } from './render-thread.ts'

const BUILT = new URL('../../../dist/models/chat/render-worker.js', import.meta.url)
const SILENT = new URL(
  `data:text/javascript,${encodeURIComponent("import 'node:worker_threads'; setInterval(() => {}, 1e6)")}`,
)

const MODEL = {
  modelId: 'm',
  chatTemplate: '{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}',
  bosText: '<s>',
  eosText: '</s>',
  maxSeqLen: null,
  specialTexts: ['<s>', '</s>', '<|user|>', '<|assistant|>'],
  toolFormat: 'auto' as const,
}

const threads: RenderThread[] = []

afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.close()
})

function createThread(workerUrl = BUILT): RenderThread {
  const thread = new RenderThread({ workerUrl })
  threads.push(thread)
  return thread
}

function createChat(count: number, content = 'x</s>y'): ChatMessage[] {
  return Array.from({ length: count }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }))
}

const never = new AbortController().signal
// All that wait at once listen to it.
setMaxListeners(0, never)

describe('a long chat', () => {
  it('is one of many messages, or of much text', () => {
    expect(isLongChat({ messages: createChat(100) })).toBe(false)
    expect(isLongChat({ messages: createChat(101) })).toBe(true)
    expect(isLongChat({ messages: createChat(2, 'x'.repeat(32_768)) })).toBe(false)
    expect(isLongChat({ messages: createChat(2, 'x'.repeat(32_769)) })).toBe(true)
    const [long, messages] = ['x'.repeat(65_537), createChat(1)]
    const call = { id: 'a', name: 'f', arguments: '{}' }
    for (const given of [{ id: long }, { name: long }, { arguments: long }]) {
      const calling = { role: 'assistant', content: '', toolCalls: [{ ...call, ...given }] } as const
      expect(isLongChat({ messages: [...messages, calling] })).toBe(true)
    }
    for (const given of [{ name: long }, { toolCallId: long }])
      expect(isLongChat({ messages: [...messages, { role: 'tool', content: '', ...given }] })).toBe(true)
    expect(isLongChat({ messages, templateArguments: { a: long } })).toBe(true)
    expect(isLongChat({ messages, templateArguments: { a: 'x' } })).toBe(false)
  })

  it('is rendered as a short one, for each model with its own template', async () => {
    const thread = createThread()
    const other = { ...MODEL, modelId: 'n', chatTemplate: '{{ messages | length }}' }
    const messages = createChat(5000)

    const prompts = await Promise.all(
      [MODEL, other, MODEL].map((model) =>
        thread.render({ model, chat: { messages }, accountId: 'a' }, never),
      ),
    )

    const expected = new ChatTemplate(MODEL).render({ messages })
    expect(prompts).toEqual([expected, { pieces: ['5000'], addSpecial: false }, expected])
  })

  it('is rendered where what asks for it holds more than the chat', async () => {
    const messages = createChat(200)
    const chat = { messages, hasGenerationPrompt: false, fieldNames: { textOf: () => 'input' } }

    const prompt = await createThread().render({ model: MODEL, chat, accountId: 'a' }, never)

    expect(prompt).toEqual(new ChatTemplate(MODEL).render(chat))
  })

  it('is rendered while the event loop goes on', async () => {
    const order = { model: MODEL, chat: { messages: createChat(10_000) }, accountId: 'a' }
    const rendering = createThread().render(order, never)
    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    count()

    await rendering
    isOver = true

    expect(turns).toBeGreaterThan(10)
  })

  it('waits for one chat of another account at most, however many that has sent', async () => {
    const thread = createThread()
    const rendered: string[] = []
    const render = async (accountId: string) => {
      await thread.render({ model: MODEL, chat: { messages: createChat(1) }, accountId }, never)
      rendered.push(accountId)
    }
    const running = render('a')
    const many = Array.from({ length: 10 }, () => render('a'))

    await render('b')

    expect(rendered).toEqual(['a', 'a', 'b'])
    await Promise.all([running, ...many])
  })

  it('is refused with the words of its template', async () => {
    const model = { ...MODEL, chatTemplate: "{{ raise_exception('no more') }}" }

    await expect(
      createThread().render({ model, chat: { messages: createChat(1) }, accountId: 'a' }, never),
    ).rejects.toMatchObject({
      code: 'chat_template_failed',
      message: "The chat template of model 'm' refuses these messages: no more",
      param: 'messages',
    })
  })

  it('is given up when its client leaves, and ends with the thread', async () => {
    const thread = createThread(SILENT)
    const order = { model: MODEL, chat: { messages: createChat(1) }, accountId: 'a' }
    const leaving = new AbortController()
    const running = thread.render(order, never)
    const left = thread.render(order, leaving.signal)

    leaving.abort()
    await expect(left).rejects.toThrow('aborted')
    const ended = expect(running).rejects.toThrow('The thread that renders chats ended')
    await thread.close()

    await ended
    await expect(thread.render(order, never)).rejects.toMatchObject({ code: 'shutting_down' })
  })
})
