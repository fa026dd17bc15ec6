#!/bin/sh
# nvidia-smi for containers with fake GPUs.
#
# One file for every image that has a shell, awk and one of bash, curl and wget: a device plugin
# mounts it to /bin/nvidia-smi of containers it knows nothing of. The shell asks topology-server for
# the node's GPUs, awk does the rest. The default table is fake-gpu-operator's to the byte; lists,
# report and queries have the forms of NVIDIA's program. Why a script: docs/decisions/0004.
#
# Reads: NODE_NAME, HOSTNAME, POD_UUID, RUNAI_NUM_OF_GPUS, TOPOLOGY_SERVER_URL,
# MOCK_NVIDIA_VISIBLE_DEVICES, /proc/1/cmdline, the service account's namespace.

LC_ALL=C
export LC_ALL
newline='
'
patience_seconds=10

usage() {
    printf 'Usage of nvidia-smi:\n  -debug\n    \tenable debug mode\n' >&2
    exit "$1"
}

misused() {
    printf '%s\n' "$1" >&2
    usage 2
}

# Options. As in Go's flag package: one dash or two, and the first word without a dash ends them.
mode=table only='' fields='' form=''
while [ $# -gt 0 ]; do
    case $1 in
        -L | --list-gpus) mode=list ;;
        -q | --query) mode=report ;;
        --query-gpu=*) mode=gpus fields=${1#*=} ;;
        --query-compute-apps=*) mode=apps fields=${1#*=} ;;
        --format=*) form=${1#*=} ;;
        --id=*) only=${1#*=} ;;
        -i | --id)
            [ $# -gt 1 ] || misused "flag needs an argument: -${1##*-}"
            only=$2
            shift
            ;;
        -h | -help | --help) usage 0 ;;
        -debug | --debug) ;;
        -debug=* | --debug=*)
            case ${1#*=} in
                1 | 0 | t | f | T | F | true | false | TRUE | FALSE | True | False) ;;
                *) misused "invalid boolean value \"${1#*=}\" for -debug: parse error" ;;
            esac
            ;;
        -- | - | [!-]*) break ;;
        *)
            name=${1#-}
            name=${name#-}
            misused "flag provided but not defined: -${name%%=*}"
            ;;
    esac
    shift
done
case $mode,$form in
    gpus,csv* | apps,csv*) ;;
    gpus,* | apps,*)
        printf -- '--query-... needs --format=csv[,noheader][,nounits]\n'
        exit 2
        ;;
esac

# Sets `status` ("404 Not Found"; empty where nobody answered) and `answer` (the body, or why not).
ask() {
    place=${1#http://}
    path=/${place#*/}
    place=${place%%/*}
    host=${place%:*} port=${place##*:}
    [ "$port" != "$place" ] || port=80
    host=${host#\[} host=${host%\]}
    limit=''
    if command -v timeout >/dev/null; then
        limit="timeout $patience_seconds"
    fi
    if command -v bash >/dev/null; then
        said=$($limit bash -c '
            exec 3<>"/dev/tcp/$1/$2" && printf "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n" "$3" "$4" >&3 &&
                cat <&3' nvidia-smi "$host" "$port" "$path" "$place" 2>&1)
    elif command -v curl >/dev/null; then
        said=$(curl -sS -i -0 --max-time "$patience_seconds" "$1" 2>&1)
    elif command -v wget >/dev/null; then
        # The head goes to stderr, indented; busybox says of a refusal no more than its status.
        said=$($limit wget -q -S -O - "$1" 2>&1 |
            awk '/^ +[A-Za-z][-A-Za-z]*[:\/]/ && !body { sub(/^ +/, ""); print; next }
                 sub(/^wget: server returned error: /, "") { print; next }
                 !body { body = 1; print "" }
                 { print }')
    else
        said='this image has neither bash nor curl nor wget'
    fi
    said=$(printf '%s' "$said" | tr -d '\r')
    case $said in
        HTTP/*)
            status=${said%%"$newline"*}
            status=${status#* }
            answer=''
            case $said in
                *"$newline$newline"*) answer=${said#*"$newline$newline"} ;;
            esac
            ;;
        *) status='' answer=${said##*"$newline"} ;;
    esac
}

server=${TOPOLOGY_SERVER_URL:-http://topology-server.gpu-operator}
url=${server%/}/topology/nodes/${NODE_NAME:-}
ask "$url"
case $status in
    '')
        echo "NVIDIA-SMI has failed because it couldn't communicate with the topology server."
        printf 'fetching topology from %s: %s\n' "$url" "$answer" >&2
        exit 1
        ;;
    200*) ;;
    *)
        echo "No devices were found"
        printf 'topology server %s returned %s: %s\n' "$url" "$status" "$answer" >&2
        exit 1
        ;;
esac

account=/var/run/secrets/kubernetes.io/serviceaccount/namespace
SMI_NAMESPACE=''
if [ -r "$account" ]; then
    SMI_NAMESPACE=$(cat "$account")
fi
# A variable cannot hold NUL, and what is printed must: until the last line \1 stands for it.
if SMI_COMMAND=$(head -c 50 /proc/1/cmdline 2>/dev/null | tr '\000' '\001') && [ -r /proc/1/cmdline ]; then
    SMI_COMPLAINT=''
else
    SMI_COMPLAINT='reading /proc/1/cmdline failed'
fi
SMI_MODE=$mode SMI_FIELDS=$fields SMI_FORM=$form SMI_ONLY=$only SMI_URL=$url SMI_PID=$$
SMI_DATE=$(date '+%a %b %e %H:%M:%S %Y')
SMI_STAMP=$(date '+%Y/%m/%d %H:%M:%S.000')
export SMI_NAMESPACE SMI_COMMAND SMI_COMPLAINT SMI_MODE SMI_FIELDS SMI_FORM SMI_ONLY SMI_URL SMI_PID
export SMI_DATE SMI_STAMP HOSTNAME POD_UUID RUNAI_NUM_OF_GPUS MOCK_NVIDIA_VISIBLE_DEVICES

# awk prints what goes to stdout, then a line with \2, then what goes to stderr.
printed=$(printf '%s\n' "$answer" | awk '

# JSON into flat arrays: V[path] is a scalar, N[path] how many members there are, K[path, n] the
# name of one. A path is its names, each after a SUBSEP.

function skip_blanks() {
    while (index(" \t\n", substr(text, at, 1)) && at <= size) at++
}

function take_string(    from, c, out) {
    from = ++at
    out = ""
    while (at <= size) {
        c = substr(text, at, 1)
        if (c == "\"") {
            out = out substr(text, from, at - from)
            at++
            return out
        }
        if (c == "\\") {
            out = out substr(text, from, at - from)
            c = substr(text, at + 1, 1)
            if (c == "u") {
                out = out "?"
                at += 6
            } else {
                out = out (c == "n" ? "\n" : c == "t" ? "\t" : c)
                at += 2
            }
            from = at
        } else at++
    }
    broken = "unexpected end of JSON input"
    return ""
}

function take_value(path,    c, n, name, closing, is_map) {
    skip_blanks()
    c = substr(text, at, 1)
    if (c == "{" || c == "[") {
        is_map = (c == "{")
        closing = is_map ? "}" : "]"
        at++
        n = 0
        skip_blanks()
        if (substr(text, at, 1) == closing) at++
        else while (!broken) {
            name = n
            skip_blanks()
            if (is_map) {
                if (substr(text, at, 1) != "\"") return unexpected()
                name = take_string()
                skip_blanks()
                if (substr(text, at, 1) != ":") return unexpected()
                at++
            }
            K[path, n++] = name
            take_value(path SUBSEP name)
            skip_blanks()
            c = substr(text, at++, 1)
            if (c == closing) break
            if (c != ",") {
                at--
                return unexpected()
            }
        }
        N[path] = n
    } else if (c == "\"") V[path] = take_string()
    else if (match(substr(text, at, 40), /^(true|false|null|-?[0-9][-+.0-9eE]*)/)) {
        V[path] = substr(text, at, RLENGTH)
        at += RLENGTH
        if (V[path] == "null") delete V[path]
    } else unexpected()
}

function unexpected() {
    if (broken) return
    if (at > size) broken = "unexpected end of JSON input"
    else broken = "invalid character " quoted(substr(text, at, 1)) " looking for beginning of value"
}

function quoted(c) { return sprintf("%c%s%c", 39, c, 39) }

# Facts of products: what the profiles of the chart say, and the topology does not.
# name|architecture|capability|idle W|limit W|least W|most W|idle C|slowdown C|shutdown C|
# idle SM MHz|most SM MHz|memory MHz|PCIe generation|MIG instances|VBIOS|serial|buses

function know(line,    part) {
    split(line, part, "|")
    FACTS[part[1]] = line
}

function know_products() {
    know("NVIDIA A100-SXM4-40GB|Ampere|8.0|72|400|100|400|33|87|92|210|1410|1215|4|7|92.00.45.00.03|13248210838|07 0F 47 4E 87 90 B7 BD")
    know("NVIDIA H100 80GB HBM3|Hopper|9.0|95|700|200|700|34|87|92|345|1980|1593|5|7|96.00.74.00.09|15628210839|1A 1B 4A 4B 8A 8B CA CB")
    know("NVIDIA B200|Blackwell|10.0|130|1000|400|1200|35|90|95|345|2100|2500|6|7|96.00.A0.00.01|15628492037|1A 1B 4A 4B 8A 8B CA CB")
    know("NVIDIA GB200 NVL|Blackwell|10.0|145|1000|400|1200|36|90|95|345|2100|2500|6|7|96.00.9E.00.01|15628491037|0A 0B 4A 4B 8A 8B CA CB")
    know("NVIDIA GB300 NVL|Blackwell|10.0|175|1400|500|1600|38|90|95|345|2200|2625|6|7|97.00.41.00.01|15730411037|0A 0B 4A 4B 8A 8B CA CB")
    know("NVIDIA L40S|Ada Lovelace|8.9|45|350|100|350|32|93|96|210|2520|10001|4|0|95.02.5C.00.03|15628300945|17 31 B1 CA 18 32 B2 CB")
    know("NVIDIA T4|Turing|7.5|12|70|60|70|30|93|96|300|1590|5001|3|0|90.04.84.00.06|04218190854|3B 86 AF D8")
    # What the default table says of every GPU.
    know("|N/A|N/A|11|70|70|70|33|90|95|300|1590|5001|3|0|N/A|00000000000|")
}

# Rows: one for each GPU of this pod.

function randomly(least, most,    other) {
    if (least > most) {
        other = least
        least = most
        most = other
    }
    return least == most ? least : least + int(rand() * (most - least))
}

function add_row(index_, used, busy, uuid, fault) {
    rows++
    INDEX[rows] = index_
    USED[rows] = int(used * portion)
    TOTAL[rows] = int(memory * portion)
    BUSY[rows] = busy
    UUID[rows] = uuid
    FAULT[rows] = fault
}

function is_asked_for(i,    part, n) {
    if (ENVIRON["SMI_ONLY"] == "") return 1
    n = split(ENVIRON["SMI_ONLY"], part, ",")
    while (n > 0) {
        if (part[n] == i || part[n] == V[SUBSEP "Gpus" SUBSEP i SUBSEP "ID"]) return 1
        if (toupper(part[n]) == bus_of(i)) return 1
        n--
    }
    return 0
}

function take_gpu(i,    gpu, usage, uid, used, busy, n, s, m) {
    gpu = SUBSEP "Gpus" SUBSEP i
    usage = gpu SUBSEP "Status" SUBSEP "PodGpuUsageStatus"
    for (n = 0; n < N[usage]; n++) {
        uid = usage SUBSEP K[usage, n]
        used += V[uid, "FbUsed"]
        if (V[uid, "UseKnativeUtilization"] == "true")
            complain("Error: load follows requests, and no container can ask how many there are")
        else
            busy += randomly(V[uid, "Utilization", "Min"] + 0, V[uid, "Utilization", "Max"] + 0)
    }
    for (s = 0; s < slices_of(i); s++) if (slice_is_mine(i, s)) {
        usage = slice(i, s) SUBSEP "Status" SUBSEP "PodGpuUsageStatus"
        for (m = 0; m < N[usage]; m++) used += V[usage, K[usage, m], "FbUsed"]
    }
    if (used > memory) used = memory
    if (busy > 100) busy = 100
    add_row(i, used + 0, busy + 0, V[gpu, "ID"], V[gpu, "Fault"])
}

# Slices of a GPU that is cut: GPUs of a kind, with an id and a status of their own.

function slice(i, s) { return SUBSEP "Gpus" SUBSEP i SUBSEP "Mig" SUBSEP s }

function is_cut(i) { return (SUBSEP "Gpus" SUBSEP i SUBSEP "Mig") in N }

function slices_of(i) { return is_cut(i) ? N[SUBSEP "Gpus" SUBSEP i SUBSEP "Mig"] : 0 }

function slice_is_mine(i, s) {
    if (V[slice(i, s) SUBSEP "Status" SUBSEP "AllocatedBy" SUBSEP "Pod"] != "" && \
        is_held(slice(i, s) SUBSEP "Status")) return 1
    return id_is_given(V[slice(i, s) SUBSEP "ID"])
}

function has_slice(i,    s) {
    for (s = 0; s < slices_of(i); s++) if (slice_is_mine(i, s)) return 1
    return 0
}

function is_of_pod(i) {
    return is_held(SUBSEP "Gpus" SUBSEP i SUBSEP "Status") || has_slice(i)
}

function is_held(gpu,    owner, usage, n) {
    owner = gpu SUBSEP "AllocatedBy"
    usage = gpu SUBSEP "PodGpuUsageStatus"
    for (n = 0; n < N[usage]; n++)
        if (K[usage, n] == ENVIRON["POD_UUID"] && ENVIRON["POD_UUID"] != "") return 1
    if (V[owner, "Pod"] != ENVIRON["HOSTNAME"]) return 0
    return ENVIRON["SMI_NAMESPACE"] == "" || V[owner, "Pod"] == "" || \
        V[owner, "Namespace"] == ENVIRON["SMI_NAMESPACE"]
}

# The account may be a moment behind the kubelet: then what the kubelet gave is what counts.
function is_given(i) { return id_is_given(V[SUBSEP "Gpus" SUBSEP i SUBSEP "ID"]) }

function id_is_given(id) {
    return id != "" && index("," ENVIRON["MOCK_NVIDIA_VISIBLE_DEVICES"] ",", "," id ",")
}

function take_gpus(    gpus, i, mine) {
    gpus = N[SUBSEP "Gpus"]
    for (i = 0; i < gpus; i++) if (is_of_pod(i)) {
        mine++
        if (is_asked_for(i)) take_gpu(i)
    }
    if (!mine) for (i = 0; i < gpus; i++) if (is_given(i)) {
        mine++
        if (is_asked_for(i)) take_gpu(i)
    }
    if (!mine && (gpus || mode == "table") && is_asked_for(0))
        add_row(0, 0, 0, V[SUBSEP "Gpus" SUBSEP 0 SUBSEP "ID"], "")
}

function take_portion(    asked) {
    portion = 1
    asked = ENVIRON["RUNAI_NUM_OF_GPUS"]
    if (asked == "") return
    if (asked ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/) portion = asked + 0
    else complain("parsing RUNAI_NUM_OF_GPUS \"" asked "\": strconv.ParseFloat: parsing \"" asked "\": invalid syntax")
}

function complain(line) { complaints = complaints line "\n" }

# The default table.

function left(s, n) {
    if (length(s) > n) s = substr(s, 1, n - 2) ".."
    return sprintf("%-" n "s", s)
}

function right(s, n) {
    if (length(s) > n) s = substr(s, 1, n - 2) ".."
    return sprintf("%" n "s", s)
}

function times(c, n,    out) {
    while (n-- > 0) out = out c
    return out
}

function wide(s) { print "| " left(s, 76) " |" }

function cells(a, b, c) { print "| " left(a, 30) " | " b " | " c " |" }

function print_table(    edge, parts, r, state, load, row, process) {
    edge = "+" times("-", 78) "+"
    parts = "+" times("-", 32) "+" times("-", 22) "+" times("-", 22) "+"
    print ENVIRON["SMI_DATE"]
    print edge
    wide("NVIDIA-SMI " driver "   Driver Version: " driver "   CUDA Version: " cuda)
    print parts
    cells("GPU  Name        Persistence-M", "Bus-Id        Disp.A", "Volatile Uncorr. ECC")
    cells("Fan  Temp  Perf  Pwr:Usage/Cap", right("Memory-Usage", 20), "GPU-Util  Compute M.")
    cells("", right("", 20), right("MIG M.", 20))
    print parts
    for (r = 1; r <= rows; r++) {
        state = FAULT[r] == "" ? "N/A   33C    P8    11W /  70W" : "ERR!  ERR! ERR!    ERR! / ERR!"
        load = FAULT[r] == "" ? BUSY[r] "%" : "ERR!"
        cells(right(INDEX[r], 3) "  " left(product, 12) right("Off", 13), "00000001:00:00.0 Off", \
            right(FAULT[r] == "" ? "Off" : "ERR!", 20))
        cells(state, right(USED[r] "MiB / " TOTAL[r] "MiB", 20), right(load, 8) " " right("Default", 11))
        cells("", right("", 20), right("N/A", 20))
        print parts
    }
    print ""
    print edge
    wide("Processes:")
    wide(" GPU   GI   CI        PID   Type   Process name                  GPU Memory")
    wide("       ID   ID                                                   Usage")
    print edge
    process = command_of_first()
    for (r = 1; r <= rows; r++) {
        row = " " right(INDEX[r], 3) "   " left("N/A", 5) left("N/A", 10) left(ENVIRON["SMI_PID"], 6) \
            right("G", 4) "   " left(process, 29) " " right(USED[r] "MiB", 11)
        print "| " row times(" ", 76 - length(row) + gsub(/\001/, "\001", row)) " |"
    }
    print edge
}

function command_of_first(    s) {
    s = ENVIRON["SMI_COMMAND"]
    while (substr(s, 1, 1) == "\001") s = substr(s, 2)
    while (s != "" && substr(s, length(s)) == "\001") s = substr(s, 1, length(s) - 1)
    return s
}

# What one GPU is like: facts of its product, moved by how busy it is.

function fact(n,    part) {
    split(product in FACTS ? FACTS[product] : FACTS[""], part, "|")
    return part[n]
}

function bus_of(i,    bus, n) {
    n = split(fact(18), bus, " ")
    return sprintf("00000000:%s:00.0", i < n ? bus[i + 1] : sprintf("%02X", (i + 1) * 8 % 256))
}

function watts(r) { return fact(4) + (fact(5) - fact(4)) * BUSY[r] / 100 }

function degrees(r) { return int(fact(8) + (fact(9) - fact(8)) * 0.6 * BUSY[r] / 100) }

function sm_clock(r) { return BUSY[r] > 0 ? fact(12) : fact(11) }

function serial(r) { return fact(17) sprintf("%02d", INDEX[r]) }

function mig_mode(r) {
    if (is_cut(INDEX[r])) return "Enabled"
    return fact(15) > 0 ? "Disabled" : "[N/A]"
}

# Lists and queries.

function print_list(    r) {
    for (r = 1; r <= rows; r++) {
        print "GPU " INDEX[r] ": " product " (UUID: " UUID[r] ")"
        print_slices(INDEX[r])
    }
    if (!rows) print "No devices found."
}

# In the order of their instances, numbered among those of one GPU; one with a whole GPU sees all.
function print_slices(i,    all, s, number, instance) {
    all = !has_slice(i)
    for (instance = 0; instance < 32; instance++)
        for (s = 0; s < slices_of(i); s++)
            if (V[slice(i, s) SUBSEP "InstanceID"] == instance && (all || slice_is_mine(i, s)))
                printf "  MIG %-12s Device %2d: (UUID: %s)\n", V[slice(i, s) SUBSEP "Profile"], \
                    number++, V[slice(i, s) SUBSEP "ID"]
}

function canonical(name,    known) {
    known["gpu_name"] = "name"
    known["gpu_uuid"] = "uuid"
    known["gpu_bus_id"] = "pci.bus_id"
    known["gpu_serial"] = "serial"
    known["clocks.sm"] = "clocks.current.sm"
    known["clocks.mem"] = "clocks.current.memory"
    known["clocks.gr"] = "clocks.current.graphics"
    known["clocks.max.mem"] = "clocks.max.memory"
    known["clocks.max.gr"] = "clocks.max.graphics"
    known["clocks_throttle_reasons.active"] = "clocks_event_reasons.active"
    if (mode == "apps" && name == "used_memory") return "used_gpu_memory"
    return name in known ? known[name] : name
}

function unit_of(name) {
    if (name ~ /^memory\./ || name == "used_gpu_memory") return "MiB"
    if (name ~ /^utilization\./ || name == "fan.speed") return "%"
    if (name ~ /^power\.|\.power\./) return "W"
    if (name ~ /^clocks\.(current|max)\./) return "MHz"
    return ""
}

# Returns the value, or SUBSEP where there is no such field.
function value_of(name, r) {
    if (name == "timestamp") return ENVIRON["SMI_STAMP"]
    if (name == "name") return product
    if (name == "uuid") return UUID[r]
    if (name == "pci.bus_id") return bus_of(INDEX[r])
    if (name == "serial") return serial(r)
    if (mode == "apps") {
        if (name == "pid") return ENVIRON["SMI_PID"]
        if (name == "process_name") return process_name()
        if (name == "used_gpu_memory") return USED[r]
        return SUBSEP
    }
    if (name == "index" || name == "minor_number") return INDEX[r]
    if (name == "count") return rows
    if (name == "driver_version") return driver
    if (name == "vbios_version") return fact(16)
    if (name == "compute_cap") return fact(3)
    if (name == "compute_mode") return "Default"
    if (name == "persistence_mode") return "Enabled"
    if (name == "pstate") return "P0"
    if (name ~ /^mig\.mode\.(current|pending)$/) return mig_mode(r)
    if (name ~ /^ecc\.mode\.(current|pending)$/) return "Enabled"
    if (name ~ /^ecc\.errors\.(un)?corrected\.(volatile|aggregate)\.total$/) return 0
    if (name ~ /^pcie\.link\.gen\.(current|max)$/) return fact(14)
    if (name ~ /^pcie\.link\.width\.(current|max)$/) return 16
    if (name == "clocks_event_reasons.active")
        return BUSY[r] > 0 ? "0x0000000000000000" : "0x0000000000000001"
    if (FAULT[r] != "" && unit_of(name) != "") return "[GPU is lost]"
    if (name == "memory.total") return TOTAL[r]
    if (name == "memory.used") return USED[r]
    if (name == "memory.free") return TOTAL[r] - USED[r]
    if (name == "memory.reserved") return 0
    if (name == "utilization.gpu") return BUSY[r]
    if (name == "utilization.memory") return int(BUSY[r] / 2)
    if (name ~ /^utilization\.(encoder|decoder|jpeg|ofa)$/) return 0
    if (name == "temperature.gpu") return degrees(r)
    if (name == "temperature.memory") return "N/A"
    if (name ~ /^power\.draw(\.average|\.instant)?$/) return sprintf("%.2f", watts(r))
    if (name ~ /^(power\.limit|enforced\.power\.limit|power\.default_limit)$/) return sprintf("%.2f", fact(5))
    if (name == "power.min_limit") return sprintf("%.2f", fact(6))
    if (name == "power.max_limit") return sprintf("%.2f", fact(7))
    if (name ~ /^clocks\.current\.(sm|graphics)$/) return sm_clock(r)
    if (name ~ /^clocks\.max\.(sm|graphics)$/) return fact(12)
    if (name ~ /^clocks\.(current|max)\.memory$/) return fact(13)
    if (name == "fan.speed") return "[N/A]"
    return SUBSEP
}

function process_name(    s) {
    s = command_of_first()
    gsub(/\001/, " ", s)
    return s
}

function print_csv(    name, n, i, r, line, value, unit) {
    n = split(ENVIRON["SMI_FIELDS"], name, ",")
    for (i = 1; i <= n; i++) {
        gsub(/^ +| +$/, "", name[i])
        if (value_of(canonical(name[i]), 1) == SUBSEP) {
            print "Field \"" name[i] "\" is not a valid field to query.\n"
            return 2
        }
        name[i] = canonical(name[i])
        unit = unit_of(name[i])
        line = line (i > 1 ? ", " : "") name[i] (unit == "" ? "" : " [" unit "]")
    }
    if (ENVIRON["SMI_FORM"] !~ /noheader/) print line
    for (r = 1; r <= rows; r++) {
        line = ""
        for (i = 1; i <= n; i++) {
            value = value_of(name[i], r)
            unit = ENVIRON["SMI_FORM"] ~ /nounits/ || value ~ /^\[|^N\/A$/ ? "" : unit_of(name[i])
            line = line (i > 1 ? ", " : "") value (unit == "" ? "" : " " unit)
        }
        if (mode == "gpus" || USED[r] > 0) print line
    }
    return 0
}

# The report of -q: the sections that a fake GPU has something to say in.

function say(depth, key, value) {
    key = times(" ", 4 * depth) key
    print (value == "" ? key : sprintf("%-42s: %s", key, value))
}

function print_report(    r) {
    print "\n==============NVSMI LOG==============\n"
    say(0, "Timestamp", ENVIRON["SMI_DATE"])
    say(0, "Driver Version", driver)
    say(0, "CUDA Version", cuda)
    print ""
    say(0, "Attached GPUs", rows "")
    for (r = 1; r <= rows; r++) {
        print "GPU " bus_of(INDEX[r])
        if (FAULT[r] != "") {
            say(1, "GPU UUID", UUID[r])
            say(1, "GPU Recovery Action", "Reset")
            say(1, "Fault", FAULT[r])
            continue
        }
        report_identity(r)
        report_load(r)
    }
    print ""
}

function report_identity(r,    mode_of_mig) {
    say(1, "Product Name", product)
    say(1, "Product Brand", "NVIDIA")
    say(1, "Product Architecture", fact(2))
    say(1, "Persistence Mode", "Enabled")
    say(1, "MIG Mode")
    mode_of_mig = mig_mode(r)
    gsub(/[][]/, "", mode_of_mig)
    say(2, "Current", mode_of_mig)
    say(2, "Pending", mode_of_mig)
    say(1, "Serial Number", serial(r))
    say(1, "GPU UUID", UUID[r])
    say(1, "Minor Number", INDEX[r] "")
    say(1, "VBIOS Version", fact(16))
    say(1, "PCI")
    say(2, "Bus", "0x" substr(bus_of(INDEX[r]), 10, 2))
    say(2, "Device", "0x00")
    say(2, "Domain", "0x0000")
    say(2, "Bus Id", bus_of(INDEX[r]))
    say(2, "GPU Link Info")
    say(3, "PCIe Generation")
    say(4, "Max", fact(14))
    say(4, "Current", fact(14))
    say(3, "Link Width")
    say(4, "Max", "16x")
    say(4, "Current", "16x")
    say(1, "Fan Speed", "N/A")
    say(1, "Performance State", "P0")
}

function report_load(r) {
    say(1, "FB Memory Usage")
    say(2, "Total", TOTAL[r] " MiB")
    say(2, "Reserved", "0 MiB")
    say(2, "Used", USED[r] " MiB")
    say(2, "Free", TOTAL[r] - USED[r] " MiB")
    say(1, "Compute Mode", "Default")
    say(1, "Utilization")
    say(2, "GPU", BUSY[r] " %")
    say(2, "Memory", int(BUSY[r] / 2) " %")
    say(2, "Encoder", "0 %")
    say(2, "Decoder", "0 %")
    say(1, "Temperature")
    say(2, "GPU Current Temp", degrees(r) " C")
    say(2, "GPU Shutdown Temp", fact(10) " C")
    say(2, "GPU Slowdown Temp", fact(9) " C")
    say(1, "GPU Power Readings")
    say(2, "Average Power Draw", sprintf("%.2f W", watts(r)))
    say(2, "Current Power Limit", sprintf("%.2f W", fact(5)))
    say(2, "Default Power Limit", sprintf("%.2f W", fact(5)))
    say(2, "Min Power Limit", sprintf("%.2f W", fact(6)))
    say(2, "Max Power Limit", sprintf("%.2f W", fact(7)))
    say(1, "Clocks")
    say(2, "Graphics", sm_clock(r) " MHz")
    say(2, "SM", sm_clock(r) " MHz")
    say(2, "Memory", fact(13) " MHz")
    say(1, "Max Clocks")
    say(2, "Graphics", fact(12) " MHz")
    say(2, "SM", fact(12) " MHz")
    say(2, "Memory", fact(13) " MHz")
    if (USED[r] <= 0) {
        say(1, "Processes", "None")
        return
    }
    say(1, "Processes")
    say(2, "Process ID", ENVIRON["SMI_PID"])
    say(3, "Type", "C")
    say(3, "Name", process_name())
    say(3, "Used GPU Memory", USED[r] " MiB")
}

{ text = text $0 "\n" }

END {
    mode = ENVIRON["SMI_MODE"]
    size = length(text)
    at = 1
    take_value("")
    skip_blanks()
    if (!broken && at <= size) unexpected()
    if (!broken && text !~ /^[ \t\n]*(\{|null)/) broken = "the answer is no object"
    if (broken) {
        print "Failed to parse devices data"
        print "\002"
        print "decoding topology from " ENVIRON["SMI_URL"] ": " broken
        exit 1
    }
    srand()
    srand(srand() + ENVIRON["SMI_PID"])
    know_products()
    product = V[SUBSEP "GpuProduct"]
    memory = V[SUBSEP "GpuMemory"] + 0
    driver = V[SUBSEP "DriverVersion"] == "" ? "470.129.06" : V[SUBSEP "DriverVersion"]
    cuda = V[SUBSEP "CudaVersion"] == "" ? "11.4" : V[SUBSEP "CudaVersion"]
    take_portion()
    take_gpus()
    code = 0
    if (!rows && ENVIRON["SMI_ONLY"] != "") {
        print "No devices were found"
        code = 6
    } else if (mode == "table") {
        print_table()
        if (ENVIRON["SMI_COMPLAINT"] != "") complain(ENVIRON["SMI_COMPLAINT"])
    } else if (mode == "list") print_list()
    else if (mode == "report") print_report()
    else code = print_csv()
    print "\002"
    printf "%s", complaints
    exit code
}')
code=$?
mark=$(printf '\002')
printf '%s' "${printed%%"$mark"*}" | tr '\001' '\000'
notes=${printed#*"$mark"}
notes=${notes#"$newline"}
[ -z "$notes" ] || printf '%s\n' "$notes" >&2
exit "$code"
