/** What becomes of a conversation when it or the session is left; what is seen of it is tested in a browser. */
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Session } from '../../api/types.ts'
import { enter, session, signOut } from '../../session.ts'
import type { Conversation } from './conversation.ts'
import { listConversations } from './history.ts'
import {
  changeSettings,
  conversation,
  draft,
  hasJustEnded,
  isAnswering,
  loadModels,
  models,
  newConversation,
  openConversation,
  regenerate,
  send,
  stop,
  toggleComparison,
} from './store.ts'

const sessionOf = (userId: string): Session => ({
  ...{ kind: 'account', user_id: userId, email: `${userId}@example.org`, tier: 'pro', role: 'user' },
  ...{ csrf_token: null, expires_at: null },
})

/** As much of IndexedDB as the history asks for; what is asked for is there a moment later. */
function createDatabases() {
  const databases = new Map<string, Map<string, unknown>>()
  const onceThere = (awaited: string) => (type: string, listener: () => void) => {
    if (type === awaited) queueMicrotask(listener)
  }
  const open = (name: string) => {
    const rows = databases.get(name) ?? new Map<string, unknown>()
    databases.set(name, rows)
    const store = {
      put: (row: Conversation) => ({ result: rows.set(row.id, row) }),
      getAll: () => ({ result: [...rows.values()] }),
    }
    const transaction = { objectStore: () => store, addEventListener: onceThere('complete') }
    return {
      result: { transaction: () => transaction, close: () => {} },
      addEventListener: onceThere('success'),
    }
  }
  return { open }
}

const MODELS = ['first', 'second'].map((id) => ({ id, meta: { state: 'ready', capabilities: ['chat'] } }))

const eventOf = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: null }] })}\n\n`

/** An answer that has begun and goes on until it is stopped, or its rest is given. */
function beginAnswer(signal: AbortSignal, rest?: Promise<string>): Response {
  const body = new ReadableStream({
    async start(controller) {
      const write = (text: string) => controller.enqueue(new TextEncoder().encode(text))
      write(eventOf('Half'))
      signal.addEventListener('abort', () => controller.error(signal.reason))
      if (rest === undefined) return
      write(eventOf(await rest))
      controller.close()
    },
  })
  return new Response(body)
}

/** The chat completions of one test; the models are those of all. */
type Chat = (signal: AbortSignal) => Response | Promise<Response>

function answerChat(chat: Chat): void {
  vi.stubGlobal('fetch', async (path: string, init: { signal: AbortSignal }) =>
    path === 'v1/chat/completions' ? chat(init.signal) : answerRequest(path, init),
  )
}

const answerWhole: Chat = () => new Response(eventOf('Whole'))

const refuse =
  (code: string): Chat =>
  () =>
    Response.json({ error: { message: `Refused: ${code}`, code } }, { status: 429 })

/** Before its first event, until it is stopped. */
const wait: Chat = (signal) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })

async function answerRequest(path: string, init: { signal: AbortSignal }): Promise<Response> {
  return path === 'v1/chat/completions' ? beginAnswer(init.signal) : Response.json({ data: MODELS })
}

beforeEach(() => {
  vi.stubGlobal('fetch', answerRequest)
  vi.stubGlobal('requestAnimationFrame', queueMicrotask)
  vi.stubGlobal('indexedDB', createDatabases())
  enter(sessionOf('ada'))
})

afterEach(async () => {
  await signOut()
  // What that has stopped comes to its end.
  await setImmediate()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const turnsOf = ({ panes }: Pick<Conversation, 'panes'>) =>
  panes.map(({ turns }) =>
    turns.map((turn) => (turn.role === 'assistant' ? `${turn.text} (${turn.state})` : turn.text)),
  )

const storedOf = async (owner: string) => (await listConversations(owner)).map(turnsOf)

/** Asks, and waits until a part of the answer is there. */
async function ask(text: string): Promise<void> {
  send(text)
  await expect.poll(() => turnsOf(conversation.value)[0]).toEqual([text, 'Half (streaming)'])
}

/** Asks, and waits for the end of each answer. */
async function askAndWait(text: string): Promise<void> {
  send(text)
  await expect.poll(() => isAnswering.value).toBe(false)
}

it('forgets all with the session, and keeps what has come of an answer for the one who asked', async () => {
  await loadModels()
  await ask('Mine')
  draft.value = 'Not sent'
  await signOut()
  expect([turnsOf(conversation.value), models.value, draft.value]).toEqual([[[]], null, ''])
  expect(isAnswering.value).toBe(false)
  enter(sessionOf('bob'))
  await ask('Theirs')
  stop()
  await expect.poll(() => storedOf('bob')).toEqual([[['Theirs', 'Half (stopped)']]])
  expect(await storedOf('ada')).toEqual([[['Mine', 'Half (stopped)']]])
  expect(await storedOf('open')).toEqual([])
})

it('takes no list of models that another session asked for', async () => {
  const loading = loadModels()
  session.value = null
  await loading
  expect(models.value).toBeNull()
})

it('keeps what has come of an answer when another conversation is begun or opened', async () => {
  await ask('One')
  const first = conversation.value
  void newConversation()
  expect([turnsOf(conversation.value), isAnswering.value]).toEqual([[[]], false])
  await expect.poll(() => storedOf('ada')).toEqual([[['One', 'Half (stopped)']]])

  await ask('Two')
  openConversation(first)
  await expect.poll(() => storedOf('ada')).toEqual([[['Two', 'Half (stopped)']], [['One', 'Half (stopped)']]])
})

it('goes on with the conversation that is open already', async () => {
  await ask('One')
  const [stored] = await listConversations('ada')
  if (stored !== undefined) openConversation(stored)
  expect(turnsOf(conversation.value)).toEqual([['One', 'Half (streaming)']])
})

it('compares with an answer that has ended, also where it was on its way', async () => {
  await loadModels()
  await ask('One')
  toggleComparison()
  const both = [
    ['One', 'Half (stopped)'],
    ['One', 'Half (stopped)'],
  ]
  expect([turnsOf(conversation.value), isAnswering.value]).toEqual([both, false])
  await expect.poll(() => storedOf('ada')).toEqual([both])
})

it('keeps what has come of an answer while it comes, which has ended when it is opened again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  await ask('One')
  vi.advanceTimersByTime(2000)
  await expect.poll(() => storedOf('ada')).toEqual([[['One', 'Half (streaming)']]])
  const [stored] = await listConversations('ada')
  await newConversation()
  if (stored !== undefined) openConversation(stored)
  expect(turnsOf(conversation.value)).toEqual([['One', 'Half (stopped)']])
})

it.each<readonly [why: string, chat: Chat, end: () => unknown]>([
  ['is refused', refuse('queue_full'), () => {}],
  ['is stopped before its first word', wait, stop],
  ['is left before its first word', wait, newConversation],
])('keeps the answer where another one %s', async (_, chat, end) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  answerChat(answerWhole)
  await askAndWait('One')
  const { id } = conversation.value
  answerChat(chat)
  regenerate(0)
  vi.advanceTimersByTime(2000)
  expect(await storedOf('ada')).toEqual([[['One', 'Whole (done)']]])
  await end()
  await expect.poll(() => isAnswering.value).toBe(false)
  expect(await storedOf('ada')).toEqual([[['One', 'Whole (done)']]])
  if (conversation.value.id === id) expect(turnsOf(conversation.value)).toEqual([['One', 'Whole (done)']])
})

it('keeps the answer where another one cannot be asked for', async () => {
  answerChat(answerWhole)
  await askAndWait('One')
  changeSettings({ logitBias: '{' })
  regenerate(0)
  expect(turnsOf(conversation.value)).toEqual([['One', 'Whole (done)']])
})

it('puts another answer in the place of the last one, also where that failed or is not there', async () => {
  answerChat(refuse('queue_full'))
  await askAndWait('One')
  regenerate(0)
  await expect.poll(() => isAnswering.value).toBe(false)
  expect(turnsOf(conversation.value)).toEqual([['One', ' (failed)']])
  answerChat(answerWhole)
  regenerate(0)
  await expect.poll(() => storedOf('ada')).toEqual([[['One', 'Whole (done)']]])
})

it('asks the second model of a comparison after the first where the tier allows one request at a time', async () => {
  await loadModels()
  toggleComparison()
  let goOn: (text: string) => void = () => {}
  const rest = new Promise<string>((resolve) => (goOn = resolve))
  const chats: Chat[] = [
    (signal) => beginAnswer(signal, rest),
    refuse('concurrency_limit_exceeded'),
    answerWhole,
  ]
  answerChat((signal) => chats.shift()?.(signal) ?? Response.error())
  await ask('One')
  expect(chats).toEqual([answerWhole])
  expect(turnsOf(conversation.value)[1]).toEqual(['One', ' (streaming)'])
  goOn(' done')
  await expect.poll(() => isAnswering.value).toBe(false)
  expect(turnsOf(conversation.value)).toEqual([
    ['One', 'Half done (done)'],
    ['One', 'Whole (done)'],
  ])
})

it('asks the first model of a comparison after the second where the server took that before it', async () => {
  await loadModels()
  toggleComparison()
  let goOn: (text: string) => void = () => {}
  const rest = new Promise<string>((resolve) => (goOn = resolve))
  const chats: Chat[] = [
    refuse('concurrency_limit_exceeded'),
    (signal) => beginAnswer(signal, rest),
    answerWhole,
  ]
  answerChat((signal) => chats.shift()?.(signal) ?? Response.error())
  send('One')
  goOn(' done')
  await expect.poll(() => isAnswering.value).toBe(false)
  expect(turnsOf(conversation.value)).toEqual([
    ['One', 'Whole (done)'],
    ['One', 'Half done (done)'],
  ])
})

it('fails both halves of a comparison where others of the account run', async () => {
  await loadModels()
  toggleComparison()
  answerChat(refuse('concurrency_limit_exceeded'))
  send('One')
  await expect.poll(() => isAnswering.value).toBe(false)
  expect(turnsOf(conversation.value).map(([, answer]) => answer)).toEqual([' (failed)', ' (failed)'])
})

it('keeps a comparison in the history when its first half goes on alone', async () => {
  await loadModels()
  answerChat(answerWhole)
  toggleComparison()
  await askAndWait('One')
  toggleComparison()
  await askAndWait('Two')
  const one = ['One', 'Whole (done)']
  await expect.poll(() => storedOf('ada')).toEqual([[[...one, 'Two', 'Whole (done)']], [one, one]])
})

it('keeps no comparison that nothing was asked in', async () => {
  await loadModels()
  answerChat(answerWhole)
  await askAndWait('One')
  toggleComparison()
  toggleComparison()
  await askAndWait('Two')
  await expect.poll(() => storedOf('ada')).toEqual([[['One', 'Whole (done)', 'Two', 'Whole (done)']]])
})

it('compares two models, also where they were not known yet', async () => {
  toggleComparison()
  await loadModels()
  expect(conversation.value.panes.map(({ model }) => model)).toEqual(['first', 'second'])
})

it('knows for a moment that an answer has ended', async () => {
  await ask('One')
  stop()
  await expect.poll(() => isAnswering.value).toBe(false)
  expect([hasJustEnded(performance.now()), hasJustEnded(performance.now() + 400)]).toEqual([true, false])
})
