from collections.abc import Iterator

import grpc

from windtunnel.wire import deviceplugin_pb2 as pb

class RegistrationStub:
    def __init__(self, channel: grpc.Channel) -> None: ...
    Register: grpc.UnaryUnaryMultiCallable[pb.RegisterRequest, pb.Empty]

class RegistrationServicer:
    def Register(
        self, request: pb.RegisterRequest, context: grpc.ServicerContext
    ) -> pb.Empty: ...

def add_RegistrationServicer_to_server(
    servicer: RegistrationServicer, server: grpc.Server
) -> None: ...

class DevicePluginStub:
    def __init__(self, channel: grpc.Channel) -> None: ...
    GetDevicePluginOptions: grpc.UnaryUnaryMultiCallable[pb.Empty, pb.DevicePluginOptions]
    ListAndWatch: grpc.UnaryStreamMultiCallable[pb.Empty, pb.ListAndWatchResponse]
    GetPreferredAllocation: grpc.UnaryUnaryMultiCallable[pb.PreferredAllocationRequest, pb.PreferredAllocationResponse]
    Allocate: grpc.UnaryUnaryMultiCallable[pb.AllocateRequest, pb.AllocateResponse]
    PreStartContainer: grpc.UnaryUnaryMultiCallable[pb.PreStartContainerRequest, pb.PreStartContainerResponse]

class DevicePluginServicer:
    def GetDevicePluginOptions(
        self, request: pb.Empty, context: grpc.ServicerContext
    ) -> pb.DevicePluginOptions: ...
    def ListAndWatch(
        self, request: pb.Empty, context: grpc.ServicerContext
    ) -> Iterator[pb.ListAndWatchResponse]: ...
    def GetPreferredAllocation(
        self, request: pb.PreferredAllocationRequest, context: grpc.ServicerContext
    ) -> pb.PreferredAllocationResponse: ...
    def Allocate(
        self, request: pb.AllocateRequest, context: grpc.ServicerContext
    ) -> pb.AllocateResponse: ...
    def PreStartContainer(
        self, request: pb.PreStartContainerRequest, context: grpc.ServicerContext
    ) -> pb.PreStartContainerResponse: ...

def add_DevicePluginServicer_to_server(
    servicer: DevicePluginServicer, server: grpc.Server
) -> None: ...
