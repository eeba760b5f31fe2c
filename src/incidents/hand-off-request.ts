/** Where a person sends an incident, and why. */
export interface HandOffRequest {
  /** `cloud`, `platform`, `app`, or a team of the owner directory. */
  to: string;
  why: string;
  /** The verdict named the wrong owner. */
  corrects: boolean;
}
