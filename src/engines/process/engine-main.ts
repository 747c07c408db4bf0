/**
 * The engine process: opens one model, then serves the step loop on a Unix socket until its parent is gone. Started
 * by the engine host with its options as the only argument; file descriptor 3 is a pipe back to the host, standard
 * input one from it that closes when the host ends. A native abort ends this process and no other.
 */
import { writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { systemClock } from '../../core/clock.ts'
import { StartError } from '../../core/errors.ts'
import { wholePercents } from '../../core/whole-percents.ts'
import { dieWithParent } from '../llamacpp/ffi/die-with-parent.ts'
import { openLlamaRunner } from '../llamacpp/runner.ts'
import { EngineConnection } from './connection/engine-connection.ts'
import type { EngineProcessOptions, LoadMessage } from './connection/messages.ts'
import { StepLoop } from './step-loop/step-loop.ts'

const HOST_PIPE = 3
/** Exit code after a step failed: the model's state is unknown, so a fresh process takes over. */
const BROKEN_EXIT_CODE = 70

const tell = (message: LoadMessage): void => void writeSync(HOST_PIPE, `${JSON.stringify(message)}\n`)

async function main(options: EngineProcessOptions): Promise<void> {
  // Ctrl-C, and the end of a terminal, reach the whole process group; only the host decides when an engine ends.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {})
  process.on('SIGHUP', () => {})
  dieWithParent(options.parentPid)
  process.stdin.on('close', () => process.exit(0)).resume()

  const onProgress = wholePercents((fraction) => tell({ type: 'progress', fraction }))
  const runner = await openLlamaRunner(options.runner, onProgress)
  const connections = new Set<EngineConnection>()
  const loop = new StepLoop({
    runner,
    schedulePolicy: options.schedulePolicy,
    // Counted in the HTTP process, over all models.
    maxQueue: Number.POSITIVE_INFINITY,
    clock: systemClock,
    onStepEnd: () => {
      for (const connection of connections) connection.flush()
    },
    onStep: () => {
      for (const connection of connections) connection.beat()
    },
    onBroken: ({ cause }) => {
      process.stderr.write(
        `the step loop failed: ${cause instanceof Error ? cause.message : String(cause)}\n`,
      )
      process.exit(BROKEN_EXIT_CODE)
    },
  })
  const server = createServer({ noDelay: true }, (socket) => {
    const connection = new EngineConnection(socket, loop)
    connections.add(connection)
    socket.on('close', () => connections.delete(connection))
  })
  server.listen(options.socketPath, () => tell({ type: 'ready', info: runner.info() }))
}

try {
  await main(JSON.parse(process.argv[2] ?? '') as EngineProcessOptions)
} catch (error) {
  const message = error instanceof StartError ? error.message : `The engine could not start: ${String(error)}`
  tell({ type: 'failed', message })
  process.exit(1)
}
