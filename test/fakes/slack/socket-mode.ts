import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';

export interface ActionAnswer {
  envelopeId: string;
  acknowledged: boolean;
  payload?: unknown;
}

const ackWithinMs = 3000;

/** Slack's side of Socket Mode: hello, envelopes to any one connection, acknowledgements, disconnects. */
export class SocketMode extends EventEmitter {
  readonly #server: WebSocketServer;
  readonly #waiting = new Map<string, (payload: unknown) => void>();
  #next = 0;

  constructor(http: Server) {
    super();
    this.#server = new WebSocketServer({ server: http, path: '/link' });
    this.#server.on('connection', (socket) => {
      socket.on('message', (data) => this.#onMessage(JSON.parse(String(data))));
      socket.send(
        JSON.stringify({
          type: 'hello',
          num_connections: this.connections,
          debug_info: { host: 'fake', approximate_connection_time: 18_060 },
          connection_info: { app_id: 'A0FAULTLINE' },
        }),
      );
      this.emit('connected', socket);
    });
  }

  get connections(): number {
    return this.#server.clients.size;
  }

  /** Resolves when an app is connected. */
  async connected(): Promise<void> {
    if (this.connections === 0) await once(this, 'connected');
  }

  #onMessage(message: { envelope_id?: string; payload?: unknown }): void {
    if (message.envelope_id) this.#waiting.get(message.envelope_id)?.(message.payload);
  }

  /** Sends one envelope to one connection; `acknowledged` is false after Slack's three seconds. */
  async deliver(type: string, payload: unknown, envelopeId: string = randomUUID()): Promise<ActionAnswer> {
    await this.connected();
    const sockets = [...this.#server.clients].filter((socket) => socket.readyState === socket.OPEN);
    const socket = sockets[this.#next++ % sockets.length] as WebSocket;
    const answer = new Promise<ActionAnswer>((resolve) => {
      const timer = setTimeout(() => resolve({ envelopeId, acknowledged: false }), ackWithinMs);
      this.#waiting.set(envelopeId, (reply) => {
        clearTimeout(timer);
        resolve({ envelopeId, acknowledged: true, ...(reply === undefined ? {} : { payload: reply }) });
      });
    });
    socket.send(JSON.stringify({ type, envelope_id: envelopeId, payload, accepts_response_payload: true }));
    return answer.finally(() => this.#waiting.delete(envelopeId));
  }

  /** Slack asks the app to reconnect, as it does every few hours. */
  refresh(): void {
    for (const socket of this.#server.clients) {
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
    }
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }
}
