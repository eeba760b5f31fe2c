/** Something the person at the keyboard can fix: printed without a stack, with the line that fixes it. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  readonly exitCode: number;

  constructor(message: string, exitCode = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}
