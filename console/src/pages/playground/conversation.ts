/** What the playground keeps of a conversation. It is stored in the browser as it is here, and holds nothing secret. */
import { DEFAULT_SETTINGS, type Settings } from './settings.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

export interface Stats {
  readonly firstTokenMs: number | null
  /** Of the answer, from its first token. */
  readonly durationMs: number
  readonly promptTokens: number | null
  readonly cachedTokens: number | null
  /** Exact at the end; until then as many as there were events. */
  readonly completionTokens: number
  readonly isExact: boolean
}

export interface Refusal {
  readonly message: string
  readonly code: string
  /** Such as `messages[2].content`. */
  readonly param: string | null
}

export interface UserTurn {
  readonly role: 'user'
  /** The same in both panes. */
  readonly id: string
  readonly text: string
}

export interface AnswerTurn {
  readonly role: 'assistant'
  readonly id: string
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ToolCall[]
  readonly state: 'streaming' | 'done' | 'stopped' | 'failed'
  readonly finishReason: string | null
  readonly stats: Stats | null
  readonly refusal: Refusal | null
}

export interface ToolTurn {
  readonly role: 'tool'
  readonly id: string
  readonly callId: string
  readonly name: string
  readonly text: string
}

export type Turn = UserTurn | AnswerTurn | ToolTurn

export interface Pane {
  readonly model: string
  readonly turns: readonly Turn[]
}

export interface Conversation {
  readonly id: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly settings: Settings
  /** One, or two to compare. */
  readonly panes: readonly Pane[]
}

/** Not `crypto.randomUUID`, which pages that did not come by TLS lack. */
export const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => byte.toString(36).padStart(2, '0')).join('')

export function createConversation(model: string, settings: Settings = DEFAULT_SETTINGS): Conversation {
  const nowMs = Date.now()
  return { id: newId(), createdAtMs: nowMs, updatedAtMs: nowMs, settings, panes: [{ model, turns: [] }] }
}

export function createAnswer(): AnswerTurn {
  return {
    ...{ role: 'assistant', id: newId(), text: '', reasoning: '', calls: [] },
    ...{ state: 'streaming', finishReason: null, stats: null, refusal: null },
  }
}

/** As it was stored: an answer that was on its way has ended with the page that asked for it. */
export function toEnded(stored: Conversation): Conversation {
  const endTurn = (turn: Turn): Turn =>
    turn.role === 'assistant' && turn.state === 'streaming' ? { ...turn, state: 'stopped' } : turn
  return { ...stored, panes: stored.panes.map((pane) => ({ ...pane, turns: pane.turns.map(endTurn) })) }
}

const TITLE_LENGTH = 60

export function titleOf({ panes }: Conversation): string {
  const first = panes[0]?.turns.find((turn) => turn.role === 'user')?.text.trim() ?? ''
  if (first === '') return 'New conversation'
  return first.length > TITLE_LENGTH ? `${first.slice(0, TITLE_LENGTH)}…` : first
}

/** Calls of the last answer that no result was given for yet. */
export function openCalls({ turns }: Pane): readonly ToolCall[] {
  const last = turns.findLast((turn) => turn.role === 'assistant')
  if (last === undefined || last.state === 'streaming') return []
  const given = new Set(turns.flatMap((turn) => (turn.role === 'tool' ? [turn.callId] : [])))
  return last.calls.filter(({ id }) => !given.has(id))
}
