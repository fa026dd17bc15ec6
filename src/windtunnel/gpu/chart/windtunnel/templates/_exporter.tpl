{{/* The pod template of the exporter that runs beside a kubelet. */}}
{{- define "windtunnel.exporter" -}}
{{- $ubuntu := (.root.Values.ubuntu | default dict).image | default dict -}}
{{- $zones := (.section.nodeResourceTopology | default dict).enabled -}}
{{- $resources := (.section.podResources | default dict).enabled -}}
metadata:
  labels:
    app: nvidia-dcgm-exporter
    component: status-exporter
    app.kubernetes.io/name: nvidia-container-toolkit
  annotations:
    checksum/hostpath-init-configmap: {{ .root.Files.Get "scripts/hostpath-init.sh" | sha256sum }}
spec:
  serviceAccount: status-exporter
  serviceAccountName: status-exporter
  schedulerName: default-scheduler
  restartPolicy: Always
  {{- if .node }}
  nodeSelector:
    nvidia.com/gpu.deploy.dcgm-exporter: "true"
  {{- end }}
  {{- include "windtunnel.tolerations" .root | nindent 2 }}
  {{- include "windtunnel.network" .root | nindent 2 }}
  {{- include "windtunnel.affinity" .root | nindent 2 }}
  {{- if .node }}
  initContainers:
    - name: hostpath-init
      image: {{ printf "%s:%s" (default "ubuntu" $ubuntu.repository) (default "24.04" $ubuntu.tag | toString) | quote }}
      command: [/bin/bash, /hostpath-init/init.sh]
      securityContext:
        privileged: true
        seccompProfile:
          type: RuntimeDefault
      volumeMounts:
        - name: runai-data
          mountPath: /runai
        - name: hostpath-init-script
          mountPath: /hostpath-init
  {{- end }}
  containers:
    - name: nvidia-dcgm-exporter
      {{- include "windtunnel.image" (dict "root" .root "image" .section.image) | nindent 6 }}
      ports:
        - name: http
          containerPort: {{ .port }}
      env:
        {{- include "windtunnel.nodeName" .root | nindent 8 }}
        {{- include "windtunnel.where" .root | nindent 8 }}
        - name: TOPOLOGY_MAX_EXPORT_INTERVAL
          value: {{ .section.topologyMaxExportInterval | default "10s" | quote }}
        {{- include "windtunnel.reservation" .root | nindent 8 }}
        {{- include "windtunnel.prometheus" .root | nindent 8 }}
        {{- if $zones }}
        - name: NODE_RESOURCE_TOPOLOGY_ENABLED
          value: "true"
        {{- end }}
        {{- if $resources }}
        - name: POD_RESOURCES_ENABLED
          value: "true"
        {{- end }}
        {{- include "windtunnel.listen" (list .port 9400) | nindent 8 }}
        {{- include "windtunnel.reach" .root | nindent 8 }}
      resources:
        {{- toYaml .section.resources | nindent 8 }}
      volumeMounts:
        - name: runai-data
          mountPath: /runai
        {{- if $resources }}
        - name: fake-podresources-sock
          mountPath: /var/lib/fake-gpu-operator/pod-resources
        - name: fake-podresources-sysfs
          mountPath: /var/lib/fake-gpu-operator/sys
        {{- end }}
  volumes:
    - name: runai-data
      hostPath:
        path: /var/lib/runai
        type: DirectoryOrCreate
    - name: hostpath-init-script
      configMap:
        name: hostpath-init
    {{- if $resources }}
    - name: fake-podresources-sock
      hostPath:
        path: /var/lib/fake-gpu-operator/pod-resources
        type: DirectoryOrCreate
    - name: fake-podresources-sysfs
      hostPath:
        path: /var/lib/fake-gpu-operator/sys
        type: DirectoryOrCreate
    {{- end }}
  {{- include "windtunnel.pullSecrets" .root | nindent 2 }}
{{- end }}
