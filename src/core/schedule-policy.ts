/** Who gets the next slot; what each policy does stands in `scheduler/waiting-queue.ts`. */
export const SCHEDULE_POLICIES = ['fcfs', 'priority', 'fair'] as const

export type SchedulePolicy = (typeof SCHEDULE_POLICIES)[number]
