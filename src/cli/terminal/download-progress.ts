/** What a person sees of a download: a bar where there is a terminal, sentences everywhere. */
import type { Clock } from '../../core/clock.ts'
import type { PullProgress } from '../../checkpoints/hub/pull-model.ts'
import { escapeUnseen } from './terminal-text.ts'
import type { Terminal } from './terminal.ts'

export interface DownloadDisplay {
  readonly onDownloadProgress: (progress: PullProgress) => void
  readonly onNotice: (sentence: string) => void
}

const BAR_WIDTH = 24
/** A terminal is slower than a network. */
const REDRAW_MS = 100

export function showDownload({
  terminal,
  clock,
}: {
  readonly terminal: Terminal
  readonly clock: Clock
}): DownloadDisplay {
  let shownAtMs = Number.NEGATIVE_INFINITY
  return {
    onDownloadProgress: (progress) => {
      const isDone = progress.bytes >= progress.totalBytes
      if (!isDone && clock.nowMs() - shownAtMs < REDRAW_MS) return
      shownAtMs = clock.nowMs()
      terminal.showProgress(isDone ? null : toBar(progress))
    },
    onNotice: (sentence) => {
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
