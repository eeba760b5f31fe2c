export interface Loop {
  /** Runs the step soon, also when it is running now. */
  wake(): void;
  /** Resolves when the step under way is over; there is no further one. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  /** Longest pause between two steps. */
  pollMs: number;
  onError: (error: unknown) => void;
}

/** Runs `step` when woken and at every poll, never twice at once; a step that answers true is followed by another. */
export function startLoop(step: () => Promise<boolean>, { pollMs, onError }: LoopOptions): Loop {
  let woken = false;
  let stopped = false;
  let endPause = () => {};

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollMs);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const run = async () => {
    while (!stopped) {
      woken = false;
      const more = await step().catch((error) => {
        onError(error);
        return false;
      });
      if (!more && !woken && !stopped) await pause();
    }
  };

  const done = run();
  return {
    wake() {
      woken = true;
      endPause();
    },
    stop() {
      stopped = true;
      endPause();
      return done;
    },
  };
}
