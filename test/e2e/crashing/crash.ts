/** The incidents whose alert this process took in: only their steps count, other work it does goes on. */
const received = new Set<string>();

export const noteReceived = (incidentIds: string[]): void => {
  for (const id of incidentIds) received.add(id);
};

/** Ends the process as `kill -9` does, if it is told to do so at this step. Nothing after it runs. */
export const crashAt = (step: string, incidentId: string): void => {
  if (process.env.CRASH_AT === step && received.has(incidentId)) process.kill(process.pid, 'SIGKILL');
};
