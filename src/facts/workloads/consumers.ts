import type { Series } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { grep, type PodLogLine, speaksOfSurroundings } from '../logs/pod-logs.ts';
import { growth } from '../series.ts';

/** A consumer cannot take a message: it cannot read it, or gives it back and is handed it again. */
const cannotTake =
  /\b(?:decod|deserializ|deserialis|unmarshal|pars)\w*\b.{0,80}\b(?:message|record|event|payload|offset|delivery)|\b(?:message|record|event|payload|offset|delivery|job)\b.{0,160}(?:\b(?:not|never|un)[ -]?(?:committed|acked|acknowledged|processed)|requeu|redeliver|\bnack|poison|cannot be (?:decoded|parsed|processed)|unknown (?:field|type|schema))|SerializationException|CommitFailedException|unknown magic byte/i;
const worked = /(?:committed|processed|consumed|acked|acknowledged|handled|completed)_/;
const arrived = /(?:produced|published|enqueued|incoming|received|sent)_/;
/** Rates that stay within this are the same. */
const sameFactor = 1.3;

export interface StuckConsumer {
  line: PodLogLine;
  /** What it finishes, where that fell to less than half. */
  finished?: Series;
  /** What arrives, where that did not grow. */
  arriving?: Series;
}

/** A workload whose logs say that it cannot take its messages; what it waits for elsewhere is another matter. */
export const stuckConsumer = (facts: ClusterFacts, workload: KubeObject): StuckConsumer | undefined => {
  const line = grep(facts, facts.podsOf(workload), cannotTake)
    .filter((entry) => !speaksOfSurroundings.test(entry.text))
    .at(-1);
  if (!line) return undefined;
  const own = (series: Series): boolean =>
    [undefined, workload.metadata.namespace].includes(series.labels.namespace ?? series.labels.exported_namespace);
  return {
    line,
    finished: facts.seriesLike(worked).find((series) => own(series) && growth(series) < 0.5),
    arriving: facts.seriesLike(arrived).find((series) => own(series) && growth(series) < sameFactor),
  };
};
