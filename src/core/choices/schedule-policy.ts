/** The order in which sequences get a slot; `scheduler/queue/waiting-queue.ts` implements each policy. */
export const SCHEDULE_POLICIES = ['fcfs', 'priority', 'fair'] as const

export type SchedulePolicy = (typeof SCHEDULE_POLICIES)[number]
