/** What the server and its worker threads say to each other: arrays of plain data, at most one a turn of the event loop. */
import type { FinishReason, SequenceError } from '../../protocol/engine.ts'

/** Given to a thread when it starts. */
export interface WorkerOptions {
  /** Prompts that it may run at once. */
  readonly seats: number
}

/** Server → thread. Sampling changes nothing on the passthrough model, so it does not travel. */
export interface WorkMessage {
  readonly prompts: readonly (readonly [id: number, prompt: string, maxNewTokens: number])[]
  readonly aborted: readonly number[]
}

/** In order, without names: copying those to the other thread costs as much as all the rest. */
export type Outcome =
  | readonly [
      id: number,
      text: string,
      tokenIds: readonly number[],
      promptTokens: number,
      finishReason: FinishReason,
    ]
  | readonly [id: number, error: SequenceError]

/** Thread → server: what has ended since the last message; the first one, empty, says that the program runs. */
export type OutcomeMessage = readonly Outcome[]
