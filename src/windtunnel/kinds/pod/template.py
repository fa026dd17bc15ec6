"""Pod templates: the kind of that name, and the part that every workload carries.

Workloads call ``default_template``, ``drop_disabled`` and ``validate_template``. A template is not
a pod: its requests are not filled from limits, and some things may still be open.
"""

from __future__ import annotations

from typing import Any, Final

from windtunnel.kinds.pod.annotations import validate_pod_annotations, validate_profiles
from windtunnel.kinds.pod.spec_defaults import default_pod_spec
from windtunnel.kinds.pod.spec_validation import validate_pod_spec
from windtunnel.kinds.pod.warnings import pod_warnings
from windtunnel.kinds.rules.checks import container_cells, name_warnings
from windtunnel.kinds.rules.metadata import validate_annotations, validate_labels
from windtunnel.kinds.served.declared import Declared
from windtunnel.kinds.served.kind import Context, Rules
from windtunnel.machinery.selectors import LabelSelector
from windtunnel.machinery.tree import Tree, dig
from windtunnel.machinery.violations import Violation, forbidden

_DISABLED_PROJECTIONS: Final = ("clusterTrustBundle", "podCertificate")


def default_template(template: Tree) -> None:
    """Set what every template of pods gets."""
    default_pod_spec(template.setdefault("spec", {}))


def drop_disabled(spec: Tree) -> None:
    """Forget fields that belong to features which v1.36 has switched off."""
    spec.pop("schedulingGroup", None)
    for key in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            lifecycle = container.get("lifecycle")
            if lifecycle:
                lifecycle.pop("stopSignal", None)
                if not lifecycle:
                    del container["lifecycle"]
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            for key in _DISABLED_PROJECTIONS:
                source.pop(key, None)


def validate_template(template: Tree, field: str) -> list[Violation]:
    """Judge a template: labels, annotations and spec."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    found = validate_labels(metadata.get("labels"), f"{field}.labels")
    annotations = metadata.get("annotations")
    if annotations:
        where = f"{field}.annotations"
        found += validate_annotations(annotations, where)
        found += validate_pod_annotations(annotations, spec, where)
    found += validate_pod_spec(spec, f"{field}.spec", is_pod=False)
    if annotations:
        found += validate_profiles(annotations, spec, f"{field}.spec")
    if spec.get("ephemeralContainers"):
        text = "ephemeral containers not allowed in pod template"
        found.append(forbidden(f"{field}.spec.ephemeralContainers", text))
    return found


def template_warnings(template: Tree, field: str) -> list[str]:
    """Return the warnings for a template."""
    metadata = template.get("metadata") or {}
    return pod_warnings(template.get("spec") or {}, metadata, f"{field}.", template=True)


def replica_warnings(new: Tree, old: Tree | None) -> list[str]:
    """Warn of the name at a create, and of spec.template whenever it is another one."""
    template = (new.get("spec") or {}).get("template") or {}
    if old is None:
        return name_warnings(new) + template_warnings(template, "spec.template")
    if template == (old.get("spec") or {}).get("template"):
        return []
    return template_warnings(template, "spec.template")


def _default(tree: Tree) -> None:
    default_template(tree.setdefault("template", {}))


def _prepare(tree: Tree, _: Context) -> None:
    drop_disabled(dig(tree, "template", "spec") or {})


def _prepare_update(new: Tree, _: Tree, context: Context) -> None:
    _prepare(new, context)


def _validate(tree: Tree) -> list[Violation]:
    return validate_template(tree.get("template") or {}, "template")


def _validate_update(new: Tree, _: Tree) -> list[Violation]:
    return _validate(new)


def _warnings(new: Tree, old: Tree | None) -> list[str]:
    return template_warnings(new.get("template") or {}, "template")


def _cells(tree: Tree, _: float) -> list[Any]:
    template = tree.get("template") or {}
    labels = dig(template, "metadata", "labels")
    return [
        dig(tree, "metadata", "name") or "",
        *container_cells(template),
        str(LabelSelector.from_labels(labels)) or "<none>",
    ]


DECLARATIONS: Final = {
    "podtemplates": Declared(
        generation="custom",
        delete_answer="object",
        rules=Rules(
            default=_default,
            prepare_create=_prepare,
            prepare_update=_prepare_update,
            validate_create=_validate,
            validate_update=_validate_update,
            warnings=_warnings,
            cells=_cells,
        ),
    )
}
