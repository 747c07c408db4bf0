/** `sluice pull`: downloads a model before it is needed, and prints its path. */
import { pullModel } from '../../checkpoints/hub/pull-model.ts'
import { showDownload } from '../terminal/download-progress.ts'
import { escapeUnseen } from '../terminal/terminal-text.ts'
import type { CommandContext } from '../terminal/terminal.ts'

/** The first signal aborts the download; the part that has arrived is kept. */
export async function runPullCommand(model: string, { terminal, clock }: CommandContext): Promise<number> {
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
