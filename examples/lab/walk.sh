#!/bin/sh
# Walks the eight steps of the lab on whatever cluster KUBECONFIG names, with kubectl and helm alone:
# read what a node advertises, give a pod a GPU, look inside, break the two rules, fill the node,
# raise the number of GPUs, put a pod on a node that has no kubelet, and do the account.
#
# The release gpu-operator must be there. One node must carry the pool label and run containers.
#   OUT        where the files of each step go (default: lab)
#   CHART      the chart that helm upgrades to
#   VALUES     more values for that upgrade, as a file
#   PATIENCE   seconds to wait for each change (default: 60)
#   LIVE       yes: the change of step 6 is followed live; otherwise the restart procedure of 0.2
set -eu

OUT=${OUT:-lab}
NS=${NS:-fake-lab}
KUBECTL=${KUBECTL:-kubectl}
HELM=${HELM:-helm}
LIVE=${LIVE:-no}
PATIENCE=${PATIENCE:-60}
IMAGE=registry.k8s.io/e2e-test-images/busybox:1.36.1-1
mkdir -p "$OUT"

step() { printf '== %s\n' "$*" >&2; }

# until_true WHAT COMMAND...: wait until the command succeeds
until_true() {
    patience=$PATIENCE what=$1
    shift
    while ! "$@" >/dev/null 2>&1; do
        patience=$((patience - 1))
        [ "$patience" -gt 0 ] || { echo "did not happen: $what" >&2; return 1; }
        sleep 1
    done
}

allocatable() { $KUBECTL get node "$1" -o jsonpath='{.status.allocatable.nvidia\.com/gpu}'; }
has() { [ "$(allocatable "$1")" = "$2" ]; }
has_label() { [ -n "$($KUBECTL get node "$1" -o "jsonpath={.metadata.labels.$2}")" ]; }

gpu_pod() {
    cat <<POD
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: $NS}
spec:
  terminationGracePeriodSeconds: 2
  containers:
    - name: main
      image: $IMAGE
      imagePullPolicy: IfNotPresent
      command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 1; done"]
      resources: {limits: {nvidia.com/gpu: ${2:-1}}}
POD
}

step 1: what the node advertises
real_node() { $KUBECTL get node -l '!type,run.ai/simulated-gpu-node-pool' -o name | grep -m 1 .; }
until_true "a node with the pool label" real_node
NODE=$(real_node)
NODE=${NODE#node/}
until_true "two GPUs on $NODE" has "$NODE" 2
until_true "the product label on $NODE" has_label "$NODE" 'nvidia\.com/gpu\.product'
$KUBECTL get node "$NODE" -o jsonpath='node={.metadata.name}{"\n"}capacity={.status.capacity.nvidia\.com/gpu}{"\n"}allocatable={.status.allocatable.nvidia\.com/gpu}{"\n"}product={.metadata.labels.nvidia\.com/gpu\.product}{"\n"}' >"$OUT/advertised.txt"

step 2: a pod with one GPU
$KUBECTL get namespace "$NS" >/dev/null 2>&1 || $KUBECTL create namespace "$NS" >/dev/null
until_true "the service account of $NS" $KUBECTL get serviceaccount default -n "$NS"
gpu_pod gpu-1 >"$OUT/gpu-1.yaml"
$KUBECTL apply -f "$OUT/gpu-1.yaml" >/dev/null
$KUBECTL wait pod/gpu-1 -n "$NS" --for=condition=Ready --timeout="${PATIENCE}s" >/dev/null

step 3: inside the container
{
    $KUBECTL exec gpu-1 -n "$NS" -- env
    $KUBECTL exec gpu-1 -n "$NS" -- nvidia-smi
} >"$OUT/inside.txt"

step 4: the two rules of extended resources
: >"$OUT/rules.txt"
gpu_pod bad-1 2 | sed 's/resources: {/resources: {requests: {nvidia.com\/gpu: 1}, /' >"$OUT/bad-1.yaml"
gpu_pod bad-2 0.5 >"$OUT/bad-2.yaml"
for bad in bad-1 bad-2; do
    if $KUBECTL apply -f "$OUT/$bad.yaml" >>"$OUT/rules.txt" 2>&1; then
        echo "$bad was not refused" >&2
        exit 1
    fi
done

step 5: a full node
gpu_pod gpu-2 | $KUBECTL apply -f - >/dev/null
$KUBECTL wait pod/gpu-2 -n "$NS" --for=condition=Ready --timeout="${PATIENCE}s" >/dev/null
gpu_pod gpu-3 | $KUBECTL apply -f - >/dev/null
$KUBECTL wait pod/gpu-3 -n "$NS" --for=condition=PodScheduled=false --timeout="${PATIENCE}s" >/dev/null
$KUBECTL get pod gpu-3 -n "$NS" -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].message}{"\n"}' >"$OUT/pending.txt"

step 6: more GPUs
cat >"$OUT/values.yaml" <<'VALUES_END'
runtimeClass:
  enabled: false
topology:
  nodePools:
    default:
      gpuCount: 4
VALUES_END
$HELM upgrade gpu-operator "$CHART" -n gpu-operator ${VALUES:+-f "$VALUES"} -f "$OUT/values.yaml" >/dev/null
if [ "$LIVE" != yes ]; then
    # As the operator's users learn it: a node's topology is computed once, so it must go first.
    $KUBECTL delete configmap "topology-$NODE" -n gpu-operator >/dev/null
    $KUBECTL rollout restart deployment/status-updater -n gpu-operator >/dev/null
    $KUBECTL rollout status deployment/status-updater -n gpu-operator --timeout="${PATIENCE}s" >/dev/null
    until_true "a new topology of $NODE" $KUBECTL get configmap "topology-$NODE" -n gpu-operator
    $KUBECTL rollout restart daemonset/device-plugin -n gpu-operator >/dev/null
    $KUBECTL rollout status daemonset/device-plugin -n gpu-operator --timeout="${PATIENCE}s" >/dev/null
fi
until_true "four GPUs on $NODE" has "$NODE" 4
$KUBECTL wait pod/gpu-3 -n "$NS" --for=condition=Ready --timeout="${PATIENCE}s" >/dev/null

step 7: a GPU on a node without a kubelet
cat >"$OUT/kwok-node.yaml" <<'NODE_END'
apiVersion: v1
kind: Node
metadata:
  name: gpu-a
  annotations: {kwok.x-k8s.io/node: fake, node.alpha.kubernetes.io/ttl: "0"}
  labels:
    type: kwok
    kubernetes.io/hostname: gpu-a
    kubernetes.io/os: linux
    run.ai/simulated-gpu-node-pool: default
spec:
  taints: [{key: kwok.x-k8s.io/node, value: fake, effect: NoSchedule}]
NODE_END
$KUBECTL apply -f "$OUT/kwok-node.yaml" >/dev/null
until_true "four GPUs on gpu-a" has gpu-a 4
gpu_pod far-1 | sed 's/^spec:/spec:\n  nodeSelector: {kubernetes.io\/hostname: gpu-a}\n  tolerations: [{key: kwok.x-k8s.io\/node, operator: Exists}]/' | $KUBECTL apply -f - >/dev/null
$KUBECTL wait pod/far-1 -n "$NS" --for=jsonpath='{.status.phase}'=Running --timeout="${PATIENCE}s" >/dev/null

step 8: the account
$KUBECTL get nodes -o jsonpath='{range .items[*]}{.metadata.name}{" "}{.status.allocatable.nvidia\.com/gpu}{"\n"}{end}' | awk 'NF == 2' >"$OUT/nodes"
$KUBECTL get pods -A -o jsonpath='{range .items[*]}on={.spec.nodeName}{" "}{.status.phase}{" "}{range .spec.containers[*]}{.resources.limits.nvidia\.com/gpu}{" "}{end}{"\n"}{end}' >"$OUT/pods"
awk '
    FILENAME ~ /nodes$/ { names = names (n++ ? ", " : "") "\"" $1 "\": " $2; total += $2; next }
    $1 != "on=" && ($2 == "Pending" || $2 == "Running") { for (i = 3; i <= NF; i++) taken += $i }
    END {
        printf "{\"nodes\": {%s}, \"allocatable_total\": %d, \"requested\": %d, \"free\": %d}\n",
            names, total, taken, total - taken
    }' "$OUT/nodes" "$OUT/pods" >"$OUT/report.json"
rm "$OUT/nodes" "$OUT/pods"
step all eight steps done
