/**
 * A second change of a volume before the vendor's waiting time is over: the first one went well, and no part is broken.
 * EC2 lets six hours pass between two changes of one volume, and finishes one before the next.
 */
export const mustWait =
  /VolumeModificationRateExceeded|IncorrectModificationState|maximum modification rate|Wait at least \d+ hours?/i;
