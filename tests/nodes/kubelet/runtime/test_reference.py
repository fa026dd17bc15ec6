"""Names of images, as the table of their grammar."""

from __future__ import annotations

import pytest

from windtunnel.nodes.kubelet.runtime.reference import parse_reference, refusal

DIGEST = "sha256:" + "0" * 64

NAMES = {
    "busybox": "docker.io/library/busybox:latest",
    "busybox:1.36": "docker.io/library/busybox:1.36",
    "run-ai/gpu": "docker.io/run-ai/gpu:latest",
    "nvcr.io/nvidia/cuda:12.4": "nvcr.io/nvidia/cuda:12.4",
    "localhost/x": "localhost/x:latest",
    "127.0.0.1:25099/x:1": "127.0.0.1:25099/x:1",
    "registry.test:5000/team/missing:2": "registry.test:5000/team/missing:2",
    f"busybox@{DIGEST}": f"docker.io/library/busybox@{DIGEST}",
    "HOST/x": "HOST/x:latest",
}


@pytest.mark.parametrize(("text", "full"), NAMES.items())
def test_what_a_name_means(text: str, full: str) -> None:
    assert str(parse_reference(text)) == full


NONE = {
    "Nginx": "invalid reference format: repository name (library/Nginx) must be lowercase",
    "a b": "invalid reference format",
    "x:": "invalid reference format",
    "x@sha256:1": "invalid reference format",
    "-x": "invalid reference format",
    "x/" + "y" * 256: "repository name must not be more than 255 characters",
}


@pytest.mark.parametrize(("text", "why"), NONE.items())
def test_what_is_no_name(text: str, why: str) -> None:
    with pytest.raises(ValueError) as failed:
        parse_reference(text)

    assert str(failed.value) == why
    assert refusal(text, failed.value) == (
        f'Failed to apply default image tag "{text}": couldn\'t parse image name "{text}": {why}'
    )
