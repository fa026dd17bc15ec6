from collections.abc import Iterator

import grpc

from windtunnel.wire import podresources_alpha_pb2 as pb

class PodResourcesListerStub:
    def __init__(self, channel: grpc.Channel) -> None: ...
    List: grpc.UnaryUnaryMultiCallable[pb.ListPodResourcesRequest, pb.ListPodResourcesResponse]

class PodResourcesListerServicer:
    def List(
        self, request: pb.ListPodResourcesRequest, context: grpc.ServicerContext
    ) -> pb.ListPodResourcesResponse: ...

def add_PodResourcesListerServicer_to_server(
    servicer: PodResourcesListerServicer, server: grpc.Server
) -> None: ...
