/**
 * Whether a service that a suite needs is on this machine. On a user's machine the suite is then skipped, with the
 * reason printed; in CI its absence is an error.
 */
export function requireService(name: string, present: boolean, howToInstall: string): boolean {
  if (present) return true;
  const reason = `${name} is not installed (${howToInstall})`;
  if (process.env.CI) throw new Error(`${reason}, and CI must not skip its tests.`);
  console.warn(`Skipped: ${reason}.`);
  return false;
}
