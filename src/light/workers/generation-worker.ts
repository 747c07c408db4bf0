/**
 * A worker thread of the light server: the passthrough model on the real scheduler, so that a long continuation blocks
 * only its own event loop. Started by `worker-thread.ts` only. An uncaught error ends it, and the server starts
 * another.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../core/clock.ts'
import { InvariantError } from '../../core/errors.ts'
import type { EventSink, RequestHandle } from '../../engines/process/step-loop/event-sink.ts'
import { StepLoop } from '../../engines/process/step-loop/step-loop.ts'
import { PassthroughRunner } from '../../engines/passthrough/passthrough-runner.ts'
import type { EngineRequest } from '../../protocol/engine.ts'
import { SequenceFold } from '../../generation/events/sequence-fold.ts'
import type { Outcome, OutcomeMessage, WorkerOptions, WorkMessage } from './worker-thread.ts'

const port = parentPort
if (port === null) throw new InvariantError('The generation worker was not started as a worker thread.')

const { seats } = workerData as WorkerOptions
const handles = new Map<number, RequestHandle>()
let outcomes: Outcome[] = []

const loop = new StepLoop({
  runner: new PassthroughRunner({ maxBatchSize: seats, maxSeqLen: null }),
  // The pool's queue has ordered the prompts and sends no more than run at once.
  schedulePolicy: 'fcfs',
  clock: systemClock,
  onStepEnd: postOutcomes,
  onBroken: ({ cause }) =>
    setImmediate(() => {
      throw cause
    }),
})

port.on('message', ({ prompts, aborted }: WorkMessage) => {
  for (const id of aborted) abort(id)
  for (const [id, prompt, maxNewTokens] of prompts) {
    handles.set(id, loop.submit(toRequest(prompt, maxNewTokens), createSink(id)))
  }
})

// The first message reports that the program runs.
port.postMessage([] satisfies OutcomeMessage)

function createSink(id: number): EventSink {
  const fold = new SequenceFold()
  return {
    deliver: (events) => {
      for (const event of events) fold.add(event)
      if (!fold.hasEnded) return
      const { text, tokenIds, promptTokens, finishReason, error } = fold.finish()
      end(error === null ? [id, text, tokenIds, promptTokens, finishReason] : [id, error])
    },
    fail: ({ code, params }) => end([id, { code, params }]),
    end: () => handles.delete(id),
  }
}

function end(outcome: Outcome): void {
  handles.delete(outcome[0])
  outcomes.push(outcome)
}

function abort(id: number): void {
  handles.get(id)?.abort()
  handles.delete(id)
}

function postOutcomes(): void {
  if (outcomes.length === 0) return
  port?.postMessage(outcomes)
  outcomes = []
}

function toRequest(prompt: string, maxNewTokens: number): EngineRequest {
  return {
    reqId: '',
    prompts: [{ pieces: [prompt], addSpecial: true }],
    options: {
      maxNewTokens,
      sampling: { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: null },
      stopStrings: [],
    },
    place: { priorityClass: 0, priority: 0, accountId: '' },
  }
}
