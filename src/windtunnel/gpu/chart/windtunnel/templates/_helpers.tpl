{{/* The name in labels and the full name of DRA objects. */}}
{{- define "windtunnel.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "windtunnel.fullname" -}}
{{- $name := include "windtunnel.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "windtunnel.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end }}

{{- define "windtunnel.selector" -}}
{{- if .Values.selectorLabelsOverride -}}
{{ toYaml .Values.selectorLabelsOverride }}
{{- else -}}
app.kubernetes.io/name: {{ include "windtunnel.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- end }}

{{- define "windtunnel.labels" -}}
helm.sh/chart: {{ printf "%s-%s" (include "windtunnel.name" .) .Chart.Version | replace "+" "_" | trunc 63 }}
{{ include "windtunnel.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* A section of the values; one that is null is empty, and so is switched off. */}}
{{- define "windtunnel.section" -}}
{{- index .root.Values .name | default dict | toJson -}}
{{- end }}

{{- define "windtunnel.on" -}}
{{- if (index .root.Values .name | default dict).enabled }}yes{{ end -}}
{{- end }}

{{/* image and imagePullPolicy of one component. */}}
{{- define "windtunnel.image" -}}
{{- $image := .image | default dict -}}
{{- $repository := $image.repository | default "" -}}
{{- with .root.Values.imageRegistry }}{{ $repository = $repository | replace "windtunnel.dev/" (printf "%s/" .) }}{{ end -}}
image: {{ printf "%s:%s" $repository (default .root.Chart.AppVersion $image.tag) | quote }}
imagePullPolicy: {{ $image.pullPolicy }}
{{- end }}

{{/* The document of ConfigMap topology. */}}
{{- define "windtunnel.topology" -}}
{{- $document := deepCopy (.Values.cluster | default .Values.topology | default dict) -}}
{{- with .Values.compat }}{{ $_ := set $document "compat" (toString .) }}{{ end -}}
{{ toYaml $document }}
{{- end }}

{{- define "windtunnel.checksum" -}}
checksum/topology: {{ include "windtunnel.topology" . | sha256sum }}
{{- end }}

{{/* What the parts are told in every pod besides their own settings. */}}
{{- define "windtunnel.reach" -}}
{{- $api := .Values.apiServer | default dict -}}
{{- with $api.host }}
- name: KUBERNETES_SERVICE_HOST
  value: {{ . | quote }}
{{- end }}
{{- with $api.port }}
- name: KUBERNETES_SERVICE_PORT
  value: {{ toString . | quote }}
{{- end }}
{{- end }}

{{- define "windtunnel.network" -}}
{{- if .Values.hostNetwork }}
hostNetwork: true
{{- end }}
{{- end }}

{{/*
Asks the cluster once a rendering: .Nodes are its nodes, .MayPlay says that some are played or may come
to be: a node says so, or there is none yet. Where there is no cluster to ask, as under `helm template`,
both are empty.
*/}}
{{- define "windtunnel.look" -}}
{{- if not (hasKey . "Nodes") }}
{{- $nodes := (lookup "v1" "Node" "" "").items | default list }}
{{- $may := false }}
{{- range $nodes }}
{{- $labels := .metadata.labels | default dict }}
{{- if or (eq (get $labels "type") "kwok") (hasKey $labels "windtunnel.dev/played-nodes") }}{{ $may = true }}{{ end }}
{{- end }}
{{- if not $nodes }}{{ $may = not (empty (lookup "v1" "Namespace" "" "kube-system")) }}{{ end }}
{{- $_ := set . "Nodes" $nodes }}
{{- $_ := set . "MayPlay" $may }}
{{- end }}
{{- end }}

{{/*
Where pods may run that no label of a node calls: as the values say, else not on played nodes, where
nothing runs.
*/}}
{{- define "windtunnel.affinity" -}}
{{- include "windtunnel.look" . }}
{{- $apart := dict "key" "type" "operator" "NotIn" "values" (list "kwok") }}
{{- $terms := list (dict "matchExpressions" (list $apart)) }}
{{- $away := dict "nodeAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" $terms)) }}
{{- with .Values.affinity | default (ternary $away nil .MayPlay) }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* (port, usual port): a part that is to listen elsewhere than usual is told so. */}}
{{- define "windtunnel.listen" -}}
{{- if ne (index . 0 | int) (index . 1 | int) }}
- name: WINDTUNNEL_LISTEN_PORT
  value: {{ index . 0 | quote }}
{{- end }}
{{- end }}

{{/* Of parts that listen: on one network the old pod must free its port before the new one starts. */}}
{{- define "windtunnel.rollout" -}}
{{- if .Values.hostNetwork }}
strategy:
  type: RollingUpdate
  rollingUpdate: {maxSurge: 0, maxUnavailable: 1}
{{- end }}
{{- end }}

{{- define "windtunnel.nodeName" -}}
- name: NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
{{- end }}

{{- define "windtunnel.where" -}}
- name: TOPOLOGY_CM_NAME
  value: topology
- name: TOPOLOGY_CM_NAMESPACE
  value: {{ .Release.Namespace | quote }}
{{- end }}

{{- define "windtunnel.prometheus" -}}
- name: PROMETHEUS_URL
  value: {{ (.Values.prometheus | default dict).url | quote }}
{{- end }}

{{- define "windtunnel.reservation" -}}
- name: RESOURCE_RESERVATION_NAMESPACE
  value: {{ (.Values.environment | default dict).resourceReservationNamespace | default "" | quote }}
{{- end }}

{{- define "windtunnel.tolerations" -}}
tolerations:
  - key: nvidia.com/gpu
    operator: Exists
    effect: NoSchedule
{{- end }}

{{- define "windtunnel.pullSecrets" -}}
imagePullSecrets:
  {{- .Values.imagePullSecrets | default (list (dict "name" "gcr-secret")) | toYaml | nindent 2 }}
{{- end }}

{{/* A cluster role of one service account of the release. */}}
{{- define "windtunnel.bind" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .role }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .role }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{- define "windtunnel.bindHere" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .role }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .role }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{- define "windtunnel.openshift" -}}
{{- if (.Values.environment | default dict).openshift }}
- apiGroups: [security.openshift.io]
  resources: [securitycontextconstraints]
  resourceNames: [privileged]
  verbs: [use]
{{- end }}
{{- end }}
