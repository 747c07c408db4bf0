/** The conversation on the screen and what can be done with it. Answers change it as they come, at most once a frame. */
import { computed, signal } from '@preact/signals'
import { call, describeError } from '../../api/client.ts'
import type { Model } from '../../api/types.ts'
import { session } from '../../session.ts'
import { announce, notify } from '../../ui/announce.tsx'
import {
  type AnswerTurn,
  type Conversation,
  createAnswer,
  createConversation,
  newId,
  type Pane,
  type Turn,
} from './conversation.ts'
import { saveConversation } from './history.ts'
import { buildRequest } from './request.ts'
import type { Settings } from './settings.ts'
import { streamAnswer } from './stream-chat.ts'

export const models = signal<readonly Model[] | null>(null)
export const modelsError = signal<unknown>(null)
export const conversation = signal<Conversation>(createConversation('default'))
/** The message that is being written. */
export const draft = signal('')

interface Answering {
  readonly aborter: AbortController
  /** What has come, which is shown with the next frame. */
  latest: AnswerTurn
}

/** Answers that are on their way, by the id of their turn. */
const running = signal<ReadonlyMap<string, Answering>>(new Map())
export const isAnswering = computed(() => running.value.size > 0)

/** The turn that a guard refused, and its sentence. */
export const refused = signal<{ readonly turnId: string | null; readonly message: string } | null>(null)

/** Whose history the conversation is kept in; of a session that has just ended, still its own. */
let owner = 'open'
export const historyOwner = () => owner

session.subscribe((opened) => {
  if (opened === null) forget()
  else owner = opened.user_id ?? opened.kind
})

/** Nothing of a session is left for the next one; what it has saved is in a history of its own. */
function forget(): void {
  void leave()
  models.value = null
  modelsError.value = null
  conversation.value = createConversation('default')
  draft.value = ''
  refused.value = null
  // The answer that was read aloud last is still on the page.
  announce('')
}

export const canChat = ({ meta: { capabilities } }: Model) =>
  capabilities === null || capabilities.includes('chat') || !capabilities.includes('embeddings')

export async function loadModels(): Promise<void> {
  const asker = session.value
  try {
    const { data } = await call<{ data: readonly Model[] }>('GET v1/models')
    if (session.value === asker) takeModels(data)
  } catch (error) {
    if (session.value === asker) modelsError.value = error
  }
}

function takeModels(all: readonly Model[]): void {
  models.value = all
  modelsError.value = null
  const usable = all.filter(canChat)
  const first = usable.find(({ meta }) => meta.state === 'ready') ?? usable[0]
  if (first === undefined) return
  const known = new Set(usable.map(({ id }) => id))
  changePanes((pane) => (known.has(pane.model) ? pane : { ...pane, model: first.id }))
}

function change(changed: Partial<Conversation>): void {
  conversation.value = { ...conversation.value, ...changed }
}

function changePanes(next: (pane: Pane, index: number) => Pane): void {
  change({ panes: conversation.value.panes.map(next) })
}

export const changeSettings = (changed: Partial<Settings>) =>
  change({ settings: { ...conversation.value.settings, ...changed } })

export const chooseModel = (at: number, model: string) =>
  changePanes((pane, index) => (index === at ? { ...pane, model } : pane))

/** With a second model, which answers the same turns; or with the first alone. */
export function toggleComparison(): void {
  void leave()
  const [first, second] = conversation.value.panes
  if (first === undefined) return
  const other =
    (models.value ?? []).find((model) => canChat(model) && model.id !== first.model)?.id ?? first.model
  const asked = first.turns.filter((turn) => turn.role === 'user')
  change({
    panes:
      second === undefined
        ? [first, { model: other, turns: asked.length === 0 ? [] : first.turns }]
        : [first],
  })
}

/** Resolves when the one before is saved. */
export async function newConversation(): Promise<void> {
  const left = leave()
  const { panes, settings } = conversation.value
  const fresh = createConversation(panes[0]?.model ?? 'default', settings)
  conversation.value = { ...fresh, panes: panes.map(({ model }) => ({ model, turns: [] })) }
  refused.value = null
  await left
}

export function openConversation(opened: Conversation): void {
  // The history may be behind what is on the screen.
  if (opened.id === conversation.value.id) return
  void leave()
  conversation.value = opened
  refused.value = null
  void loadModels()
}

export function send(text: string): void {
  const turn: Turn = { role: 'user', id: newId(), text }
  changePanes((pane) => ({ ...pane, turns: [...pane.turns.filter(isWorthKeeping), turn] }))
  answerAll()
}

const isWorthKeeping = (turn: Turn) =>
  turn.role !== 'assistant' || turn.text !== '' || turn.calls.length > 0 || turn.reasoning !== ''

/** Another answer in the place of the last one. */
export function regenerate(at: number): void {
  const turns = conversation.value.panes[at]?.turns ?? []
  const last = turns.findLastIndex((turn) => turn.role !== 'assistant')
  changePanes((pane, index) => (index === at ? { ...pane, turns: turns.slice(0, last + 1) } : pane))
  void answer(at)
}

/** What came after a question that was changed is asked anew; an answer that was changed stays as it was written. */
export function editTurn(id: string, text: string): void {
  let isQuestion = false
  changePanes((pane) => {
    const at = pane.turns.findIndex((turn) => turn.id === id)
    const turn = pane.turns[at]
    if (turn === undefined) return pane
    isQuestion ||= turn.role === 'user'
    const kept = turn.role === 'user' ? pane.turns.slice(0, at + 1) : pane.turns
    return { ...pane, turns: kept.with(at, { ...turn, text }) }
  })
  if (isQuestion) answerAll()
  else void save()
}

export function giveResults(
  at: number,
  results: readonly { callId: string; name: string; text: string }[],
): void {
  const turns: Turn[] = results.map((result) => ({ role: 'tool', id: newId(), ...result }))
  changePanes((pane, index) => (index === at ? { ...pane, turns: [...pane.turns, ...turns] } : pane))
  void answer(at)
}

export function stop(): void {
  for (const { aborter } of running.value.values()) aborter.abort()
}

/** Ends what is on its way and keeps what has come of it: at once, before another conversation takes the screen. */
async function leave(): Promise<void> {
  if (!isAnswering.value) return
  stop()
  for (const { latest } of running.value.values()) put({ ...latest, state: 'stopped' })
  running.value = new Map()
  await save()
}

function answerAll(): void {
  conversation.value.panes.forEach((_, index) => void answer(index))
}

async function answer(at: number): Promise<void> {
  const { id, settings, panes } = conversation.value
  const pane = panes[at]
  if (pane === undefined) return
  refused.value = null
  let built: ReturnType<typeof buildRequest>
  try {
    built = buildRequest(settings, pane)
  } catch (error) {
    notify(describeError(error))
    refused.value = { turnId: null, message: describeError(error) }
    return
  }
  void save()
  const turn = createAnswer()
  const answering: Answering = { aborter: new AbortController(), latest: turn }
  running.value = new Map(running.value).set(turn.id, answering)
  changePanes((one, index) => (index === at ? { ...one, turns: [...one.turns, turn] } : one))
  announce('The answer is on its way.')
  const show = oncePerFrame(() => put(answering.latest))
  const onChange = (changed: AnswerTurn): void => {
    answering.latest = changed
    show()
  }
  const last = await streamAnswer(turn, built.request, { signal: answering.aborter.signal, onChange })
  running.value = new Map([...running.value].filter(([key]) => key !== turn.id))
  if (conversation.value.id !== id) return
  put(last)
  showEnd(last, built.turnIds)
  await save()
}

/** In each pane that has it: a comparison begins with the answers of the first. */
function put(changed: AnswerTurn): void {
  changePanes((pane) => ({
    ...pane,
    turns: pane.turns.map((turn) => (turn.id === changed.id ? changed : turn)),
  }))
}

function showEnd({ state, text, calls, refusal }: AnswerTurn, turnIds: readonly (string | null)[]): void {
  if (refusal !== null) {
    const index = /^messages\[(\d+)\]/.exec(refusal.param ?? refusal.message)?.[1]
    if (index !== undefined)
      refused.value = { turnId: turnIds[Number(index)] ?? null, message: refusal.message }
    announce(`No answer: ${refusal.message}`)
  } else if (state === 'stopped') announce('Stopped.')
  else
    announce(
      `Answer: ${text}${calls.length > 0 ? ` It calls ${calls.map(({ name }) => name).join(', ')}.` : ''}`,
    )
}

/** However often it is asked for within a frame. A hidden page has no frames, and needs none. */
function oncePerFrame(show: () => void): () => void {
  let isWaiting = false
  return () => {
    if (isWaiting) return
    isWaiting = true
    requestAnimationFrame(() => {
      isWaiting = false
      show()
    })
  }
}

async function save(): Promise<void> {
  change({ updatedAtMs: Date.now() })
  // Without storage (a private window, say) the conversation lasts as long as the page.
  await saveConversation(owner, conversation.value).catch(() => {})
}
