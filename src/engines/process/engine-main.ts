/**
 * The engine process: opens one model, then serves the step loop on a Unix socket until its parent is gone. Started by the
 * engine host, which is its owner and its first client; others may connect. A native abort ends this process and no other.
 */
import { systemClock } from '../../core/clock.ts'
import { StartError } from '../../core/errors.ts'
import { wholePercents } from '../../core/text/whole-percents.ts'
import type { EmbeddingRunner } from '../../protocol/embedding-runner.ts'
import type { ModelRunner } from '../../protocol/model-runner.ts'
import { exitAtOnce } from '../child/exit-at-once.ts'
import { linkToParent, tellParent } from '../child/parent-link.ts'
import { openEmbeddingRunner } from '../llamacpp/embeddings/embedding-runner.ts'
import { openLlamaRunner } from '../llamacpp/open-runner.ts'
import { EngineServer } from './connection/engine-server.ts'
import { type EngineProcessOptions, type LoadMessage, STEP_LOOP_FAILED } from './connection/messages.ts'

/** Exit code after a step failed: the model's state is unknown, so a fresh process takes over. */
const BROKEN_EXIT_CODE = 70

const tell = (message: LoadMessage): void => tellParent(message)

async function main(options: EngineProcessOptions): Promise<void> {
  let finish = (): Promise<void> => Promise.resolve()
  linkToParent(options.parentPid, () => finish())
  const onNote = (note: string): void => tell({ type: 'note', note })
  const onProgress = wholePercents((fraction) => tell({ type: 'progress', fraction }))
  const open = options.runner.embedding === undefined ? openLlamaRunner : openEmbeddingRunner
  const runner = await open(options.runner, onProgress, onNote)
  const server = new EngineServer({
    runner,
    schedulePolicy: options.schedulePolicy,
    prefixCacheScope: options.prefixCacheScope ?? 'shared',
    restMs: options.runner.prefixCacheStore?.restMs,
    clock: systemClock,
    onNote,
    onBroken: ({ cause }) => {
      process.stderr.write(`${STEP_LOOP_FAILED}${cause instanceof Error ? cause.message : String(cause)}\n`)
      exitAtOnce(BROKEN_EXIT_CODE)
    },
  })
  loadAdapters(runner, options.adapters ?? [], onNote)
  finish = () => server.finish()
  await server.listen(options.socketPath)
  tell({ type: 'ready', info: runner.info() })
}

/** Those that cannot be loaded again are missing to their own requests only. */
function loadAdapters(
  runner: ModelRunner | EmbeddingRunner,
  adapters: NonNullable<EngineProcessOptions['adapters']>,
  onNote: (note: string) => void,
): void {
  for (const adapter of adapters) {
    try {
      if ('adapters' in runner) runner.adapters?.load(adapter)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      onNote(`its adapter '${adapter.modelId}' is missing until it is registered again: ${why}`)
    }
  }
}

try {
  await main(JSON.parse(process.argv[2] ?? '') as EngineProcessOptions)
} catch (error) {
  const message = error instanceof StartError ? error.message : `The engine could not start: ${String(error)}`
  tell({ type: 'failed', message })
  exitAtOnce(1)
}
