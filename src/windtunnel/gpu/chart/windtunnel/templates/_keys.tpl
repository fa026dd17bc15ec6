{{/* What values may say: top-level keys, and what may stand below those that are closed. */}}
{{- define "windtunnel.keys" -}}
affinity: []
apiServer: [host, port]
builtinProfiles: [enabled]
cluster: []
compat: []
computeDomainController: [enabled, image, resources]
computeDomainDraPlugin: [enabled, healthcheckPort, image, resources]
customProfiles: []
devicePlugin: [enabled, image, resources]
draPlugin: [enabled, image, imagePullSecrets, kubeletPlugin, resources, serviceAccount]
environment: [fakeCSVVersion, openshift, resourceReservationNamespace]
fullnameOverride: []
gpuOperator: [enabled]
hostNetwork: []
imagePullSecrets: []
imageRegistry: []
kwokComputeDomainDraPlugin: [enabled, image, resources]
kwokDraPlugin: [enabled, image, resources]
kwokGpuDevicePlugin: [enabled, image, resources]
migFaker: [enabled, image, resources]
nameOverride: []
namespaceOverride: []
nvidiaDraDriver: [enabled]
nvmlMock: [image]
prometheus: [url]
runtimeClass: [enabled]
selectorLabelsOverride: []
statusExporter: [enabled, image, kwok, nodeResourceTopology, podResources, port, resources, topologyMaxExportInterval]
statusUpdater: [disableNodeLabeling, enabled, image, podPatchRbac, resources, runaiIntegration]
topology: []
topologyConfigMap: [enabled]
topologyServer: [enabled, image, port, resources, url]
ubuntu: [image]
global: []
{{- end }}

{{/* The values that nobody reads, for whoever has mistyped one. */}}
{{- define "windtunnel.strays" -}}
{{- $known := include "windtunnel.keys" . | fromYaml }}
{{- $strays := list }}
{{- range $key, $value := .Values }}
{{- if not (hasKey $known $key) }}{{ $strays = append $strays $key }}
{{- else if and (kindIs "map" $value) (get $known $key) }}
{{- range $field, $_ := $value }}
{{- if not (has $field (get $known $key)) }}{{ $strays = append $strays (printf "%s.%s" $key $field) }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- join ", " $strays }}
{{- end }}
