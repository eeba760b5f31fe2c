/**
 * A snapshot folder that cannot be read: the operator's to fix, exit status 2 of the CLI.
 * `file` is the path of the file or folder at fault, `problem` what is wrong with it.
 */
export class SnapshotError extends Error {
  override name = 'SnapshotError';
  readonly file: string;
  readonly problem: string;

  constructor(file: string, problem: string) {
    super(`${file}: ${problem}`);
    this.file = file;
    this.problem = problem;
  }
}
