import type { Read } from '../../triage/ports.ts';

/** One request and the pages that follow; a page that fails leaves those before it. */
export const pagesOf = async (
  send: (parameters: Record<string, unknown>) => Promise<Read<any>>,
  parameters: Record<string, unknown>,
  { list, token, maxPages }: { list?: string; token?: { from: string; to: string }; maxPages: number },
): Promise<Read<any>> => {
  const first = await send(parameters);
  if (!first.ok || !list) return first;
  const items = [...(first.value[list] ?? [])];
  let next = token && first.value[token.from];
  for (let page = 1; next && page < maxPages; page++) {
    const read = await send({ ...parameters, [token!.to]: next });
    if (!read.ok) break;
    items.push(...(read.value[list] ?? []));
    next = read.value[token!.from];
  }
  return { ok: true, value: { [list]: items }, complete: !next };
};
