/** What records and queue use of a `pg` Pool; a real one is one, and so is the embedded database. */
export interface SqlPool {
  query<R = any>(text: string, params?: readonly unknown[]): Promise<{ rows: R[] }>;
  connect(): Promise<SqlClient>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: 'connect', listener: (client: SqlClient) => void): this;
  removeAllListeners(event?: string): this;
}

export interface SqlClient {
  query<R = any>(text: string, params?: readonly unknown[]): Promise<{ rows: R[] }>;
  on(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: 'end', listener: () => void): this;
  removeListener(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): this;
  removeAllListeners(event?: string): this;
  /** `destroy`: the session holds state that must not reach the next user. */
  release(destroy?: boolean): void;
}
