/** What `sluice doctor` finds out about one thing that a server needs. */
import { StartError } from '../../core/errors.ts'

export interface Finding {
  readonly subject: string
  /** With a fault the server would not start, or could not serve. */
  readonly state: 'ok' | 'warning' | 'fault'
  /** One sentence; where it is not ok, with what to do. */
  readonly text: string
}

export const ok = (subject: string, text: string): Finding => ({ subject, state: 'ok', text })
export const warning = (subject: string, text: string): Finding => ({ subject, state: 'warning', text })
export const fault = (subject: string, text: string): Finding => ({ subject, state: 'fault', text })

/** The finding of a check, or the fault that a start would end with. */
export async function examine(subject: string, check: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof StartError) return fault(subject, error.message)
    return fault(subject, error instanceof Error ? error.message : String(error))
  }
}

const BYTES_PER_GB = 1e9

/** `12.3 GB`, `250 MB` */
export function formatBytes(bytes: number): string {
  return bytes >= BYTES_PER_GB ? `${(bytes / BYTES_PER_GB).toFixed(1)} GB` : `${Math.floor(bytes / 1e6)} MB`
}
