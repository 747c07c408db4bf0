/** The worker thread that scans long prompts, one order at a time. Started by `scan-thread.ts` only. */
import { parentPort } from 'node:worker_threads'
import { InvariantError } from '../../core/errors.ts'
import { markerNames } from './role-markers.ts'
import { PromptScanner } from './prompt-scanner.ts'
import type { ScanAnswer, ScanOrder } from './scan-thread.ts'

const port = parentPort
if (port === null) throw new InvariantError('The scan worker was not started as a worker thread')

const scanner = new PromptScanner()

port.on('message', ({ texts, isChat, specialTexts }: ScanOrder) => {
  const ownMarkers = markerNames(specialTexts)
  const answer: ScanAnswer = texts.map((text) => scanner.scan(text, { isChat, ownMarkers }).rule)
  port.postMessage(answer)
})
