/** The worker thread that scans long prompts. Started by `scan-thread.ts` only. */
import { answerCalls } from '../../core/concurrency/worker-calls.ts'
import { markerNames } from './role-markers.ts'
import { PromptScanner } from './prompt-scanner.ts'
import type { PromptCheck, PromptVerdict } from './scan-thread.ts'

const scanner = new PromptScanner()

answerCalls(({ texts, isChat, specialTexts }: PromptCheck): readonly PromptVerdict[] => {
  const ownMarkers = markerNames(specialTexts)
  return texts.map((text) => scanner.scan(text, { isChat, ownMarkers }).rule)
})
