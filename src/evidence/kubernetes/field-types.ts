import { fieldTypes } from '../well-formed.ts';

/**
 * Types of the fields that triage reads, by name alone: Kubernetes' API conventions give a name the same type in every
 * kind, and the few exceptions are listed under each of theirs.
 */
export const kubernetesFields = fieldTypes({
  time: `acquireTime completionTime creationTimestamp deletionTimestamp deprecatedFirstTimestamp
    deprecatedLastTimestamp eventTime finishedAt firstTimestamp lastHeartbeatTime lastObservedTime lastProbeTime
    lastScaleTime lastScheduleTime lastSuccessfulTime lastTimestamp lastTransitionTime lastUpdateTime notAfter
    renewTime renewalTime startTime startedAt time timeAdded`,
  number: `active activeDeadlineSeconds availableReplicas averageUtilization backoffLimit containerPort count
    currentHealthy currentNumberScheduled currentReplicas deprecatedCount desiredHealthy desiredNumberScheduled
    desiredReplicas disruptionsAllowed exitCode expectedPods failed failureThreshold generation hostPort
    initialDelaySeconds leaseDurationSeconds leaseTransitions maxPods maxReplicas maxReplicaCount maxSkew maxUnavailable
    minAvailable minReplicas minReplicaCount nodes numberReady numberUnavailable observedGeneration periodSeconds port
    priority progressDeadlineSeconds ready readyReplicas replicas restartCount signal succeeded successThreshold
    suspend targetPort terminationGracePeriodSeconds timeoutSeconds unavailableReplicas updatedReplicas weight maxSurge`,
  flag: 'controller hostNetwork ready serving started suspend terminating unschedulable',
  texts: `accessModes addresses apiGroups args command finalizers operations policyTypes resources values`,
  quantities: 'allocatable capacity default defaultRequest hard limits max min requests used',
  map: 'annotations binaryData data labels matchLabels nodeSelector parameters tags',
  object: `affinity aggregate awsElasticBlockStore azureDisk backend clientConfig conditions configMap configMapKeyRef
    configMapRef container csi current defaultBackend disruption emptyDir exec external gcePersistentDisk hostPath http
    httpGet initialDelay involvedObject jobTemplate kubelet labelSelector lastState loadBalancer metadata metric
    namespaceSelector nodeAffinity nodeClassRef nodeInfo object objectSelector persistentVolumeClaim placementGroup
    placementGroupSelector podAffinity podAntiAffinity podSelector pods preemption provider readinessProbe livenessProbe
    startupProbe regarding related required requiredDuringSchedulingIgnoredDuringExecution resource resources
    rollingUpdate running scaleTargetRef secretKeyRef secretRef securityContext securityGroups selector series service
    source spec state status strategy target targetRef tcpSocket template terminated updateStrategy valueFrom waiting
    deprecatedSource grpc lifecycle preStop nodes port`,
  objects: `active addresses amiSelectorTerms amis budgets conditions containerRecommendations containerStatuses containers
    currentMetrics drivers egress endpoints env envFrom ephemeralContainers from images ingress initContainerStatuses
    initContainers items managedFields matchExpressions matchFields metrics nodeSelectorTerms ownerReferences parameters paths
    ports preferredDuringSchedulingIgnoredDuringExecution readinessGates requirements resources rules securityGroups
    securityGroupSelectorTerms sources startupTaints subjects subnetSelectorTerms subnets taints templates to
    tolerations topologySpreadConstraints triggers volumeMounts volumes webhooks limits
    requiredDuringSchedulingIgnoredDuringExecution podFailurePolicyRules schedulingGates imagePullSecrets http`,
  opaque: 'fieldsV1',
  // Last: a number is a text too.
  text: `action address amiFamily apiVersion architecture audience claimName clusterIP component container concurrencyPolicy
    containerID containerRuntimeVersion cpu currentRevision driver effect externalTrafficPolicy failurePolicy fieldPath
    group holderIdentity host hostname id image imageID ip kernelVersion key kind kubeletVersion manager memory message
    name namespace nodeName note operator osImage path phase podIP policy poolID progress protocol provider providerID
    provisioner reason reportingComponent reportingController reportingInstance resourceVersion restartPolicy role
    roleARN schedule schedulerName scope secretName service serviceAccountName serviceName state status
    storageClassName subresource template topologyKey type uid updateRevision url userData value version volumeHandle
    volumeID volumeMode volumeName whenUnsatisfiable zone zoneID count nodes maxUnavailable minAvailable maxSurge
    targetPort port currentValue pods strategy volumeBindingMode`,
});
