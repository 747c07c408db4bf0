/** `sluice doctor`: what a server with these options would need, looked at one by one. */
import { examineService } from '../../app/doctor/examine-service.ts'
import { fault, type Finding, warning } from '../../app/doctor/finding.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import { StartError } from '../../core/errors.ts'
import { escapeUnseen, toJsonLine } from '../terminal/terminal-text.ts'
import type { CommandContext } from '../terminal/terminal.ts'

export interface DoctorCommand {
  readonly printsJson: boolean
}

interface DoctorContext extends Pick<CommandContext, 'terminal' | 'clock'> {
  /** @throws StartError */
  readonly loadConfig: () => ServerConfig
  /** What the configuration file and the environment say in vain, in sentences; null in place of one that says nothing so. */
  readonly describeWarnings: () => readonly (string | null)[]
}

const MARKS: Readonly<Record<Finding['state'], string>> = { ok: 'ok', warning: 'warning', fault: 'FAULT' }
const SUBJECT_WIDTH = 18
const MARK_WIDTH = 8

/** Resolves with the exit code: 1 where there is a fault. */
export async function runDoctorCommand(
  { printsJson }: DoctorCommand,
  { terminal, ...context }: DoctorContext,
): Promise<number> {
  const findings: Finding[] = []
  for await (const finding of examine(context)) {
    findings.push(finding)
    if (!printsJson) terminal.print(toLine(finding))
  }
  if (printsJson) terminal.print(toJsonLine({ findings }))
  return findings.some(({ state }) => state === 'fault') ? 1 : 0
}

async function* examine({
  loadConfig,
  describeWarnings,
  clock,
}: Omit<DoctorContext, 'terminal'>): AsyncGenerator<Finding> {
  let config: ServerConfig
  try {
    config = loadConfig()
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    // Nothing else is known of a server whose options are wrong.
    return yield fault('options', error.message)
  }
  for (const sentence of describeWarnings()) if (sentence !== null) yield warning('options', sentence)
  yield* examineService(config, clock)
}

function toLine({ subject, state, text }: Finding): string {
  return `${MARKS[state].padEnd(MARK_WIDTH)} ${subject.padEnd(SUBJECT_WIDTH)} ${escapeUnseen(text)}`
}
