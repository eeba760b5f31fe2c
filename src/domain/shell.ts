/** Whether a line is a command that a person can run, rather than a sentence about what to do. */
export const isCommand = (line: string): boolean =>
  /^(?:kubectl|aws|gcloud|az|aliyun|eksctl|helm|faultline|amtool|promtool|curl|nslookup|crictl|journalctl) \S/.test(
    line,
  );

/** One word of a command that a person pastes into a shell, whatever text it comes from. */
export const shellWord = (word: string): string =>
  /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
