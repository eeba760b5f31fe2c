import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };

/** As `npm start` gives them. */
const nodeFlags = packageJson.scripts.start.split(' ').filter((word) => word.startsWith('--'));
const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const crashing = fileURLToPath(new URL('./crashing/preload.ts', import.meta.url));

export const webhookToken = 'token-of-the-alertmanager';

/** Nothing of the settings of whoever runs the tests; compiled code is shared, since every start costs. */
const inherited = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: join(tmpdir(), 'faultline-compile-cache') };

export interface ProcessOptions {
  env: Record<string, string>;
  command?: 'serve' | 'worker';
  /** A step that `crashing/` names, at which the process kills itself. */
  crashAt?: string;
}

/** `faultline serve` or `worker` as a process of its own, as users run it. */
export class Faultline {
  readonly #child: ChildProcess;
  readonly #output: string[];
  readonly #folder: string;
  /** Where it listens; empty for a worker. */
  readonly url: string;
  /** How the process ended: an exit code or a signal. */
  readonly ended: Promise<number | NodeJS.Signals>;

  private constructor(child: ChildProcess, output: string[], folder: string, url: string, ended: Faultline['ended']) {
    this.#child = child;
    this.#output = output;
    this.#folder = folder;
    this.url = url;
    this.ended = ended;
  }

  /** Resolves when it is ready; rejects with all it wrote when it ends before. */
  static async start({ env, command = 'serve', crashAt }: ProcessOptions): Promise<Faultline> {
    const folder = await mkdtemp(join(tmpdir(), 'faultline-process-'));
    const preload = crashAt ? ['--import', crashing] : [];
    const child = spawn(process.execPath, [...nodeFlags, ...preload, cli, command], {
      // An empty folder: no faultline.yaml and no owners but those the test names.
      cwd: folder,
      env: { ...inherited, HOME: folder, ...(crashAt && { CRASH_AT: crashAt }), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output: string[] = [];
    child.stderr!.setEncoding('utf8').on('data', (text: string) => output.push(text));
    const ended = once(child, 'close').then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals);
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).on('line', (line) => {
        output.push(`${line}\n`);
        const found = /serves on (\S+);|works on triage jobs/.exec(line);
        if (found) resolve(found[1] ?? '');
      });
      ended.then(async (how) => {
        await rm(folder, { recursive: true, force: true });
        reject(new Error(`faultline ${command} ended with ${how}:\n${output.join('')}`));
      });
    });
    return new Faultline(child, output, folder, url, ended);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** All it has written so far, log and words. */
  get output(): string {
    return this.#output.join('');
  }

  /** Ends it as a crash does. */
  kill(): Promise<number | NodeJS.Signals> {
    return this.#end('SIGKILL');
  }

  /** Ends it as an operator does. */
  stop(): Promise<number | NodeJS.Signals> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    this.#child.kill(signal);
    const how = await this.ended;
    await rm(this.#folder, { recursive: true, force: true });
    return how;
  }

  /** Posts a webhook body as Alertmanager does; the answer's status, or null where the connection broke. */
  async post(body: string): Promise<number | null> {
    const headers = { authorization: `Bearer ${webhookToken}`, 'content-type': 'application/json' };
    const request = fetch(`${this.url}/webhooks/alertmanager`, { method: 'POST', headers, body });
    return request.then(
      (response) => response.status,
      () => null,
    );
  }

  /** Messages planned and not yet sent. */
  async outboxDepth(): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(/^faultline_outbox_messages (\S+)$/m.exec(text)?.[1]);
  }
}
