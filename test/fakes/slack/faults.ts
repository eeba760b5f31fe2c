/**
 * What goes wrong with the next calls of a method:
 * `rate-limit` HTTP 429 with Retry-After; `error` a body with ok:false; `status` another HTTP status;
 * `reset` the connection ends before anything happened; `lost` it happened and the answer never came;
 * `status-after-commit` it happened and the answer is that status; `hang` no answer until the caller gives up.
 */
export interface Fault {
  method: string;
  kind: 'rate-limit' | 'error' | 'status' | 'reset' | 'lost' | 'status-after-commit' | 'hang';
  /** For `error`. */
  error?: string;
  /** Further body fields for `error`, e.g. `needed`. */
  body?: Record<string, unknown>;
  /** For `status` and `status-after-commit`. */
  status?: number;
  /** For `rate-limit`; null sends no Retry-After. */
  retryAfterSeconds?: number | null;
  /** Calls it hits; 1 when absent. */
  times?: number;
}

export class Faults {
  #queue: Fault[] = [];

  add(fault: Fault): void {
    this.#queue.push({ ...fault });
  }

  clear(): void {
    this.#queue = [];
  }

  /** The fault of this call, used up by it. */
  take(method: string): Fault | undefined {
    const index = this.#queue.findIndex((fault) => fault.method === method || fault.method === '*');
    const fault = this.#queue[index];
    if (!fault) return undefined;
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) this.#queue.splice(index, 1);
    return fault;
  }
}

/** Channels that always fail, for whoever cannot script the double: `C0ERR_NOT_IN_CHANNEL` answers not_in_channel. */
export const sentinelError = (channel: unknown): string | undefined =>
  typeof channel === 'string' ? /^C0ERR_([A-Z_]+)$/.exec(channel)?.[1]?.toLowerCase() : undefined;
