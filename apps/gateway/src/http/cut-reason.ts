/** Why a client was cut that did not take the end of its answer. */
export type CutReason = 'stalled' | 'tenant_unread' | 'process_unread';
