import type { TrailEvent } from '../aws.ts';

/** Calls that can cut nodes or pods off: routes, gateways, security groups, network ACLs, endpoints, interfaces, peerings. */
const cutting =
  /^(DisassociateRouteTable|ReplaceRouteTableAssociation|AssociateRouteTable|DeleteRoute|ReplaceRoute|DeleteRouteTable|DeleteNatGateway|DetachInternetGateway|DeleteInternetGateway|DetachVpnGateway|DeleteVpcEndpoints|ModifyVpcEndpoint|DeleteVpcPeeringConnection|DeleteTransitGatewayVpcAttachment|ModifyTransitGatewayVpcAttachment|DisassociateTransitGatewayRouteTable|DeleteTransitGatewayRoute|RevokeSecurityGroup(Ingress|Egress)|ModifySecurityGroupRules|DeleteSecurityGroup|CreateNetworkAclEntry|ReplaceNetworkAclEntry|DeleteNetworkAclEntry|ReplaceNetworkAclAssociation|DeleteNetworkAcl|ModifyNetworkInterfaceAttribute|DetachNetworkInterface|DeleteNetworkInterface|DisassociateAddress|ReleaseAddress|ModifySubnetAttribute|ModifyVpcAttribute|DeleteDhcpOptions|AssociateDhcpOptions|DisassociateVPCFromHostedZone|ModifyInstanceMetadataOptions|CreateFirewallPolicy|UpdateFirewallPolicy|AssociateResolverRule|DeleteResolverRule|UpdateFirewallRule)$/;

/** A change of the network by somebody of the account, that took effect. */
export const changesNetwork = (event: TrailEvent): boolean =>
  cutting.test(event.name) && event.service === '' && event.error === '';
