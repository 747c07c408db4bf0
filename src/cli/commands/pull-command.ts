/** `sluice pull`: downloads a model before it is needed, and prints where it stands. */
import type { Clock } from '../../core/clock.ts'
import { pullModel } from '../../checkpoints/hub/pull-model.ts'
import { showDownload } from '../terminal/download-progress.ts'
import { escapeUnseen } from '../terminal/terminal-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface PullContext {
  readonly terminal: Terminal
  readonly clock: Clock
}

/** The first signal ends it, with what has arrived kept. */
export async function runPullCommand(model: string, { terminal, clock }: PullContext): Promise<number> {
  const stopping = new AbortController()
  terminal.onSignal(() => stopping.abort())
  const { onDownloadProgress, onNotice } = showDownload({ terminal, clock })
  try {
    const found = await pullModel(model, {
      env: terminal.env,
      signal: stopping.signal,
      onProgress: onDownloadProgress,
      onNotice,
    })
    terminal.print(escapeUnseen(found))
    return 0
  } finally {
    terminal.showProgress(null)
  }
}
