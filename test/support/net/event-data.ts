/** The data of the events of a stream that has come whole. */
import { createParser } from 'eventsource-parser'

export function eventData(body: string): string[] {
  const data: string[] = []
  createParser({ onEvent: (event) => void data.push(event.data) }).feed(body)
  return data
}
