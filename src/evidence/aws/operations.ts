import { capitalised, type Operation, type Service } from './operation.ts';
import { arcZonalShift } from './services/arc-zonal-shift.ts';
import { autoscaling } from './services/autoscaling.ts';
import { cloudtrail } from './services/cloudtrail.ts';
import { cloudwatch } from './services/cloudwatch.ts';
import { ec2 } from './services/ec2.ts';
import { ecr } from './services/ecr.ts';
import { eks } from './services/eks.ts';
import { elbv2 } from './services/elbv2.ts';
import { events } from './services/events.ts';
import { health } from './services/health.ts';
import { iam } from './services/iam.ts';
import { logs } from './services/logs.ts';
import { mq } from './services/mq.ts';
import { rds } from './services/rds.ts';
import { servicequotas } from './services/servicequotas.ts';
import { sqs } from './services/sqs.ts';

/** Every AWS service that is read, by the first part of `service.operation`. */
export const services: Record<string, Service> = {
  'arc-zonal-shift': arcZonalShift,
  autoscaling,
  cloudtrail,
  cloudwatch,
  ec2,
  ecr,
  eks,
  elbv2,
  events,
  health,
  iam,
  logs,
  mq,
  rds,
  servicequotas,
  sqs,
};

export interface Known {
  service: Service;
  serviceName: string;
  /** e.g. `describeInstances` */
  name: string;
  operation: Operation;
}

/** An operation by `service.operation`; undefined where it has no reader. */
export const operationOf = (call: string): Known | undefined => {
  const [serviceName = '', name = ''] = call.split('.');
  const service = services[serviceName];
  const operation = service?.operations[name];
  return service && operation ? { service, serviceName, name, operation } : undefined;
};

export const operationNames = (): string[] =>
  Object.entries(services).flatMap(([service, { operations }]) =>
    Object.keys(operations).map((operation) => `${service}.${operation}`),
  );

/** `ec2.describeInstanceStatus` as IAM writes it: `ec2:DescribeInstanceStatus`. */
export const iamAction = (call: string): string => {
  const [service = '', name = ''] = call.split('.');
  return `${services[service]?.iam ?? service}:${capitalised(name)}`;
};
