from __future__ import annotations

import pytest

from windtunnel.kinds.rules.device_requests import (
    asks_for_admin_access,
    default_devices,
    validate_attribute_name,
    validate_devices,
)
from windtunnel.machinery.tree import Tree


def test_one_device_is_meant_unless_a_request_says_otherwise() -> None:
    devices: Tree = {"requests": [{"exactly": {}}, {"firstAvailable": [{"count": 2}]}]}
    default_devices(devices)

    assert devices["requests"][0]["exactly"] == {"allocationMode": "ExactCount", "count": 1}
    assert devices["requests"][1]["firstAvailable"][0]["count"] == 2


def test_configuration_may_name_one_alternative() -> None:
    alternative = {"name": "big", "deviceClassName": "x", "allocationMode": "All"}
    opaque = {"driver": "d.x", "parameters": {}}
    devices: Tree = {
        "requests": [{"name": "g", "firstAvailable": [alternative]}],
        "config": [{"requests": ["g/big", "g"], "opaque": opaque}],
    }

    assert validate_devices(devices, "spec.devices") == []


@pytest.mark.parametrize(
    ("name", "fine"), [("memory", True), ("gpu.x/memory", True), ("a b", False), ("gpu.x/", False)]
)
def test_names_of_attributes(name: str, fine: bool) -> None:
    assert (validate_attribute_name(name, "f") == []) is fine


def test_who_asks_for_admin_access_is_told() -> None:
    requests = [{"name": "a", "exactly": {"adminAccess": True}}]

    assert asks_for_admin_access({"spec": {"devices": {"requests": requests}}}) == [
        "spec.devices.requests[0].adminAccess"
    ]
