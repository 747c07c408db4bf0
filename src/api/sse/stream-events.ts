/**
 * Plays one sequence's events to a client as SSE. Whatever happens, an answer that was opened ends with exactly one
 * `[DONE]`; an error before that is an ordinary answer, an error after it one event (spec: decisions, Errors).
 */
import { InvariantError, toServiceError, type ServiceError } from '../../core/errors.ts'
import type { FinishReason, Prompt, SequenceStartEvent, TextDeltaEvent } from '../../protocol/engine.ts'
import { startSystemSilenceTimer, type AppDeps } from '../deps.ts'
import { logCause } from '../error-handler.ts'
import { toSequenceError, type Exchange, type Generation } from '../generation.ts'
import { toOpenAiError } from '../../net/render-error.ts'
import { SseWriter } from './sse.ts'

/** What the frames of an answer look like; each call gives whole frames, or nothing to send. */
export interface FrameFormat {
  start(event: SequenceStartEvent): string
  delta(event: TextDeltaEvent): string
  end(finishReason: FinishReason): string
}

const DONE_FRAME = 'data: [DONE]\n\n'

export interface StreamOptions {
  readonly generation: Generation
  readonly prompt: Prompt
  readonly format: FrameFormat
}

/** @throws ServiceError while the answer is not open yet. */
export async function streamEvents(deps: AppDeps, exchange: Exchange, options: StreamOptions): Promise<void> {
  using writer = new SseWriter(exchange.reply, {
    startTimer: deps.startSilenceTimer ?? startSystemSilenceTimer,
    onSlowReader: () => deps.metrics.countGuardHit({ guard: 'http', rule: 'slow-reader' }),
  })
  try {
    const lastFrames = await playEvents(writer, exchange, options)
    await exchange.request.usage?.settle(200)
    writer.end(lastFrames + DONE_FRAME)
  } catch (thrown) {
    if (!writer.isOpen) throw thrown
    if (options.generation.signal.aborted) return
    const error = toServiceError(thrown, exchange.request.id)
    logCause(error, exchange.request.id, deps.log)
    await settleFailure(deps, exchange, error)
    writer.end(errorFrame(error) + DONE_FRAME)
  }
}

/** Sends all but the last frames, which it returns: they leave together with `[DONE]`. */
async function playEvents(
  writer: SseWriter,
  { request }: Exchange,
  { generation, prompt, format }: StreamOptions,
): Promise<string> {
  const last: { frames: string | null } = { frames: null }
  await generation.play([prompt], (event) => {
    switch (event.type) {
      case 'sequence-start':
        writer.open()
        return send(writer, format.start(event))
      case 'text-delta':
        return send(writer, format.delta(event))
      case 'sequence-end':
        if (event.error !== null) throw toSequenceError(event.error, request.id)
        last.frames = format.end(event.finishReason)
        return undefined
    }
  })
  if (last.frames === null) throw new InvariantError('The sequence never ended.')
  return last.frames
}

/** The client is told of the failure whatever becomes of its record. */
async function settleFailure(deps: AppDeps, { request }: Exchange, error: ServiceError): Promise<void> {
  try {
    await request.usage?.settle(error.status)
  } catch (cause) {
    logCause(toServiceError(cause, request.id), request.id, deps.log)
  }
}

function send(writer: SseWriter, frames: string): Promise<void> | undefined {
  return frames === '' ? undefined : writer.write(frames)
}

function errorFrame(error: ServiceError): string {
  return `data: ${JSON.stringify({ error: toOpenAiError(error), detail: error.message })}\n\n`
}
