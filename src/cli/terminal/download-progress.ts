/** Shows a download: a progress bar on a terminal, sentences everywhere. */
import type { PullProgress } from '../../checkpoints/hub/pull-model.ts'
import { escapeUnseen } from './terminal-text.ts'
import type { CommandContext } from './terminal.ts'

const BAR_WIDTH = 24
/** Drawing on a terminal is slower than the network. */
const REDRAW_MS = 100

export function showDownload({ terminal, clock }: Pick<CommandContext, 'terminal' | 'clock'>) {
  let shownAtMs = Number.NEGATIVE_INFINITY
  return {
    onDownloadProgress: (progress: PullProgress) => {
      const isDone = progress.bytes >= progress.totalBytes
      if (!isDone && clock.nowMs() - shownAtMs < REDRAW_MS) return
      shownAtMs = clock.nowMs()
      terminal.showProgress(isDone ? null : toBar(progress))
    },
    onNotice: (sentence: string) => {
      terminal.showProgress(null)
      terminal.complain(`sluice: ${escapeUnseen(sentence)}`)
    },
  }
}

function toBar({ repo, bytes, totalBytes }: PullProgress): string {
  const share = bytes / totalBytes
  const filled = Math.round(share * BAR_WIDTH)
  const bar = '#'.repeat(filled) + '-'.repeat(BAR_WIDTH - filled)
  return `sluice: downloading ${repo} [${bar}] ${Math.floor(share * 100)} % of ${toSize(totalBytes)}`
}

function toSize(bytes: number): string {
  return bytes < 1e9 ? `${Math.ceil(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}
