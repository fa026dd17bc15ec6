"""The admission plugins, each by what it does to requests."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.apiserver.api import Api, config, obj
from windtunnel.machinery.admission import Act, Panel, Petition, Reply
from windtunnel.machinery.tree import decode

GPU = "nvidia.com/gpu"
TABLE_OF_PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "x", "resources": resources}


# Service accounts


def test_a_pod_gets_its_account_and_token(api: Api, ns: str) -> None:
    spec = api.pod(ns)["spec"]

    assert spec["serviceAccountName"] == spec["serviceAccount"] == "default"
    (volume,) = spec["volumes"]
    (mount,) = spec["containers"][0]["volumeMounts"]
    assert volume["name"] == mount["name"]
    assert mount["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"


def test_a_pod_or_its_account_may_decline_the_token(api: Api, ns: str) -> None:
    assert "volumes" not in api.pod(ns, automountServiceAccountToken=False)["spec"]
    api.patch(f"{ns}/serviceaccounts/default", {"automountServiceAccountToken": False})
    assert "volumes" not in api.pod(ns, "q")["spec"]


def test_pull_secrets_come_with_the_account(api: Api, ns: str) -> None:
    api.patch(f"{ns}/serviceaccounts/default", {"imagePullSecrets": [{"name": "s"}]})

    assert api.pod(ns)["spec"]["imagePullSecrets"] == [{"name": "s"}]


def test_an_account_must_exist(api: Api, ns: str) -> None:
    pod = obj("v1", "Pod", "p", spec={"containers": [container()], "serviceAccountName": "x"})

    code, text = api.refused("POST", f"{ns}/pods", pod)
    assert code == 403
    assert text.endswith('error looking up service account ns/x: serviceaccount "x" not found')


# Priority


def test_priority_comes_from_the_class(api: Api, ns: str) -> None:
    never = obj("scheduling.k8s.io/v1", "PriorityClass", "c", value=7, preemptionPolicy="Never")
    api.post(TABLE_OF_PRIORITIES, never)

    spec = api.pod(ns, priorityClassName="c")["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (7, "Never")
    pod = obj("v1", "Pod", "q", spec={"containers": [container()], "priority": 5})
    assert "must not be provided in pod spec" in api.refused("POST", f"{ns}/pods", pod)[1]
    pod["spec"] = {"containers": [container()], "priorityClassName": "x"}
    assert "no PriorityClass with name x was found" in api.refused("POST", f"{ns}/pods", pod)[1]


def test_there_is_one_default_class(api: Api, ns: str) -> None:
    default = obj("scheduling.k8s.io/v1", "PriorityClass", "d", value=3, globalDefault=True)
    api.post(TABLE_OF_PRIORITIES, default)

    assert api.pod(ns)["spec"]["priorityClassName"] == "d"
    second = {**default, "metadata": {"name": "e"}}
    assert "already marked as default" in api.refused("POST", TABLE_OF_PRIORITIES, second)[1]


# Tolerations and taints


def test_pods_tolerate_sick_nodes_for_a_while(api: Api, ns: str) -> None:
    own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 9,
           "effect": "NoExecute"}  # fmt: skip

    found = api.pod(ns, tolerations=[own])["spec"]["tolerations"]
    assert [each["tolerationSeconds"] for each in found] == [9, 300]
    everything = [{"operator": "Exists"}]
    assert api.pod(ns, "q", tolerations=everything)["spec"]["tolerations"] == everything


def test_a_new_node_is_not_ready(api: Api) -> None:
    node = api.post("/api/v1/nodes", obj("v1", "Node", "n"))

    assert node["spec"]["taints"] == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    ]


@pytest.mark.parametrize(("switched_on", "count"), [(False, 2), (True, 3)])
def test_extended_resources_are_tolerated_on_demand(switched_on: bool, count: int) -> None:
    api = Api(extended_resource_toleration=switched_on)
    path = api.namespace()

    spec = api.pod(path, containers=[container(limits={GPU: 1})])["spec"]

    assert len(spec["tolerations"]) == count
    assert ({"key": GPU, "operator": "Exists"} in spec["tolerations"]) is switched_on


# Runtime classes


def test_a_runtime_class_adds_overhead_and_placement(api: Api, ns: str) -> None:
    kata = obj(
        "node.k8s.io/v1", "RuntimeClass", "kata", handler="kata",
        overhead={"podFixed": {"cpu": "250m"}},
        scheduling={
            "nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}],
        },
    )  # fmt: skip
    api.post("/apis/node.k8s.io/v1/runtimeclasses", kata)

    spec = api.pod(ns, runtimeClassName="kata")["spec"]
    assert (spec["overhead"], spec["nodeSelector"]) == ({"cpu": "250m"}, {"a": "b"})
    assert {"key": "k", "operator": "Exists"} in spec["tolerations"]

    def refused(**given: Any) -> str:
        pod = obj("v1", "Pod", "q", spec={"containers": [container()], **given})
        return api.refused("POST", f"{ns}/pods", pod)[1]

    assert "conflict: runtimeClass.scheduling.nodeSelector[a] = b" in refused(
        runtimeClassName="kata", nodeSelector={"a": "c"}
    )
    assert 'RuntimeClass "x" not found' in refused(runtimeClassName="x")
    assert "without corresponding RuntimeClass" in refused(overhead={"cpu": "1"})


# Limit ranges


def limit(api: Api, path: str, **item: Any) -> None:
    api.post(f"{path}/limitranges", obj("v1", "LimitRange", "l", spec={"limits": [item]}))


def test_a_limit_range_fills_in_what_is_not_stated(api: Api, ns: str) -> None:
    limit(api, ns, type="Container", default={GPU: "1"}, defaultRequest={"cpu": "100m"})

    pod = api.pod(ns)
    assert pod["spec"]["containers"][0]["resources"] == {
        "limits": {GPU: "1"},
        "requests": {"cpu": "100m", GPU: "1"},
    }
    assert pod["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        f"LimitRanger plugin set: cpu, {GPU} request for container c; {GPU} limit for container c"
    )


BOUNDS = {
    "too much": ({"type": "Container", "max": {GPU: 2}}, {"limits": {GPU: 4}},
                 "maximum nvidia.com/gpu usage per Container is 2, but limit is 4"),
    "nothing said": ({"type": "Pod", "max": {"cpu": 2}}, {},
                     "maximum cpu usage per Pod is 2. No limit is specified"),
    "too little": ({"type": "Container", "min": {"cpu": "100m"}}, {"requests": {"cpu": "10m"}},
                   "minimum cpu usage per Container is 100m, but request is 10m"),
    "too far apart": (
        {"type": "Container", "maxLimitRequestRatio": {"cpu": 2}},
        {"limits": {"cpu": 3}, "requests": {"cpu": 1}},
        "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
    ),
    "together": ({"type": "Pod", "max": {"memory": "4Gi"}}, {"limits": {"memory": "6Gi"}},
                 "maximum memory usage per Pod is 4Gi, but limit is 6Gi"),
}  # fmt: skip


@pytest.mark.parametrize(("item", "resources", "words"), BOUNDS.values(), ids=BOUNDS)
def test_a_limit_range_bounds(
    api: Api, ns: str, item: dict[str, Any], resources: dict[str, Any], words: str
) -> None:
    limit(api, ns, **item)
    pod = obj("v1", "Pod", "p", spec={"containers": [container(**resources)]})

    code, text = api.refused("POST", f"{ns}/pods", pod)
    assert code == 403
    assert words in text


def test_a_limit_range_bounds_claims(api: Api, ns: str) -> None:
    limit(api, ns, type="PersistentVolumeClaim", max={"storage": "1Gi"})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}}

    claim = obj("v1", "PersistentVolumeClaim", "c", spec=spec)
    assert "but request is 5Gi" in api.refused("POST", f"{ns}/persistentvolumeclaims", claim)[1]


# Quotas


def quota(api: Api, path: str, spec: dict[str, Any] | None = None, **hard: Any) -> None:
    body = obj("v1", "ResourceQuota", "q", spec={"hard": hard, **(spec or {})})
    api.post(f"{path}/resourcequotas", body)
    used = dict.fromkeys(hard, "0")
    api.patch(f"{path}/resourcequotas/q/status", {"status": {"hard": hard, "used": used}})


def ask(api: Api, path: str, name: str, **resources: Any) -> str:
    pod = obj("v1", "Pod", name, spec={"containers": [container(**resources)]})
    status, tree = api.send("POST", f"{path}/pods", pod)
    return "" if status == 201 else str(tree["message"])


def test_a_quota_counts_what_it_lets_in(api: Api, ns: str) -> None:
    quota(api, ns, **{f"requests.{GPU}": 2})

    assert ask(api, ns, "a", limits={GPU: 2}) == ""
    assert ask(api, ns, "b", limits={GPU: 1}) == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=1, '
        "used: requests.nvidia.com/gpu=2, limited: requests.nvidia.com/gpu=2"
    )
    assert ask(api, ns, "c") == ""
    status = api.get(f"{ns}/resourcequotas/q")["status"]
    assert status["used"] == {f"requests.{GPU}": "2"}


def test_a_dry_run_is_not_counted(api: Api, ns: str) -> None:
    quota(api, ns, pods=1)
    api.post(f"{ns}/pods?dryRun=All", obj("v1", "Pod", "a", spec={"containers": [container()]}))

    assert ask(api, ns, "a") == ""
    assert "exceeded quota" in ask(api, ns, "b")


def test_what_is_counted_must_be_stated(api: Api, ns: str) -> None:
    quota(api, ns, **{"requests.cpu": 2, "limits.memory": "1Gi"})

    assert "must specify limits.memory for: c; requests.cpu for: c" in ask(api, ns, "a")


def test_a_quota_looks_only_at_its_scope(api: Api, ns: str) -> None:
    quota(api, ns, {"scopes": ["NotBestEffort"]}, pods=0)

    assert ask(api, ns, "a") == ""
    assert "exceeded quota" in ask(api, ns, "b", requests={"cpu": 1})


def test_objects_are_counted_by_resource(api: Api, ns: str) -> None:
    quota(api, ns, **{"count/configmaps": 1})

    api.post(f"{ns}/configmaps", config("a"))
    assert "count/configmaps=1" in api.refused("POST", f"{ns}/configmaps", config("b"))[1]


# Storage


def test_claims_get_the_newest_default_class_and_protection(api: Api, ns: str) -> None:
    for name, default in (("plain", "false"), ("best", "true")):
        marked = {"annotations": {"storageclass.kubernetes.io/is-default-class": default}}
        body = obj("storage.k8s.io/v1", "StorageClass", name, metadata=marked, provisioner="p")
        api.post("/apis/storage.k8s.io/v1/storageclasses", body)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}

    claim = api.post(
        f"{ns}/persistentvolumeclaims", obj("v1", "PersistentVolumeClaim", "c", spec=spec)
    )
    assert claim["spec"]["storageClassName"] == "best"
    assert claim["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]


# Pod security


def test_pod_security_enforces_and_warns(api: Api, ns: str) -> None:
    label = "pod-security.kubernetes.io/"
    api.patch(
        ns, {"metadata": {"labels": {f"{label}enforce": "baseline", f"{label}warn": "restricted"}}}
    )

    plain = api.answer(
        "POST", f"{ns}/pods", obj("v1", "Pod", "a", spec={"containers": [container()]})
    )
    assert plain.status == 201
    (warning,) = [value for name, value in plain.headers if name == "Warning"]
    assert "allowPrivilegeEscalation != false" in warning
    risky = {**container(), "securityContext": {"privileged": True}}
    pod = obj("v1", "Pod", "b", spec={"containers": [risky], "hostNetwork": True})
    text = api.refused("POST", f"{ns}/pods", pod)[1]
    assert 'violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)' in text
    assert 'privileged (container "c" must not set securityContext.privileged=true)' in text


# Services


def service(name: str, **spec: Any) -> dict[str, Any]:
    return obj("v1", "Service", name, spec={"ports": [{"port": 80}], **spec})


def test_services_get_addresses_and_node_ports(api: Api, ns: str) -> None:
    one = api.post(f"{ns}/services", service("a", type="NodePort"))["spec"]
    two = api.post(f"{ns}/services", service("b"))["spec"]

    assert one["clusterIP"] != two["clusterIP"]
    assert one["clusterIP"].startswith("10.96.")
    assert 30000 <= one["ports"][0]["nodePort"] <= 32767
    headless = api.post(f"{ns}/services", service("c", clusterIP="None"))["spec"]
    assert headless["clusterIPs"] == ["None"]


def test_an_address_belongs_to_one_service_until_it_goes(api: Api, ns: str) -> None:
    api.post(f"{ns}/services", service("a", clusterIP="10.96.7.7"))

    taken = service("b", clusterIP="10.96.7.7")
    assert "already allocated" in api.refused("POST", f"{ns}/services", taken)[1]
    outside = service("b", clusterIP="10.1.2.3")
    assert "not in the valid range" in api.refused("POST", f"{ns}/services", outside)[1]
    api.delete(f"{ns}/services/a")
    assert api.post(f"{ns}/services", taken)["spec"]["clusterIP"] == "10.96.7.7"


# Namespaces


def test_nothing_is_created_where_there_is_no_namespace(api: Api) -> None:
    assert api.refused("POST", "/api/v1/namespaces/no/configmaps", config("m")) == (
        404,
        'namespaces "no" not found',
    )
    code, text = api.refused("DELETE", "/api/v1/namespaces/kube-system")
    assert code == 403
    assert text.endswith("this namespace may not be deleted")


# Webhooks

HOOKS = "/apis/admissionregistration.k8s.io/v1"


def hook(sort: str, **fields: Any) -> dict[str, Any]:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    webhook = {
        "name": "a.b.c", "clientConfig": {"url": "https://x/y"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": [rule], **fields,
    }  # fmt: skip
    kind = f"{sort.capitalize()}WebhookConfiguration"
    return obj("admissionregistration.k8s.io/v1", kind, "w", webhooks=[webhook])


class Answering:
    """Answers asks of an Api as they come."""

    def __init__(self, api: Api, **response: Any) -> None:
        self._api, self._response = api, response

    def pop(self, _: int) -> Reply:
        uid = msgspec.json.decode(self._api.asked[-1].body)["request"]["uid"]
        return Reply(body=msgspec.json.encode({"response": {"uid": uid, **self._response}}))

    def __bool__(self) -> bool:
        return True


def test_a_webhook_is_asked_with_the_whole_story(api: Api, ns: str) -> None:
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating", timeoutSeconds=3))
    api.replies = Answering(api, allowed=True, warnings=["careful"])  # type: ignore[assignment]

    answer = api.answer("POST", f"{ns}/configmaps", config("m"))

    assert answer.status == 201
    assert ("Warning", '299 - "careful"') in answer.headers
    (asked,) = api.asked
    assert (asked.url, asked.timeout_seconds) == ("https://x/y?timeout=3s", 3.0)
    request = msgspec.json.decode(asked.body)["request"]
    assert (request["operation"], request["name"], request["namespace"]) == ("CREATE", "m", "ns")
    assert request["userInfo"]["username"] == "admin"
    assert (
        request["object"]["metadata"]["uid"] == msgspec.json.decode(answer.body)["metadata"]["uid"]
    )


def test_a_webhook_says_no_in_its_own_words(api: Api, ns: str) -> None:
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating"))
    api.replies = Answering(api, allowed=False, status={"code": 418, "message": "no"})  # type: ignore[assignment]

    assert api.refused("POST", f"{ns}/configmaps", config("m")) == (
        418,
        'admission webhook "a.b.c" denied the request: no',
    )


def test_a_webhook_changes_objects(api: Api, ns: str) -> None:
    api.post(f"{HOOKS}/mutatingwebhookconfigurations", hook("mutating"))
    patch = base64.b64encode(b'[{"op":"add","path":"/data","value":{"a":"b"}}]').decode()
    api.replies = Answering(api, allowed=True, patch=patch, patchType="JSONPatch")  # type: ignore[assignment]

    assert api.post(f"{ns}/configmaps", config("m"))["data"] == {"a": "b"}


@pytest.mark.parametrize(("policy", "status"), [("Fail", 500), ("Ignore", 201)])
def test_a_failing_webhook(api: Api, ns: str, policy: str, status: int) -> None:
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating", failurePolicy=policy))

    assert api.send("POST", f"{ns}/configmaps", config("m"))[0] == status


UNASKED = {
    "another resource": ({}, "secrets"),
    "another namespace": ({"namespaceSelector": {"matchLabels": {"x": "y"}}}, "configmaps"),
    "another object": ({"objectSelector": {"matchLabels": {"x": "y"}}}, "configmaps"),
}


@pytest.mark.parametrize(("fields", "plural"), UNASKED.values(), ids=UNASKED)
def test_a_webhook_is_asked_only_about_what_it_wants(
    api: Api, ns: str, fields: dict[str, Any], plural: str
) -> None:
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating", **fields))

    api.post(f"{ns}/{plural}", {"metadata": {"name": "m"}})

    assert api.asked == []


def test_a_webhook_with_side_effects_forbids_dry_runs(api: Api, ns: str) -> None:
    unsure = hook("validating")
    unsure["webhooks"][0]["sideEffects"] = "NoneOnDryRun"
    api.post(f"{HOOKS}/validatingwebhookconfigurations", unsure)
    api.replies = Answering(api, allowed=True)  # type: ignore[assignment]

    assert api.post(f"{ns}/configmaps?dryRun=All", config("m"))["metadata"]["name"] == "m"


def test_a_webhook_of_a_service_is_called_at_its_endpoint(api: Api, ns: str) -> None:
    api.post(f"{ns}/services", service("s", ports=[{"port": 443, "targetPort": 9443}]))
    labels = {"labels": {"kubernetes.io/service-name": "s"}}
    slices = f"/apis/discovery.k8s.io/v1{ns.removeprefix('/api/v1')}/endpointslices"
    api.post(
        slices,
        obj(
            "discovery.k8s.io/v1", "EndpointSlice", "s-1", metadata=labels, addressType="IPv4",
            endpoints=[{"addresses": ["10.42.0.5"]}], ports=[{"name": "", "port": 9443}],
        ),
    )  # fmt: skip
    client = {"service": {"name": "s", "namespace": "ns", "path": "/v"}}
    api.post(f"{HOOKS}/validatingwebhookconfigurations", hook("validating", clientConfig=client))
    api.replies = Answering(api, allowed=True)  # type: ignore[assignment]

    api.post(f"{ns}/configmaps", config("m"))

    (asked,) = api.asked
    assert asked.url.startswith("https://10.42.0.5:9443/v")
    assert asked.server_name == "s.ns.svc"


# Policies


def test_a_policy_in_cel_warns_that_it_is_not_enforced(api: Api) -> None:
    binding = obj(
        "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "b",
        spec={"policyName": "p", "validationActions": ["Deny"]},
    )  # fmt: skip

    answer = api.answer("POST", f"{HOOKS}/validatingadmissionpolicybindings", binding)

    assert answer.status == 201
    assert any("not enforced here" in value for _, value in answer.headers)


class OnlyNamed:
    """A rule as another room would write it: it changes, and refuses."""

    def concerns(self, act: Act) -> bool:
        return act.resource == "configmaps" and act.operation == "CREATE"

    def mutate(self, petition: Petition) -> None:
        assert petition.new is not None
        petition.new["metadata"]["labels"] = {"by": petition.user.name}

    def judge(self, petition: Petition) -> None:
        petition.warn("looked at")
        if petition.name == "bad":
            raise petition.refusal("not that name")


def test_rules_of_other_rooms_have_their_say() -> None:
    rule = OnlyNamed()
    api = Api(plugins=lambda _: Panel(mutators=[rule], judges=[rule]))
    path = f"{api.namespace()}/configmaps"

    made = api.answer("POST", path, obj("v1", "ConfigMap", "good"))
    assert decode(made.body)["metadata"]["labels"] == {"by": "admin"}
    assert ("warning", '299 - "looked at"') in [(k.lower(), v) for k, v in made.headers]
    assert api.refused("POST", path, obj("v1", "ConfigMap", "bad")) == (
        403, 'configmaps "bad" is forbidden: not that name',
    )  # fmt: skip


def signing_request() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    made = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
    pem = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    return base64.b64encode(pem).decode()


def test_a_signing_request_names_who_made_it(api: Api) -> None:
    spec = {"request": signing_request(), "signerName": "example.com/s", "usages": ["client auth"]}
    tree = obj("certificates.k8s.io/v1", "CertificateSigningRequest", "r")
    tree["spec"] = {**spec, "username": "somebody"}
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

    made = api.post(path, tree)
    assert made["spec"]["username"] == "admin"
    condition = {"type": "Approved", "status": "True", "reason": "r"}
    made["status"] = {"conditions": [condition]}
    decided = api.put(f"{path}/r/approval", made)
    assert decided["status"]["conditions"][0]["lastUpdateTime"]
    decided["status"]["conditions"].append({"type": "Denied", "status": "True", "reason": "r"})
    assert "Denied" in api.refused("PUT", f"{path}/r/approval", decided)[1]


@pytest.mark.parametrize("plural", ["resourceclaims", "resourceclaimtemplates"])
def test_admin_access_is_a_matter_of_the_namespace(api: Api, ns: str, plural: str) -> None:
    exactly = {"deviceClassName": "gpu.example.com", "adminAccess": True}
    spec: dict[str, Any] = {"devices": {"requests": [{"name": "g", "exactly": exactly}]}}
    claim = plural == "resourceclaims"
    tree = obj(
        "resource.k8s.io/v1",
        "ResourceClaim" if claim else "ResourceClaimTemplate",
        "c",
        spec=spec if claim else {"spec": spec},
    )
    path = f"/apis/resource.k8s.io/v1/namespaces/ns/{plural}"

    code, text = api.refused("POST", path, tree)
    assert code == 422
    assert "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices" in text
    label = {"resource.kubernetes.io/admin-access": "true"}
    api.patch("/api/v1/namespaces/ns", {"metadata": {"labels": label}})
    assert api.post(path, tree)["metadata"]["name"] == "c"


def test_a_dry_run_takes_no_address(api: Api, ns: str) -> None:
    spec = {"type": "NodePort", "ports": [{"port": 81}]}

    made = api.post(f"{ns}/services?dryRun=All", obj("v1", "Service", "s", spec=spec))

    assert made["spec"]["clusterIP"] == "10.96.0.0"
    assert made["spec"]["ports"][0]["nodePort"] == 32769


def test_a_deprecated_kind_warns_whoever_uses_it(api: Api, ns: str) -> None:
    headers = dict(api.answer("GET", f"{ns}/endpoints").headers)

    assert "v1 Endpoints is deprecated" in {k.lower(): v for k, v in headers.items()}["warning"]
