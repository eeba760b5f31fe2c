/** How to reach a cluster. Neither given: the kubeconfig's current context, as kubectl would take it. */
export interface ClusterAccess {
  /** A context of the kubeconfig. */
  context?: string;
  /** Path of a kubeconfig; default KUBECONFIG, then ~/.kube/config, then the pod's service account. */
  kubeconfig?: string;
  /** Use the service account of the pod that Faultline runs in. */
  inCluster?: boolean;
  /** Instead of a kubeconfig. */
  bearer?: BearerAccess;
}

/** An API server by its address, with tokens that are made here. */
export interface BearerAccess {
  server: string;
  /** Base64 of the PEM that the server's certificate is checked with. */
  caData: string;
  /** A token that holds now. Asked with every call, so it must be cheap. */
  token(): Promise<string>;
}

/** The access that was configured does not exist: the operator's to fix. */
export class ClusterAccessError extends Error {
  override name = 'ClusterAccessError';
}
