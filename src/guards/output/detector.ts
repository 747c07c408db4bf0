/**
 * Detects one kind of text that must not be sent, in one sequence. It is given the text piece by piece, each once, and says
 * from which offset on the text must be held. Offsets count UTF-16 units from the beginning of the sequence.
 */
export interface Detector {
  /** In the metric and the log line. */
  readonly rule: string
  /** Takes the text that follows everything seen before. True when it completes a hit. */
  see(text: string): boolean
  /** The first offset that may not be sent yet; after a hit, where it begins. Infinity when nothing has to be held. */
  readonly holdFrom: number
}
