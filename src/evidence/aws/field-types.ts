import { fieldTypes } from '../well-formed.ts';

/** Types of the fields of AWS' answers that triage reads, by name: the SDK's own, the same in every service. */
export const awsFields = fieldTypes({
  number: 'AvailableIpAddressCount Code DesiredCapacity MaxSize MinSize Port Value desiredSize maxSize minSize',
  flag: 'Main enabled',
  texts: `AvailabilityZones QueueUrls Resources accessEntries kubernetesGroups resourceIds securityGroupIds subnetIds
    subnets updateIds`,
  map: 'Attributes labels tags',
  object: `Association AttachedEbsStatus Attachment Ebs Error IamInstanceProfile InstanceState InstanceStatus Role Spec
    State StateReason Status SystemStatus TargetHealth accessEntry addon certificateAuthority cluster event
    eventDescription fargateProfile health identity logging nodegroup oidc resources resourcesVpcConfig scalingConfig
    update`,
  objects: `Activities Associations AutoScalingGroups BlockDeviceMappings BrokerInstances BrokerSummaries DBInstances
    Details EntitySet Events Images Instances InstanceStatuses IpPermissions IpRanges LaunchTemplateVersions
    LoadBalancers NatGatewayAddresses NatGateways NetworkInterfaces Quotas Reservations Resources Routes RouteTables
    Rules SecurityGroups SpotInstanceRequests Subnets Tags TargetHealthDescriptions UserIdGroupPairs Volumes
    VpcEndpoints associatedAccessPolicies autoScalingGroups entities errors events failedSet imageDetails insights
    issues params selectors successfulSet`,
  text: `Action Arn AutoScalingGroupName AvailabilityZone AvailabilityZoneId BrokerId BrokerName BrokerState Cause
    CidrBlock CloudTrailEvent Code DBInstanceIdentifier DBInstanceStatus Description DestinationCidrBlock EndTime
    EventId EventName EventPattern EventSource EventTime GatewayId ImageId ImpairedSince InstanceId Key LaunchTime
    Message Name NatGatewayId NetworkInterfaceId NotBefore Reason ResourceName ResourceType RoleName RouteTableId
    StartTime State StateTransitionReason Status StatusCode StatusMessage SubnetId Type Username Value VolumeId VpcId
    addonName arn availabilityZone clusterName code createdAt endTime endpoint entityArn entityValue errorCode
    errorMessage eventArn eventScopeCode eventTypeCategory eventTypeCode fargateProfileName id lastUpdatedTime
    latestDescription message name namespace nodegroupName platformVersion policyArn principalArn region service
    startTime status statusCode type username value version`,
});
