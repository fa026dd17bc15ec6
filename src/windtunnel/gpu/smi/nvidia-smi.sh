#!/bin/sh
# nvidia-smi for containers with fake GPUs.
#
# One file for every image that has a shell, awk and one of bash, curl and wget: a device plugin
# mounts it to /bin/nvidia-smi of containers it knows nothing of. The shell asks topology-server for
# the node's GPUs, awk does the rest. The default table is fake-gpu-operator's to the byte; lists,
# report and queries have the forms of NVIDIA's program. Why a script: docs/decisions/0004.
#
# Reads: NODE_NAME, HOSTNAME, POD_UUID, RUNAI_NUM_OF_GPUS, TOPOLOGY_SERVER_URL, WINDTUNNEL_COMPAT,
# MOCK_NVIDIA_VISIBLE_DEVICES, /proc/1/cmdline, the service account's namespace.

LC_ALL=C
export LC_ALL
newline='
'
patience_seconds=10

# Whether to be as fake-gpu-operator 0.2 is. Our device plugin says where the server is, and says if
# this is wanted; who says nothing is no container of ours.
original=''
if [ -z "${TOPOLOGY_SERVER_URL:-}" ] || [ "${WINDTUNNEL_COMPAT:-}" = 0.2 ]; then
    original=yes
fi

usage_of_original() {
    printf 'Usage of nvidia-smi:\n  -debug\n    \tenable debug mode\n' >&2
    exit "$1"
}

help() {
    cat <<'TEXT'
NVIDIA System Management Interface, as a fake GPU answers it

nvidia-smi [OPTION1 [ARG1]] [OPTION2 [ARG2]] ...

    -h,   --help                Print this and exit.
          --version             Print versions and exit.

  LIST OPTIONS:
    -L,   --list-gpus           List the GPUs and their MIG devices.

  SUMMARY OPTIONS:
    <no arguments>              Show a table of the GPUs.

  QUERY OPTIONS:
    -q,   --query               Show all that is known of the GPUs.
    -x,   --xml-format          Show it as XML.
    -d,   --display=            Show some sections only: MEMORY, UTILIZATION, ECC, TEMPERATURE,
                                POWER, CLOCK, COMPUTE, PIDS, PERFORMANCE, SUPPORTED_CLOCKS,
                                PAGE_RETIREMENT, ACCOUNTING, ENCODER_STATS, FBC_STATS,
                                ROW_REMAPPER. Several with commas; not with -x.

  SELECTIVE QUERY OPTIONS:
    --query-gpu=                Fields of GPUs; --help-query-gpu lists them.
    --query-compute-apps=       Fields of processes; --help-query-compute-apps lists them.
    --format=                   csv[,noheader][,nounits]; must be there with either.

  WITH ANY OF THESE:
    -i,   --id=                 Only these GPUs: index, UUID or bus id, several with commas.
    -f,   --filename=           Write to a file.
    -l,   --loop=               Again every so many seconds (5), until Ctrl+C.
    -lms, --loop-ms=            Again every so many milliseconds, until Ctrl+C.

  MORE:
    topo -m                     How the GPUs are connected.
    mig -lgi | -lci             GPU instances and compute instances of GPUs that are cut.
    dmon [-s pucvmet] [-d SECONDS] [-c COUNT]
                                A line for each GPU, again and again.
    pmon [-s um] [-d SECONDS] [-c COUNT]
                                A line for each process, again and again.

Nothing can be changed: options that set something are refused with exit code 3.
TEXT
    exit 0
}

# In one sentence, on stdout as NVIDIA's program; code 2: no such word, 3: not for fake GPUs.
refuse() {
    printf '%s\n' "$2"
    exit "$1"
}

misused() {
    [ -n "$original" ] || refuse 2 "ERROR: $1 Please run 'nvidia-smi -h' for help."
    printf '%s\n' "$2" >&2
    usage_of_original 2
}

must_be_number() {
    case $1 in
        '' | *[!0-9]* | 0) refuse 2 "ERROR: Option $2 takes a whole number above 0, not '$1'. Please run 'nvidia-smi -h' for help." ;;
    esac
}

mode=table only='' fields='' form='' file='' sections='' xml='' pause='' count=0 columns=''
while [ $# -gt 0 ]; do
    word=$1 value='' has_value=''
    shift
    case $word in
        -*=*) value=${word#*=} word=${word%%=*} has_value=yes ;;
    esac
    case $mode,$word in
        *,-i | *,--id | *,-f | *,--filename | *,-d | *,--display | *,--format | *,--query-gpu | \
            *,--query-compute-apps | *,-lms | *,--loop-ms | [dp]mon,-[cs] | [dp]mon,--count | \
            [dp]mon,--select | [dp]mon,--delay)
            if [ -z "$has_value" ]; then
                bare=${word#-}
                [ $# -gt 0 ] || misused "Option $word needs a value." \
                    "flag needs an argument: -${bare#-}"
                value=$1
                shift
            fi
            ;;
    esac
    case $mode,$word in
        *,-i | *,--id) only=$value ;;
        *,-f | *,--filename) file=$value ;;
        *,-h | *,-help | *,--help)
            [ -z "$original" ] || usage_of_original 0
            help
            ;;
        *,-debug | *,--debug)
            case $value in
                '' | 1 | 0 | t | f | T | F | true | false | TRUE | FALSE | True | False) ;;
                *) misused "Option $word is a yes or a no." \
                    "invalid boolean value \"$value\" for -debug: parse error" ;;
            esac
            ;;
        topo,-m | topo,--matrix) fields=matrix ;;
        topo,*) refuse 3 "nvidia-smi topo: of a fake GPU there is -m only, not '$word'." ;;
        mig,-lgi | mig,--list-gpu-instances) fields=gpu ;;
        mig,-lci | mig,--list-compute-instances) fields=compute ;;
        mig,*) refuse 3 "nvidia-smi mig: of a fake GPU there are -lgi and -lci only, not '$word'; how it is cut stands in the node's pool." ;;
        [dp]mon,-c | [dp]mon,--count)
            must_be_number "$value" "$word"
            count=$value
            ;;
        [dp]mon,-d | [dp]mon,--delay)
            must_be_number "$value" "$word"
            pause=$value
            ;;
        dmon,-s | dmon,--select)
            case $value in
                '' | *[!pucvmet]*) refuse 2 "ERROR: Option $word takes letters of pucvmet, not '$value'. Please run 'nvidia-smi -h' for help." ;;
            esac
            columns=$value
            ;;
        pmon,-s | pmon,--select)
            case $value in
                '' | *[!um]*) refuse 2 "ERROR: Option $word takes letters of um, not '$value'. Please run 'nvidia-smi -h' for help." ;;
            esac
            columns=$value
            ;;
        [dp]mon,*) refuse 3 "nvidia-smi $mode: of a fake GPU there are -i, -s, -d, -c and -f only, not '$word'." ;;
        *,-L | *,--list-gpus) mode=list ;;
        *,-q | *,--query) mode=report ;;
        *,-x | *,--xml-format) xml=yes ;;
        *,-d | *,--display) sections=$value ;;
        *,--version) mode=version ;;
        *,--query-gpu) mode=gpus fields=$value ;;
        *,--query-compute-apps) mode=apps fields=$value ;;
        *,--help-query-gpu) mode=gpus fields='' form=help ;;
        *,--help-query-compute-apps) mode=apps fields='' form=help ;;
        *,--format) form=$value ;;
        *,-l | *,--loop)
            pause=5
            case ${1:-} in
                [0-9]*) [ -n "$has_value" ] || { value=$1 has_value=yes && shift; } ;;
            esac
            if [ -n "$has_value" ]; then
                must_be_number "$value" "$word"
                pause=$value
            fi
            ;;
        *,-lms | *,--loop-ms)
            must_be_number "$value" "$word"
            pause=$((value / 1000)).$(printf %03d $((value % 1000)))
            ;;
        table,topo | table,mig | table,dmon | table,pmon)
            [ -z "$original" ] || break
            mode=$word
            ;;
        *,-- | *,- | *,[!-]*)
            [ -z "$original" ] || break
            case $word in
                nvlink | clocks | vgpu | drain | compute-policy | boost-slider | encodersessions | \
                    fbcsessions | conf-compute | power-smoothing | daemon | replay | c2c | gpm)
                    refuse 3 "nvidia-smi $word is not there for fake GPUs; topo, mig, dmon and pmon are."
                    ;;
            esac
            misused "Option $word is not recognized."
            ;;
        *)
            case $original$word in
                -pm | --persistence-mode | -pl | --power-limit | -r | --gpu-reset | -c | --compute-mode | \
                    -e | --ecc-config | -p | --reset-ecc-errors | -mig | --multi-instance-gpu | \
                    -ac | --applications-clocks | -rac | --reset-applications-clocks | \
                    -lgc | --lock-gpu-clocks | -rgc | --reset-gpu-clocks | -lmc | --lock-memory-clocks | \
                    -rmc | --reset-memory-clocks | -am | --accounting-mode | -u | --unit | --dtd | \
                    -B | --list-excluded-gpus | --query-* | --help-query-*)
                    refuse 3 "Option $word is not there for fake GPUs, of which nothing can be changed; 'nvidia-smi -h' lists what is."
                    ;;
            esac
            bare=${word#-}
            misused "Option $word is not recognized." "flag provided but not defined: -${bare#-}"
            ;;
    esac
done
case $mode,$form in
    gpus,help | apps,help) ;;
    gpus, | apps,) refuse 2 '--query-... needs --format=csv[,noheader][,nounits]' ;;
    gpus,* | apps,*)
        case ",$form," in
            *,csv,*) ;;
            *) refuse 2 "ERROR: --format=$form has no csv, the only format. Please run 'nvidia-smi -h' for help." ;;
        esac
        ;;
esac
case $mode,$fields,$form$xml$sections in
    topo,,* | mig,,*) refuse 2 "ERROR: nvidia-smi $mode needs an option. Please run 'nvidia-smi -h' for help." ;;
    report,* | gpus,* | apps,* | *,*,) ;;
    *) refuse 2 "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help." ;;
esac
case $mode,$pause in
    [dp]mon,) pause=1 ;;
esac
if [ -n "$file" ]; then
    : >"$file" || exit 1
    exec >"$file"
fi

# Runs a program and kills it when it takes too long. The timeout of busybox leaves a child behind,
# and in a container often nobody waits for what has lost its parent.
patiently() {
    "$@" 2>&1 &
    job=$!
    (
        trap 'kill $!; wait $!; exit' TERM
        sleep "$patience_seconds" &
        wait $! && kill "$job"
    ) >/dev/null &
    wait "$job"
    kill $!
    wait $!
} 2>/dev/null

# Sets `status` ("404 Not Found"; empty where nobody answered) and `answer` (the body, or why not).
ask() {
    place=${1#http://}
    path=/${place#*/}
    place=${place%%/*}
    host=${place%:*} port=${place##*:}
    [ "$port" != "$place" ] || port=80
    host=${host#\[} host=${host%\]}
    if command -v bash >/dev/null; then
        said=$(patiently bash -c '
            exec 3<>"/dev/tcp/$1/$2" && printf "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n" "$3" "$4" >&3 &&
                exec cat <&3' nvidia-smi "$host" "$port" "$path" "$place")
    elif command -v curl >/dev/null; then
        said=$(patiently curl -sS -i -0 "$1")
    elif command -v wget >/dev/null; then
        # The head goes to stderr, indented; busybox says of a refusal no more than its status.
        said=$(patiently wget -q -S -O - "$1" |
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
    [ -n "$status$answer" ] || answer="no answer within $patience_seconds s"
}

server=${TOPOLOGY_SERVER_URL:-http://topology-server.gpu-operator}
url=${server%/}/topology/nodes/${NODE_NAME:-}

SMI_NAMESPACE=''
if [ -r /var/run/secrets/kubernetes.io/serviceaccount/namespace ]; then
    read -r SMI_NAMESPACE </var/run/secrets/kubernetes.io/serviceaccount/namespace || :
fi
# A variable cannot hold the NUL between two words of a command: \1 stands for it. The original prints
# it, so there it does until the last line.
SMI_PID=1
if [ -n "$original" ]; then
    SMI_PID=$$
fi
if SMI_COMMAND=$(head -c 50 /proc/1/cmdline 2>/dev/null | tr '\000' '\001') && [ -r /proc/1/cmdline ]; then
    SMI_COMPLAINT=''
else
    SMI_COMPLAINT='reading /proc/1/cmdline failed'
fi
SMI_CPUS=''
if [ "$mode" = topo ] && [ -r /sys/devices/system/cpu/online ]; then
    read -r SMI_CPUS </sys/devices/system/cpu/online || :
fi
SMI_ORIGINAL=$original SMI_MODE=$mode SMI_FIELDS=$fields SMI_FORM=$form SMI_ONLY=$only SMI_URL=$url
SMI_SECTIONS=$sections SMI_XML=$xml SMI_COLUMNS=$columns SMI_SEED=$$
export SMI_NAMESPACE SMI_COMMAND SMI_COMPLAINT SMI_MODE SMI_FIELDS SMI_FORM SMI_ONLY SMI_URL SMI_PID
export SMI_ORIGINAL SMI_SECTIONS SMI_XML SMI_COLUMNS SMI_SEED SMI_CPUS SMI_DATE SMI_TURN
export HOSTNAME POD_UUID RUNAI_NUM_OF_GPUS MOCK_NVIDIA_VISIBLE_DEVICES

program='
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
# idle SM MHz|most SM MHz|memory MHz|PCIe generation|MIG instances|VBIOS|serial|buses|NVLinks|device

function know(line,    part) {
    split(line, part, "|")
    FACTS[part[1]] = line
}

function know_products() {
    know("NVIDIA A100-SXM4-40GB|Ampere|8.0|72|400|100|400|33|87|92|210|1410|1215|4|7|92.00.45.00.03|13248210838|07 0F 47 4E 87 90 B7 BD|12|20B010DE")
    know("NVIDIA H100 80GB HBM3|Hopper|9.0|95|700|200|700|34|87|92|345|1980|1593|5|7|96.00.74.00.09|15628210839|1A 1B 4A 4B 8A 8B CA CB|18|233010DE")
    know("NVIDIA B200|Blackwell|10.0|130|1000|400|1200|35|90|95|345|2100|2500|6|7|96.00.A0.00.01|15628492037|1A 1B 4A 4B 8A 8B CA CB|18|234010DE")
    know("NVIDIA GB200 NVL|Blackwell|10.0|145|1000|400|1200|36|90|95|345|2100|2500|6|7|96.00.9E.00.01|15628491037|0A 0B 4A 4B 8A 8B CA CB|18|234110DE")
    know("NVIDIA GB300 NVL|Blackwell|10.0|175|1400|500|1600|38|90|95|345|2200|2625|6|7|97.00.41.00.01|15730411037|0A 0B 4A 4B 8A 8B CA CB|18|294110DE")
    know("NVIDIA L40S|Ada Lovelace|8.9|45|350|100|350|32|93|96|210|2520|10001|4|0|95.02.5C.00.03|15628300945|17 31 B1 CA 18 32 B2 CB|0|26B510DE")
    know("NVIDIA T4|Turing|7.5|12|70|60|70|30|93|96|300|1590|5001|3|0|90.04.84.00.06|04218190854|3B 86 AF D8|0|1EB810DE")
    # What the default table says of every GPU.
    know("|N/A|N/A|11|70|70|70|33|90|95|300|1590|5001|3|0|N/A|00000000000||0|N/A")
}

function take_facts() {
    split(product in FACTS ? FACTS[product] : FACTS[""], FACT, "|")
    buses = split(FACT[18], BUS, " ")
}

# Rows: one for each GPU that is asked for, of those that this container sees.

function randomly(least, most,    other) {
    if (least > most) {
        other = least
        least = most
        most = other
    }
    return least == most ? least : least + int(rand() * (most - least))
}

# The second GPU of the node is the first of a container that has no other.
function add_row(place, used, busy, uuid, fault) {
    rows++
    PLACE[rows] = place
    INDEX[rows] = original ? place : mine - 1
    USED[rows] = int(used * portion)
    TOTAL[rows] = int(memory * portion)
    BUSY[rows] = busy
    UUID[rows] = uuid
    FAULT[rows] = fault
}

# By the index that is shown, UUID, or bus id with or without its domain.
function is_asked_for(i,    part, n, bus, shown) {
    if (ENVIRON["SMI_ONLY"] == "") return 1
    bus = bus_of(i)
    shown = original ? i : mine - 1
    for (n = split(ENVIRON["SMI_ONLY"], part, ","); n > 0; n--) {
        if (part[n] == shown || part[n] == V[SUBSEP "Gpus" SUBSEP i SUBSEP "ID"]) return 1
        part[n] = toupper(part[n])
        if (part[n] == bus || part[n] == substr(bus, 5) || part[n] == substr(bus, 10)) return 1
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
    if (by_ids) return id_is_given(V[slice(i, s) SUBSEP "ID"])
    return V[slice(i, s) SUBSEP "Status" SUBSEP "AllocatedBy" SUBSEP "Pod"] != "" && \
        is_held(slice(i, s) SUBSEP "Status")
}

function has_slice(i,    s) {
    for (s = 0; s < slices_of(i); s++) if (slice_is_mine(i, s)) return 1
    return 0
}

function is_mine(i,    gpu) {
    gpu = SUBSEP "Gpus" SUBSEP i
    return (by_ids ? id_is_given(V[gpu, "ID"]) : is_held(gpu SUBSEP "Status")) || has_slice(i)
}

function is_held(gpu,    owner, usage, n) {
    owner = gpu SUBSEP "AllocatedBy"
    usage = gpu SUBSEP "PodGpuUsageStatus"
    for (n = 0; n < N[usage]; n++)
        if (K[usage, n] == ENVIRON["POD_UUID"] && ENVIRON["POD_UUID"] != "") return 1
    if (V[owner, "Pod"] != ENVIRON["HOSTNAME"]) return 0
    return original || ENVIRON["SMI_NAMESPACE"] == "" || V[owner, "Pod"] == "" || \
        V[owner, "Namespace"] == ENVIRON["SMI_NAMESPACE"]
}

function id_is_given(id) {
    return id != "" && index("," ENVIRON["MOCK_NVIDIA_VISIBLE_DEVICES"] ",", "," id ",")
}

# Whether the kubelet gave devices that are in the topology. Of others, such as those that are only
# counted, the topology knows no more than the pod that has them.
function ids_are_known(    i, s) {
    if (original || ENVIRON["MOCK_NVIDIA_VISIBLE_DEVICES"] == "") return 0
    for (i = 0; i < N[SUBSEP "Gpus"]; i++) {
        if (id_is_given(V[SUBSEP "Gpus" SUBSEP i SUBSEP "ID"])) return 1
        for (s = 0; s < slices_of(i); s++) if (id_is_given(V[slice(i, s) SUBSEP "ID"])) return 1
    }
    return 0
}

function take_gpus(    gpus, i) {
    gpus = N[SUBSEP "Gpus"]
    by_ids = ids_are_known()
    for (i = 0; i < gpus; i++) if (is_mine(i)) {
        mine++
        if (is_asked_for(i)) take_gpu(i)
    }
    if (original && !mine && (gpus || mode == "table") && is_asked_for(0))
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
    print date
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
        row = " " right(INDEX[r], 3) "   " left("N/A", 5) left("N/A", 10) left(pid, 6) \
            right("G", 4) "   " left(process, 29) " " right(USED[r] "MiB", 11)
        print "| " row times(" ", 76 - length(row) + gsub(/\001/, "\001", row)) " |"
    }
    print edge
}

function command_of_first(    s) {
    s = ENVIRON["SMI_COMMAND"]
    gsub(/^\001+|\001+$/, "", s)
    if (!original) gsub(/\001/, " ", s)
    return s
}

# What one GPU is like: facts of its product, moved by how busy it is.

function bus_of(i) {
    return sprintf("00000000:%s:00.0", i < buses ? BUS[i + 1] : sprintf("%02X", (i + 1) * 8 % 256))
}

function watts(r) { return FACT[4] + (FACT[5] - FACT[4]) * BUSY[r] / 100 }

function degrees(r) { return int(FACT[8] + (FACT[9] - FACT[8]) * 0.6 * BUSY[r] / 100) }

function sm_clock(r) { return BUSY[r] > 0 ? FACT[12] : FACT[11] }

function serial(r) { return FACT[17] sprintf("%02d", PLACE[r]) }

function mig_mode(r) {
    if (is_cut(PLACE[r])) return "Enabled"
    return FACT[15] > 0 ? "Disabled" : "[N/A]"
}

function reasons(r) { return BUSY[r] > 0 ? "0x0000000000000000" : "0x0000000000000001" }

# Lists.

function print_list(    r, n, s) {
    for (r = 1; r <= rows; r++) {
        print "GPU " INDEX[r] ": " product " (UUID: " UUID[r] ")"
        n = order_slices(PLACE[r])
        for (s = 0; s < n; s++)
            printf "  MIG %-12s Device %2d: (UUID: %s)\n", V[ORDER[s], "Profile"], s, V[ORDER[s], "ID"]
    }
    if (!rows) print "No devices found."
}

# Slices that are shown of a GPU, in the order of their instances: who has a whole GPU sees all.
function order_slices(i,    all, s, n, instance) {
    all = !has_slice(i)
    n = 0
    for (instance = 0; instance < 32; instance++)
        for (s = 0; s < slices_of(i); s++)
            if (V[slice(i, s) SUBSEP "InstanceID"] == instance && (all || slice_is_mine(i, s)))
                ORDER[n++] = slice(i, s)
    return n
}

# The matrix of topo -m: GPUs with NVLink are connected all to all, others over PCIe; the first half
# of a board belongs to one processor, the second to the other.
function print_matrix(    r, s, line) {
    for (r = 1; r <= rows; r++) line = line "\tGPU" INDEX[r]
    print line "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID"
    for (r = 1; r <= rows; r++) {
        line = "GPU" INDEX[r]
        for (s = 1; s <= rows; s++) line = line "\t" link_of(r, s)
        print line "\t" (ENVIRON["SMI_CPUS"] == "" ? "N/A" : ENVIRON["SMI_CPUS"]) "\t" side(r) "\t\tN/A"
    }
    print "\nLegend:\n\n  X    = Self"
    print "  SYS  = Over PCIe and the connection of two NUMA nodes"
    print "  NODE = Over PCIe and the connection of host bridges of one NUMA node"
    print "  NV#  = Over # NVLinks"
}

function side(r) { return PLACE[r] >= (buses > 4 ? buses / 2 : 2) ? 1 : 0 }

function link_of(r, s) {
    if (r == s) return " X "
    if (FACT[19] > 0) return "NV" FACT[19]
    return side(r) == side(s) ? "NODE" : "SYS"
}

# GPU instances, or the one compute instance that each of them has.
function print_instances(what,    r, n, s, edge, found, row) {
    edge = "+" times("-", what == "gpu" ? 55 : 68) "+"
    for (r = 1; r <= rows; r++) {
        n = order_slices(PLACE[r])
        order_by_profile(n)
        for (s = 0; s < n; s++) {
            if (!found++) instances_head(what, edge)
            row = V[ORDER[s], "Profile"]
            if (what == "gpu") printf "| %3d  MIG %-14s%4s%9d%11d:%-5d |\n%s\n", INDEX[r], row, \
                V[ORDER[s], "ProfileID"], V[ORDER[s], "InstanceID"], V[ORDER[s], "Start"], V[ORDER[s], "Size"], edge
            else printf "| %3d%7d       MIG %-14s%4d%10d%11d:%-5d |\n%s\n", INDEX[r], V[ORDER[s], "InstanceID"], \
                row, row + 0 == 7 ? 4 : row - 1, 0, 0, row + 0, edge
        }
        cut += is_cut(PLACE[r])
    }
    if (found) return 0
    if (!cut) print "No MIG-enabled devices found."
    else print "No " (what == "gpu" ? "GPU" : "compute") " instances found: Not Found"
    return 6
}

function order_by_profile(n,    s, t, one) {
    for (s = 1; s < n; s++) {
        one = ORDER[s]
        for (t = s; t > 0 && V[ORDER[t - 1], "Profile"] > V[one, "Profile"]; t--) ORDER[t] = ORDER[t - 1]
        ORDER[t] = one
    }
}

function instances_head(what, edge) {
    print edge
    if (what == "gpu") {
        print "| GPU instances:                                        |"
        print "| GPU   Name             Profile  Instance   Placement  |"
        print "|                          ID       ID       Start:Size |"
        print "|=======================================================|"
        return
    }
    print "| Compute instances:                                                 |"
    print "| GPU     GPU       Name             Profile   Instance   Placement  |"
    print "|       Instance                       ID        ID       Start:Size |"
    print "|         ID                                                         |"
    print "|====================================================================|"
}

# Monitors: columns by their letters, a header on the first turn only.

function learn_columns(letter, heads, units) {
    HEADS[letter] = heads
    UNITS[letter] = units
}

function columns_of(texts, chosen,    i, n, c, part, line) {
    for (i = 1; i <= length(order); i++) if (index(chosen, substr(order, i, 1))) {
        n = split(texts[substr(order, i, 1)], part, " ")
        for (c = 1; c <= n; c++) line = line sprintf(" %6s", part[c])
    }
    return line
}

function print_devices(    chosen, r) {
    order = "pucvmet"
    learn_columns("p", "pwr gtemp mtemp", "W C C")
    learn_columns("u", "sm mem enc dec jpg ofa", "% % % % % %")
    learn_columns("c", "mclk pclk", "MHz MHz")
    learn_columns("v", "pviol tviol", "% bool")
    learn_columns("m", "fb bar1 ccpm", "MB MB MB")
    learn_columns("e", "sbecc dbecc pci", "errs errs errs")
    learn_columns("t", "rxpci txpci", "MB/s MB/s")
    chosen = ENVIRON["SMI_COLUMNS"] == "" ? "puc" : ENVIRON["SMI_COLUMNS"]
    if (ENVIRON["SMI_TURN"] == 0) print "# gpu" columns_of(HEADS, chosen) " \n# Idx" columns_of(UNITS, chosen) " "
    for (r = 1; r <= rows; r++) {
        VALUES["p"] = int(watts(r)) " " degrees(r) " -"
        VALUES["u"] = BUSY[r] " " int(BUSY[r] / 2) " 0 0 0 0"
        VALUES["c"] = FACT[13] " " sm_clock(r)
        VALUES["v"] = "0 0"
        VALUES["m"] = USED[r] " 0 0"
        VALUES["e"] = "0 0 0"
        VALUES["t"] = "0 0"
        print sprintf("%5d", INDEX[r]) columns_of(VALUES, chosen) " "
    }
}

function print_processes(    chosen, r, runs) {
    order = "um"
    learn_columns("u", "mem enc dec jpg ofa", "% % % % %")
    learn_columns("m", "fb ccpm", "MB MB")
    chosen = ENVIRON["SMI_COLUMNS"] == "" ? "u" : ENVIRON["SMI_COLUMNS"]
    if (ENVIRON["SMI_TURN"] == 0) {
        print "# gpu         pid  type" (chosen ~ /u/ ? "    sm" : "") columns_of(HEADS, chosen) "    command "
        print "# Idx           #   C/G" (chosen ~ /u/ ? "     %" : "") columns_of(UNITS, chosen) "    name "
    }
    for (r = 1; r <= rows; r++) {
        runs = USED[r] > 0
        VALUES["u"] = runs ? BUSY[r] " " int(BUSY[r] / 2) " - - - -" : "- - - - - -"
        VALUES["m"] = runs ? USED[r] " 0" : "- -"
        printf "%5d %10s %5s%s    %-15s\n", INDEX[r], runs ? pid : "-", runs ? "C" : "-", \
            columns_of(VALUES, chosen), runs ? substr(process_name(), 1, 15) : "-"
    }
}

# Queries: fields as "name" or "name=other name", with their unit.

function learn(unit, fields,    n, i, part, name) {
    n = split(fields, part, " ")
    for (i = 1; i <= n; i++) {
        split(part[i], name, "=")
        FIELD[++learned] = name[1]
        UNIT[name[1]] = unit
        CANON[name[1]] = name[1]
        if (part[i] ~ /=/) {
            OTHER[name[1]] = name[2]
            CANON[name[2]] = name[1]
        }
    }
}

function learn_fields(    kind, n, place, i, k) {
    if (mode == "apps") {
        learn("", "timestamp gpu_name gpu_bus_id gpu_serial gpu_uuid pid process_name=name")
        learn("MiB", "used_gpu_memory=used_memory")
        return
    }
    learn("", "timestamp driver_version count name=gpu_name serial=gpu_serial uuid=gpu_uuid")
    learn("", "pci.bus_id=gpu_bus_id pci.domain pci.bus pci.device pci.device_id pci.sub_device_id")
    learn("", "pcie.link.gen.current pcie.link.gen.gpucurrent pcie.link.gen.max pcie.link.gen.gpumax")
    learn("", "pcie.link.gen.hostmax pcie.link.width.current pcie.link.width.max index minor_number")
    learn("", "display_mode display_active persistence_mode addressing_mode accounting.mode")
    learn("", "accounting.buffer_size driver_model.current driver_model.pending vbios_version")
    learn("", "inforom.img=inforom.image inforom.oem inforom.ecc inforom.pwr=inforom.power")
    learn("", "gom.current=gpu_operation_mode.current gom.pending=gpu_operation_mode.pending")
    learn("%", "fan.speed")
    learn("", "pstate")
    n = split("supported active gpu_idle applications_clocks_setting sw_power_cap hw_slowdown " \
        "hw_thermal_slowdown hw_power_brake_slowdown sw_thermal_slowdown sync_boost", kind, " ")
    for (i = 1; i <= n; i++) learn("", "clocks_event_reasons." kind[i] "=clocks_throttle_reasons." kind[i])
    learn("MiB", "memory.total memory.reserved memory.used memory.free")
    learn("", "compute_mode compute_cap")
    learn("%", "utilization.gpu utilization.memory utilization.encoder utilization.decoder")
    learn("%", "utilization.jpeg utilization.ofa")
    learn("", "encoder.stats.sessionCount encoder.stats.averageFps encoder.stats.averageLatency")
    learn("", "ecc.mode.current ecc.mode.pending")
    n = split("device_memory dram register_file l1_cache l2_cache texture_memory cbu sram total", place, " ")
    split("corrected.volatile corrected.aggregate uncorrected.volatile uncorrected.aggregate", kind, " ")
    for (k = 1; k <= 4; k++)
        for (i = 1; i <= n; i++) learn("", "ecc.errors." kind[k] "." place[i])
    learn("", "retired_pages.single_bit_ecc.count=retired_pages.sbe")
    learn("", "retired_pages.double_bit.count=retired_pages.dbe retired_pages.pending")
    learn("", "temperature.gpu temperature.gpu.tlimit temperature.memory power.management")
    learn("W", "power.draw power.draw.average power.draw.instant power.limit enforced.power.limit")
    learn("W", "power.default_limit power.min_limit power.max_limit")
    learn("MHz", "clocks.current.graphics=clocks.gr clocks.current.sm=clocks.sm")
    learn("MHz", "clocks.current.memory=clocks.mem clocks.current.video=clocks.video")
    learn("MHz", "clocks.applications.graphics=clocks.applications.gr")
    learn("MHz", "clocks.applications.memory=clocks.applications.mem")
    learn("MHz", "clocks.default_applications.graphics=clocks.default_applications.gr")
    learn("MHz", "clocks.default_applications.memory=clocks.default_applications.mem")
    learn("MHz", "clocks.max.graphics=clocks.max.gr clocks.max.sm clocks.max.memory=clocks.max.mem")
    learn("", "mig.mode.current mig.mode.pending gsp.mode.current gsp.mode.default c2c.mode")
    learn("MiB", "protected_memory.total protected_memory.used protected_memory.free")
    learn("", "fabric.state fabric.status")
}

function print_fields(    i) {
    print "List of valid properties to query for the switch \"--query-" (mode == "apps" ? "compute-apps" : "gpu") "=\":"
    for (i = 1; i <= learned; i++)
        print "\n\"" FIELD[i] "\"" (FIELD[i] in OTHER ? " or \"" OTHER[FIELD[i]] "\"" : "") \
            (UNIT[FIELD[i]] == "" ? "" : "\nIn " UNIT[FIELD[i]] ".")
    print ""
}

# A field that a fake GPU has nothing to say of is not available.
function value_of(name, r) {
    if (name == "timestamp") return stamp
    if (name ~ /^(gpu_)?name$/) return product
    if (name ~ /^(gpu_)?uuid$/) return UUID[r]
    if (name ~ /^(pci\.|gpu_)bus_id$/) return bus_of(PLACE[r])
    if (name ~ /^(gpu_)?serial$/) return serial(r)
    if (name == "pid") return pid
    if (name == "process_name") return process_name()
    if (name == "used_gpu_memory") return USED[r]
    if (name == "index") return INDEX[r]
    if (name == "minor_number") return PLACE[r]
    if (name == "count") return original ? rows : mine
    if (name == "driver_version") return driver
    if (name == "pci.domain") return "0x0000"
    if (name == "pci.bus") return "0x" substr(bus_of(PLACE[r]), 10, 2)
    if (name == "pci.device") return "0x00"
    if (name == "pci.device_id") return FACT[20] == "N/A" ? "[N/A]" : "0x" FACT[20]
    if (name == "vbios_version") return FACT[16]
    if (name == "compute_cap") return FACT[3]
    if (name == "compute_mode") return "Default"
    if (name ~ /^(persistence_mode|display_mode|power\.management)$/) return "Enabled"
    if (name ~ /^(display_active|accounting\.mode)$/) return "Disabled"
    if (name ~ /^mig\.mode\./) return mig_mode(r)
    if (name ~ /^ecc\.mode\./) return "Enabled"
    if (name ~ /^ecc\.errors\..*\.total$/) return 0
    if (name ~ /^pcie\.link\.gen\./) return FACT[14]
    if (name ~ /^pcie\.link\.width\./) return 16
    if (FAULT[r] != "" && (UNIT[name] != "" || name ~ /^(pstate|temperature|clocks_event_reasons)/)) return "[GPU is lost]"
    if (name == "pstate") return "P0"
    if (name == "clocks_event_reasons.supported") return "0x00000000000001FF"
    if (name == "clocks_event_reasons.active") return reasons(r)
    if (name == "clocks_event_reasons.gpu_idle" && BUSY[r] == 0) return "Active"
    if (name ~ /^clocks_event_reasons\./) return "Not Active"
    if (name == "memory.total") return TOTAL[r]
    if (name == "memory.used") return USED[r]
    if (name == "memory.free") return TOTAL[r] - USED[r]
    if (name == "memory.reserved") return 0
    if (name == "utilization.gpu") return BUSY[r]
    if (name == "utilization.memory") return int(BUSY[r] / 2)
    if (name ~ /^(utilization|encoder\.stats)\./) return 0
    if (name == "temperature.gpu") return degrees(r)
    if (name == "temperature.memory") return "N/A"
    if (name ~ /^power\.draw/) return sprintf("%.2f", watts(r))
    if (name ~ /^(power\.limit|enforced\.power\.limit|power\.default_limit)$/) return sprintf("%.2f", FACT[5])
    if (name == "power.min_limit") return sprintf("%.2f", FACT[6])
    if (name == "power.max_limit") return sprintf("%.2f", FACT[7])
    if (name ~ /^clocks\.current\.(sm|graphics|video)$/) return sm_clock(r)
    if (name ~ /^clocks\..*\.memory$/) return FACT[13]
    if (name ~ /^clocks\./) return FACT[12]
    return "[N/A]"
}

function process_name(    s) {
    s = command_of_first()
    gsub(/\001/, " ", s)
    return s
}

function print_csv(    name, n, i, r, line, value, unit) {
    learn_fields()
    if (ENVIRON["SMI_FORM"] == "help") {
        print_fields()
        return 0
    }
    n = split(ENVIRON["SMI_FIELDS"], name, ",")
    for (i = 1; i <= n; i++) {
        gsub(/^ +| +$/, "", name[i])
        if (!(name[i] in CANON)) {
            print "Field \"" name[i] "\" is not a valid field to query.\n"
            return 2
        }
        name[i] = CANON[name[i]]
        unit = UNIT[name[i]]
        line = line (i > 1 ? ", " : "") name[i] (unit == "" ? "" : " [" unit "]")
    }
    if (no_devices()) return 6
    if (ENVIRON["SMI_FORM"] !~ /noheader/ && ENVIRON["SMI_TURN"] == 0) print line
    for (r = 1; r <= rows; r++) {
        line = ""
        for (i = 1; i <= n; i++) {
            value = value_of(name[i], r)
            unit = ENVIRON["SMI_FORM"] ~ /nounits/ || value ~ /^\[|^N\/A$/ ? "" : UNIT[name[i]]
            line = line (i > 1 ? ", " : "") value (unit == "" ? "" : " " unit)
        }
        if (mode == "gpus" || USED[r] > 0) print line
    }
    return 0
}

# The report of -q: the sections that a fake GPU has something to say in, as text or as XML. The tag
# of a line is its key, where no other is said; a line without a value begins a group.

function say(depth, key, value, tag,    d) {
    if (!xml) {
        key = substr("                ", 1, 4 * depth) key
        print (value == "" ? key : sprintf("%-42s: %s", key, value))
        return
    }
    end_groups(depth)
    if (tag == "") {
        tag = tolower(key)
        gsub(/ /, "_", tag)
    }
    if (value == "") {
        print tabs(depth) "<" tag ">"
        GROUP[depth] = tag
    } else print tabs(depth) "<" tag ">" plain(value) "</" tag ">"
}

function end_groups(depth,    d) {
    for (d = 9; d >= depth; d--) if (d in GROUP) {
        print tabs(d) "</" GROUP[d] ">"
        delete GROUP[d]
    }
}

function tabs(depth) { return substr("\t\t\t\t\t\t\t\t\t", 1, depth + 1) }

function plain(s) {
    gsub(/&/, "\\&amp;", s)
    gsub(/</, "\\&lt;", s)
    gsub(/>/, "\\&gt;", s)
    return s
}

function print_report(    r) {
    if (sections_are_wrong()) return 2
    if (no_devices()) return 6
    xml = ENVIRON["SMI_XML"] != ""
    if (xml) print "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>"
    else print "\n==============NVSMI LOG==============\n"
    say(0, "Timestamp", date)
    say(0, "Driver Version", driver)
    say(0, "CUDA Version", cuda)
    if (!xml) print ""
    say(0, "Attached GPUs", (original ? rows : mine) "")
    for (r = 1; r <= rows; r++) {
        if (xml) print "\t<gpu id=\"" bus_of(PLACE[r]) "\">"
        else print "GPU " bus_of(PLACE[r])
        if (FAULT[r] != "") {
            say(1, "GPU UUID", UUID[r], "uuid")
            say(1, "GPU Recovery Action", "Reset")
            say(1, "Fault", FAULT[r])
        } else {
            if (shows("")) report_identity(r)
            report_load(r)
        }
        end_groups(1)
        if (xml) print "\t</gpu>"
    }
    print xml ? "</nvidia_smi_log>" : ""
    return 0
}

# Sections of which nothing is known have a line that says so.
function learn_sections() {
    SECTION["MEMORY"] = SECTION["UTILIZATION"] = SECTION["ECC"] = SECTION["TEMPERATURE"] = ""
    SECTION["POWER"] = SECTION["CLOCK"] = SECTION["COMPUTE"] = SECTION["PIDS"] = SECTION["PERFORMANCE"] = ""
    SECTION["SUPPORTED_CLOCKS"] = "Supported Clocks"
    SECTION["PAGE_RETIREMENT"] = "Retired Pages"
    SECTION["ACCOUNTING"] = "Accounting Mode"
    SECTION["ENCODER_STATS"] = "Encoder Stats"
    SECTION["FBC_STATS"] = "FBC Stats"
    SECTION["ROW_REMAPPER"] = "Remapped Rows"
}

function sections_are_wrong(    part, n, i) {
    learn_sections()
    n = split(ENVIRON["SMI_SECTIONS"], part, ",")
    for (i = 1; i <= n; i++) if (!(part[i] in SECTION)) {
        print "ERROR: \"" part[i] "\" is no section of -d. Please run \047nvidia-smi -h\047 for help."
        return 1
    }
    return 0
}

function shows(section) {
    return ENVIRON["SMI_SECTIONS"] == "" || \
        section != "" && index("," ENVIRON["SMI_SECTIONS"] ",", "," section ",")
}

function report_identity(r,    mode_of_mig, n, s) {
    say(1, "Product Name", product)
    say(1, "Product Brand", "NVIDIA")
    say(1, "Product Architecture", FACT[2])
    say(1, "Display Mode", "Enabled")
    say(1, "Display Active", "Disabled")
    say(1, "Persistence Mode", "Enabled")
    say(1, "MIG Mode")
    mode_of_mig = mig_mode(r)
    gsub(/[][]/, "", mode_of_mig)
    say(2, "Current", mode_of_mig, "current_mig")
    say(2, "Pending", mode_of_mig, "pending_mig")
    n = order_slices(PLACE[r])
    if (xml && n) say(1, "MIG Devices")
    for (s = 0; s < n; s++) {
        say(xml ? 2 : 1, "MIG Device")
        say(xml ? 3 : 2, "Index", s "")
        say(xml ? 3 : 2, "GPU Instance ID", V[ORDER[s], "InstanceID"])
        say(xml ? 3 : 2, "Compute Instance ID", "0")
    }
    say(1, "Serial Number", serial(r), "serial")
    say(1, "GPU UUID", UUID[r], "uuid")
    say(1, "Minor Number", PLACE[r] "")
    say(1, "VBIOS Version", FACT[16])
    say(1, "PCI")
    say(2, "Bus", "0x" substr(bus_of(PLACE[r]), 10, 2), "pci_bus")
    say(2, "Device", "0x00", "pci_device")
    say(2, "Domain", "0x0000", "pci_domain")
    say(2, "Device Id", FACT[20] == "N/A" ? "N/A" : (xml ? "" : "0x") FACT[20], "pci_device_id")
    say(2, "Bus Id", bus_of(PLACE[r]), "pci_bus_id")
    say(2, "GPU Link Info", "", "pci_gpu_link_info")
    say(3, "PCIe Generation", "", "pcie_gen")
    say(4, "Max", FACT[14], "max_link_gen")
    say(4, "Current", FACT[14], "current_link_gen")
    say(3, "Link Width", "", "link_widths")
    say(4, "Max", "16x", "max_link_width")
    say(4, "Current", "16x", "current_link_width")
    say(1, "Fan Speed", "N/A")
}

function report_load(r,    section) {
    if (shows("PERFORMANCE")) {
        say(1, "Performance State", "P0")
        say(1, "Clocks Event Reasons")
        say(2, "Idle", BUSY[r] > 0 ? "Not Active" : "Active", "clocks_event_reason_gpu_idle")
        say(2, "SW Power Cap", "Not Active", "clocks_event_reason_sw_power_cap")
        say(2, "HW Slowdown", "Not Active", "clocks_event_reason_hw_slowdown")
        say(2, "SW Thermal Slowdown", "Not Active", "clocks_event_reason_sw_thermal_slowdown")
    }
    if (shows("MEMORY")) {
        say(1, "FB Memory Usage")
        say(2, "Total", TOTAL[r] " MiB")
        say(2, "Reserved", "0 MiB")
        say(2, "Used", USED[r] " MiB")
        say(2, "Free", TOTAL[r] - USED[r] " MiB")
    }
    if (shows("COMPUTE")) say(1, "Compute Mode", "Default")
    if (shows("UTILIZATION")) {
        say(1, "Utilization")
        say(2, "GPU", BUSY[r] " %", "gpu_util")
        say(2, "Memory", int(BUSY[r] / 2) " %", "memory_util")
        say(2, "Encoder", "0 %", "encoder_util")
        say(2, "Decoder", "0 %", "decoder_util")
    }
    if (shows("ECC")) {
        say(1, "ECC Mode")
        say(2, "Current", "Enabled", "current_ecc")
        say(2, "Pending", "Enabled", "pending_ecc")
    }
    if (shows("TEMPERATURE")) {
        say(1, "Temperature")
        say(2, "GPU Current Temp", degrees(r) " C", "gpu_temp")
        say(2, "GPU Shutdown Temp", FACT[10] " C", "gpu_temp_max_threshold")
        say(2, "GPU Slowdown Temp", FACT[9] " C", "gpu_temp_slow_threshold")
    }
    if (shows("POWER")) {
        say(1, "GPU Power Readings")
        say(2, xml ? "Power Draw" : "Average Power Draw", sprintf("%.2f W", watts(r)))
        say(2, "Current Power Limit", sprintf("%.2f W", FACT[5]))
        say(2, "Default Power Limit", sprintf("%.2f W", FACT[5]))
        say(2, "Min Power Limit", sprintf("%.2f W", FACT[6]))
        say(2, "Max Power Limit", sprintf("%.2f W", FACT[7]))
    }
    if (shows("CLOCK")) {
        report_clocks("Clocks", sm_clock(r))
        report_clocks("Max Clocks", FACT[12])
    }
    if (ENVIRON["SMI_SECTIONS"] != "")
        for (section in SECTION) if (SECTION[section] != "" && shows(section)) say(1, SECTION[section], "N/A")
    if (shows("PIDS")) report_process(r)
}

function report_clocks(title, mhz) {
    say(1, title)
    say(2, "Graphics", mhz " MHz", "graphics_clock")
    say(2, "SM", mhz " MHz", "sm_clock")
    say(2, "Memory", FACT[13] " MHz", "mem_clock")
}

function report_process(r) {
    if (USED[r] <= 0 && !xml) {
        say(1, "Processes", "None")
        return
    }
    say(1, "Processes")
    if (USED[r] <= 0) return
    if (xml) say(2, "Process Info")
    say(xml ? 3 : 2, "Process ID", pid, "pid")
    say(3, "Type", "C")
    say(3, "Name", process_name(), "process_name")
    say(3, "Used GPU Memory", USED[r] " MiB", "used_memory")
}

# Whether there is no GPU to show; says so.
function no_devices() {
    if (!rows && (!original || ENVIRON["SMI_ONLY"] != "")) {
        print "No devices were found"
        return 1
    }
    return 0
}

function print_version() {
    print "NVIDIA-SMI version  : " driver
    print "NVML version        : " (match(driver, /^[0-9]+\.[0-9]+/) ? substr(driver, 1, RLENGTH) : driver)
    print "DRIVER version      : " driver
    print "CUDA Version        : " cuda
}

function answer() {
    if (mode == "gpus" || mode == "apps") return print_csv()
    if (mode == "report") return print_report()
    if (mode == "version") print_version()
    else if (mode == "list" && !rows && !original) {
        print "No devices found."
        return 6
    } else if (no_devices()) return 6
    else if (mode == "mig") return print_instances(ENVIRON["SMI_FIELDS"])
    else if (mode == "table") {
        print_table()
        if (ENVIRON["SMI_COMPLAINT"] != "") complain(ENVIRON["SMI_COMPLAINT"])
    } else if (mode == "list") print_list()
    else if (mode == "topo") print_matrix()
    else if (mode == "dmon") print_devices()
    else print_processes()
    return 0
}

{ text = text $0 "\n" }

END {
    mode = ENVIRON["SMI_MODE"]
    original = ENVIRON["SMI_ORIGINAL"] != ""
    pid = ENVIRON["SMI_PID"]
    split(ENVIRON["SMI_DATE"], date_and_stamp, "|")
    date = date_and_stamp[1]
    stamp = date_and_stamp[2]
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
    srand(srand() + ENVIRON["SMI_SEED"])
    know_products()
    product = V[SUBSEP "GpuProduct"]
    memory = V[SUBSEP "GpuMemory"] + 0
    driver = V[SUBSEP "DriverVersion"] == "" ? "470.129.06" : V[SUBSEP "DriverVersion"]
    cuda = V[SUBSEP "CudaVersion"] == "" ? "11.4" : V[SUBSEP "CudaVersion"]
    take_facts()
    take_portion()
    take_gpus()
    code = answer()
    print "\002"
    printf "%s", complaints
    exit code
}
'

# Asks and prints once; ends the script where there is no answer.
look() {
    answer='{}'
    [ "$form" = help ] || ask "$url"
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
    SMI_DATE=$(date '+%a %b %e %H:%M:%S %Y|%Y/%m/%d %H:%M:%S.000')
    # What goes to stdout, then a line with \2, then what goes to stderr.
    printed=$(printf '%s\n' "$answer" | awk "$program")
    code=$?
    if [ -n "$original" ]; then
        printf '%s' "${printed%"$mark"*}" | tr '\001' '\000'
    else
        printf '%s' "${printed%"$mark"*}"
    fi
    notes=${printed##*"$mark"}
    notes=${notes#"$newline"}
    [ -z "$notes" ] || printf '%s\n' "$notes" >&2
}

mark=$(printf '\002')
status=200 SMI_TURN=0
while :; do
    look
    SMI_TURN=$((SMI_TURN + 1))
    if [ "$code" != 0 ] || [ -z "$pause" ] || [ "$SMI_TURN" = "$count" ]; then
        exit "$code"
    fi
    sleep "$pause" || exit
done
