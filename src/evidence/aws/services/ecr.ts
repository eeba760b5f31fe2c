import { type Service, sdkClient } from '../operation.ts';

const maxImages = 3;
const reference =
  /^(?<registryId>\d{12})\.dkr\.ecr\.(?<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/(?<repositoryName>[^:@]+)(?::(?<imageTag>[^@]+))?(?:@(?<imageDigest>.+))?$/;

export const ecr: Service = {
  iam: 'ecr',
  budget: { perSecond: 1, burst: 3 },
  token: { from: 'nextToken', to: 'nextToken' },
  load: async (settings) => sdkClient(await import('@aws-sdk/client-ecr'), 'ECRClient', settings),
  operations: {
    describeImages: {
      requests: ({ images, region }) =>
        images
          .map((image) => reference.exec(image)?.groups)
          .filter((found) => found?.region === region)
          .slice(0, maxImages)
          .map((found) => ({
            registryId: found!.registryId,
            repositoryName: found!.repositoryName,
            imageIds: [
              found!.imageDigest ? { imageDigest: found!.imageDigest } : { imageTag: found!.imageTag ?? 'latest' },
            ],
          })),
      list: 'imageDetails',
    },
  },
};
