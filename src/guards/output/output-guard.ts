/**
 * Checks generated text: no key of this service, no secret of its configuration, no long part of a system prompt, no
 * control characters. One for a server; it opens a filter for each request.
 */
import { ConfidentialText, EchoDetector } from './echo-detector.ts'
import { KeyDetector } from './key-detector.ts'
import { type Detector, OutputFilter, type OnHit } from './output-filter.ts'
import { SecretDetector, SecretIndex } from './secret-detector.ts'

export class OutputGuard {
  #secrets: SecretIndex

  /** @param secrets of the configuration; those of fewer than 8 characters, or with spaces, are not detected. */
  constructor({ secrets }: { secrets: readonly string[] }) {
    this.#secrets = new SecretIndex(secrets)
  }

  /** In the place of the secrets from before; from the next request on. */
  watchFor(secrets: readonly string[]): void {
    this.#secrets = new SecretIndex(secrets)
  }

  /** Costs nothing until there is text. @param systemMessages what must not be repeated at length. */
  open(
    count: number,
    { systemMessages, onHit }: { systemMessages: readonly string[]; onHit: OnHit },
  ): OutputFilter {
    let confidential: ConfidentialText | null | undefined
    const index = this.#secrets
    const detectors = (): readonly Detector[] => {
      if (confidential === undefined) confidential = ConfidentialText.of(systemMessages)
      return [
        new KeyDetector(),
        ...(index.longest > 0 ? [new SecretDetector(index)] : []),
        ...(confidential === null ? [] : [new EchoDetector(confidential)]),
      ]
    }
    return new OutputFilter(count, { detectors, onHit })
  }
}
